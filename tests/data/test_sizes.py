"""Sources give the number of samples that a recipe names, half of them hallucinated, whatever is dropped."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from data_pipeline.build.pipeline import build
from data_pipeline.build.sizes import draw_labelled, share_out
from data_pipeline.config import DataConfig
from data_pipeline.edits.edit import Edit
from data_pipeline.edits.verify import Rejected
from data_pipeline.labels.recipe_teachers import Teachers
from data_pipeline.sources.config import SizesConfig, SourceConfig
from data_pipeline.sources.store import SampleStore
from data_pipeline.teachers.base import Judgement
from judge.configs import load_config
from judge.files import read_jsonl, write_json, write_jsonl
from judge.formats.shared import SIDED
from judge.samples import read_samples
from judge.types import Label, Sample, Task

RECIPES = Path(__file__).parents[2] / "recipes"
RECIPE = RECIPES / "lynx-8b/data.yaml"
WORDS = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("l", "n", "r", "st", "m")]


class Perturber:
    """In a chat model's place: makes no edit of every fifth answer, and counts what it was asked."""

    asked = 0

    def perturb(self, golds: Iterable[Sample]) -> Iterator[Edit | Rejected]:
        for gold in golds:
            self.asked += 1
            if self.asked % 5 == 0:
                yield Rejected("refused")
            else:
                yield Edit(f"not {gold.answer}", "negation", "is wrong", gold.answer, "not", False)


class Room(Teachers):
    perturber = Perturber()

    def get(self, name: str) -> Any:
        return self.perturber if name.startswith("gpt-4o") else super().get(name)


def text(rng: random.Random, count: int = 40) -> str:
    return " ".join(rng.choices(WORDS, k=count)).capitalize() + "."


def question(rng: random.Random) -> str:
    return f"{text(rng, 5)[:-1]}?"


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small sets in the forms of PubMedQA, COVID-QA, DROP and RAGTruth; a HaluBench holds some of each."""
    folder, rng = tmp_path_factory.mktemp("originals"), random.Random(0)
    abstracts = {}
    for number in range(2600):
        document = text(rng)
        abstracts[str(number)] = {
            "CONTEXTS": [document],
            "QUESTION": question(rng),
            "LONG_ANSWER": document[:60].rsplit(" ", 1)[0],
        }
    write_json(folder / "pubmedqa/ori_pqaa.json", abstracts)
    paragraphs = []
    for article in range(140):
        sentences = [text(rng, 12) for _ in range(60)]
        context = " ".join(sentences)
        asked = [
            {
                "id": f"{article}-{place}",
                "question": question(rng),
                "answers": [{"text": sentences[place][:-1], "answer_start": context.index(sentences[place])}],
            }
            for place in range(2, 60, 3)
        ]
        paragraphs.append({"context": context, "qas": asked})
    write_json(folder / "covid-qa/COVID-QA.json", {"data": [{"paragraphs": paragraphs}]})
    passages = {}
    for number in range(500):
        document = text(rng)
        spans = [document[start : start + 20].strip() for start in range(10, 130, 20)]
        pairs = [{"question": question(rng), "answer": {"number": "", "spans": [span]}} for span in spans]
        passages[f"nfl-{number}"] = {"passage": document, "qa_pairs": pairs}
    write_json(folder / "drop/drop_dataset_train.json", passages)
    sources, responses = [], []
    for number in range(480):
        document = text(rng)
        info = {"question": question(rng), "passages": document}
        sources.append({"source_id": str(number), "task_type": "QA", "source_info": info})
        for model in range(5):  # two of five are hallucinated, as about in RAGTruth
            response = f"Answer {number} of {model}: {document[model * 8 : model * 8 + 30]}"
            responses.append({
                "id": f"{number}-{model}", "source_id": str(number), "model": f"m{model}",
                "response": response, "labels": [{"start": 0, "end": 6}] if model < 2 else [],
                "split": "test" if number < 20 else "train",
            })  # fmt: skip
    write_jsonl(folder / "ragtruth/source_info.jsonl", sources)
    write_jsonl(folder / "ragtruth/response.jsonl", responses)
    shown = [
        *(("pubmedQA", row["CONTEXTS"][0]) for row in list(abstracts.values())[::10]),
        *(("covidQA", row["context"]) for row in paragraphs[::4]),
        *(("DROP", row["passage"]) for row in list(passages.values())[::10]),
        *(("RAGTruth", row["source_info"]["passages"]) for row in sources[20::12]),
    ]
    halubench = [
        {"passage": passage, "question": "?", "answer": str(number), "label": "PASS", "source_ds": part}
        for number, (part, passage) in enumerate(shown)
    ]
    write_jsonl(folder / "halubench/halubench.jsonl", halubench)
    return folder


def lynx(originals: Path, out: Path, *changes: str) -> DataConfig:
    """The shipped recipe, with nothing asked of a model but the perturbations."""
    fixed = (
        "check_golds=false", "audit=off", "modes.reason=0.0", "reasoning.way=rules",
        'reasoning.teachers=["rules"]',
    )  # fmt: skip
    return load_config(DataConfig, RECIPE, [f"output={out}", f"leaks.data_dir={originals}", *fixed, *changes])


def test_lynxs_set_is_2400_and_800(originals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four sets, 600 and 200 of each, half hallucinated (Lynx, section 3.3), though much is dropped."""
    monkeypatch.setenv("JUDGE_DATA_DIR", str(originals))
    config = lynx(originals, tmp_path)
    said: list[str] = []
    with Room(config) as room:
        manifest = build(config, said.append, room)
    samples = list(read_samples(tmp_path / "samples.jsonl"))
    counts = Counter((sample.source, sample.meta["split"], sample.label) for sample in samples)
    sets = ("pubmedqa", "covid_qa", "drop", "ragtruth_qa")
    assert counts == {
        (name, split, label): count
        for name in sets
        for split, count in (("train", 300), ("validation", 100))
        for label in Label
    }
    assert manifest["counts"]["split"] == {"train": 2400, "validation": 800}
    assert not any(line.startswith("sizes") for line in said)
    # Of each question one sample: 300 golds are perturbed and 300 others are not.
    assert len({sample.meta["pair"] for sample in samples}) == len(samples)
    assert {"gold_answer" in sample.meta for sample in samples if sample.label is Label.FAIL} == {True}
    splits = defaultdict(set)
    for sample in samples:
        splits[sample.group].add(sample.meta["split"])
    assert all(len(found) == 1 for found in splits.values())
    # What was dropped; every edit that was made is in the set, and no more were asked for.
    dropped = {source: row["dropped"] for source, row in manifest["leaks"]["by_source"].items()}
    assert (
        dropped["ragtruth_qa"] > 50
        and dropped["drop"] > 30
        and dropped["pubmedqa"] == dropped["covid_qa"] == 0
    )
    refused = manifest["dropped"]["refused"]["count"]
    assert refused > 390 and room.perturber.asked == 1600 + refused
    assert "| covid_qa | train | 600 | 600 | 300 | 300 |" in (tmp_path / "card.md").read_text()


def test_training_sets_and_bianbench_rebuilt_share_no_document() -> None:
    """Bi'an, B.1: of each set one side is measured on, and the other read by all other recipes.

    What is on a side: test_sources_readers.py.
    """
    sides: dict[bool, dict[str, set[str]]] = {True: defaultdict(set), False: defaultdict(set)}
    for recipe in RECIPES.glob("*/data*.yaml"):
        for source in load_config(DataConfig, recipe).sources:
            if source.kind in SIDED:
                sides[recipe.parent.name == "bianbench"][source.kind].add(source.side)
    assert sides[True] == {kind: {"benchmark"} for kind in SIDED}
    assert set(map(frozenset, sides[False].values())) == {frozenset(["source"])}
    assert {SourceConfig(kind=kind).side for kind in SIDED} == {"source"}


def test_a_spent_source_says_so(originals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_DATA_DIR", str(originals))
    config = lynx(
        originals,
        tmp_path,
        'sources=[{"kind": "drop", "limit": 60, "samples": {"train": 51, "validation": 9, "pairs": true}}, '
        '{"kind": "ragtruth", "tasks": ["qa"], "limit": 100, "perturb": false, '
        '"samples": {"train": 300, "validation": 20}}]',
        "leaks=null",
    )
    said: list[str] = []
    with Room(config) as room:
        manifest = build(config, said.append, room)
    first, second, third, fourth = manifest["sizes"]
    assert first == {
        "source": "drop", "split": "train", "asked": 51, "samples": 51, "without_reasoning": 0,
        "PASS": 26, "FAIL": 25,
    }  # fmt: skip
    pairs = Counter(sample.meta.get("pair") for sample in read_samples(tmp_path / "samples.jsonl"))
    assert Counter(pairs.values())[2] == 25 + 4  # each gold answer with its counterpart
    assert second["samples"] == 9 and second["PASS"] == 5
    assert third["samples"] < 300 and fourth["samples"] <= 20 and fourth["PASS"] <= 10 >= fourth["FAIL"]
    assert third["FAIL"] < third["PASS"]  # all that there are, and no other in their place
    labels = f"{third['PASS']} PASS, {third['FAIL']} FAIL"
    line = f"ragtruth: {third['samples']} of 300 samples for train ({labels}); the source is spent"
    assert f"sizes: {line}" in said and line in (tmp_path / "card.md").read_text()
    config = lynx(
        originals,
        tmp_path / "again",
        'sources=[{"kind": "drop", "limit": 60, "samples": {"train": 200, "validation": 100}}]',
        "leaks=null",
    )
    with Room(config) as room:  # both labels run out together, though one in five edits is refused
        row = build(config, teachers=room)["sizes"][0]
    assert row["samples"] < 60 and abs(row["PASS"] - row["FAIL"]) <= 2


def test_what_gets_no_reasoning_is_refilled_or_told(
    originals: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,400 rows are what Lynx trains on, and not 2,400 samples of which some have no reasoning."""
    asked: Counter[str] = Counter()

    def reason(teacher: str, ask: Any, samples: Iterable[Sample], gold: Any) -> Iterator[Judgement]:
        for sample in samples:
            asked[sample.id] += 1
            assert gold(sample) if sample.label is Label.FAIL else True
            fails = len(asked) % 5 == 0
            yield Judgement("gpt-4o", None if fails else sample.label, "- so", "cut off" if fails else None)

    monkeypatch.setenv("JUDGE_DATA_DIR", str(originals))
    monkeypatch.setattr("data_pipeline.labels.judgements.reason_for_label", reason)
    source = '{"kind": "drop", "samples": {"train": 100, "validation": 20}}'
    changes = ("modes.reason=1.0", "reasoning.way=known_label", 'reasoning.teachers=["gpt-4o"]', "leaks=null")
    said: list[str] = []
    for limit in ("", '"limit": 100, '):
        asked.clear()
        config = lynx(originals, tmp_path, f"sources=[{source.replace('{', '{' + limit, 1)}]", *changes)
        with Room(config) as room:
            manifest = build(config, said.append, room)
        labels = Counter(row["meta"]["label"] for _, row in read_jsonl(tmp_path / "sft/train.jsonl"))
        assert set(asked.values()) == {1}
        if not limit:
            assert labels == {"PASS": 50, "FAIL": 50} and not any(line.startswith("sizes") for line in said)
            assert {
                row["samples"] - row["asked"] + row["without_reasoning"] for row in manifest["sizes"]
            } == {0}
            ids = {sample.id for sample in read_samples(tmp_path / "samples.jsonl")}
            assert len(asked) > 140 and len(ids) == 120 and len(ids & {*asked}) == 120
    assert labels.total() < 100
    told = next(line for line in said if "got no reasoning" in line)
    assert told.removeprefix("sizes: ") in (tmp_path / "card.md").read_text()


def test_copies_of_a_document_share_a_split(store_of: Any) -> None:
    """Two sources with sizes hold the same documents under names of their own, with other punctuation."""
    stores: list[SampleStore] = [store_of(()), store_of(())]
    for entry, (store, end) in enumerate(zip(stores, ("", "!"), strict=True)):
        store.add(
            [
                Sample(f"{entry}-{n}", f"Document {n}{end}", "x", label=Label.PASS, group=f"{entry}:{n}")
                for n in range(60)
            ],
            entry,
        )
    given = share_out(stores, {0: SizesConfig(train=30, validation=30), 1: SizesConfig(train=50, test=10)}, 0)
    assert [given[f"0:{n}"] for n in range(60)] == [given[f"1:{n}"] for n in range(60)]
    assert len(given) == 120


def test_strata_keep_their_shares_and_pairs_stay_whole(store_of: Any) -> None:
    """PDC has two directions, FIB two corpora: each gives as it has. Pairs never part."""
    samples = [
        Sample(
            f"{corpus}-{number}-{label}", f"document {corpus} {number}", "x", task=Task.SUMMARIZATION,
            label=label, source=corpus, group=f"{corpus}-{number}", meta={"pair": f"{corpus}-{number}"},
        )
        for corpus, size in (("xsum", 300), ("cnn", 100))
        for number in range(size)
        for label in Label
    ]  # fmt: skip
    found = []
    for order in (samples, samples[::-1]):
        store: SampleStore = store_of(())
        store.add(order, 3)
        store.add([Sample("other", "d", "x", label=Label.PASS)])
        sizes = {3: SizesConfig(train=80, validation=20)}
        given = share_out([store], sizes, seed=0)
        assert abs(Counter(given.values())["validation"] - 80) <= 1
        store.table.executemany("UPDATE samples SET split = ?2 WHERE document = ?1", given.items())
        draw_labelled(store, sizes, 0)
        kept = [sample for sample in store.samples() if sample.id != "other"]
        found.append({sample.id for sample in kept})
        assert Counter((sample.meta["split"], sample.label) for sample in kept) == {
            (split, label): count for split, count in (("train", 40), ("validation", 10)) for label in Label
        }
        assert store.count() == 101 and set(Counter(s.meta["pair"] for s in kept).values()) == {2}
        shares = Counter(sample.source for sample in kept)
        assert abs(shares["xsum"] - 75) <= 4
    assert found[0] == found[1]
