"""What the leak gate finds, what it leaves alone, and what goes with what it drops."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.leak_recall import figures, planted, synthetic
from data_pipeline.build.pipeline import build
from data_pipeline.config import LeaksConfig
from data_pipeline.leaks.benchmarks import BENCHMARKS, available
from data_pipeline.leaks.gate import LeakGate, leaks_in
from data_pipeline.leaks.index import BenchmarkIndex, Kind
from data_pipeline.leaks.shingles import fingerprint, shingles, shingles_of, words
from data_pipeline.sources.starter import load_starter
from data_pipeline.sources.store import pair_of
from judge.errors import InputError
from judge.files import open_text, write_jsonl
from judge.formats.shared import side_of
from judge.samples import write_samples
from judge.types import Label, Sample, Task
from tests.tiny_data import labelled_recipe

BRIDGE = (
    "The Tarn Bridge was designed by Ada Holst and opened on 3 May 1931. It replaced a ferry that had "
    "crossed the river for two hundred years, and is 214 metres long. The ferry company went to "
    "court and lost."
)
LAKE = (
    "青湖位于云州以北四十公里，面积为一百二十平方公里。一九五八年修建的大坝使水位上升了六米，"
    "湖边的三个村庄因此搬迁。如今这里是候鸟越冬的重要地点。"
)
QUESTION, ANSWER = (
    "Who designed the bridge over the river Tarn, and when was it opened?",
    "Ada Holst, in 1931",
)


@pytest.fixture(scope="module")
def index() -> BenchmarkIndex:
    return BenchmarkIndex.build(
        {
            "bridges": [
                Sample("b1", BRIDGE, ANSWER, QUESTION),
                Sample("b2", BRIDGE, "1990", "In which year?"),
            ],
            "lakes": [Sample("l1", LAKE, "六米", "水位上升了多少？", language="zh")],
            "quiz": [Sample("q1", "", "H2O", "What is water?")],
        }
    )


def check(
    index: BenchmarkIndex, document: str, question: str = "Why?", answer: str = "Nobody knows."
) -> Kind | None:
    leak = index.check(Sample("s", document, answer, question))
    return None if leak is None else leak.kind


# --- One sample ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "question", "kind"),
    [
        (BRIDGE, QUESTION, Kind.DOCUMENT), (BRIDGE, QUESTION.upper(), Kind.DOCUMENT),
        (BRIDGE, "How long is it?", Kind.OTHER_QUESTION),
        (BRIDGE.upper().replace(" ", "\n ").replace(",", " -"), "How long is it?", Kind.OTHER_QUESTION),
        (LAKE.replace("，", " , ").replace("。", "."), "水位上升了多少?", Kind.DOCUMENT),
        (BRIDGE.replace("Ada", "Ida").replace("214", "412"), QUESTION, Kind.NEAR_DOCUMENT),
        (LAKE.replace("四十", "五十").replace("六米", "九米"), "?", Kind.NEAR_DOCUMENT),
        (f"An unrelated paragraph of a few words.\n\n{BRIDGE}\n\n{LAKE}", "?", Kind.NEAR_DOCUMENT),
        (BRIDGE[:110], "?", Kind.NEAR_DOCUMENT),
        ("The bridge was designed by a firm from Tarn and is very long.", "?", None),
        ("青湖是一个很大的湖。", "?", None), ("", "?", None),
    ],
)  # fmt: skip
def test_documents(index: BenchmarkIndex, document: str, question: str, kind: Kind | None) -> None:
    assert check(index, document, question) == kind


@pytest.mark.parametrize(
    ("question", "answer", "kind"),
    [
        (QUESTION, ANSWER, Kind.PAIR), (QUESTION.lower(), f"{ANSWER}.", Kind.PAIR),
        (QUESTION, "Ida Horst, in 1913", None), ("Who designed it?", ANSWER, None),
        ("In which year?", "1990", None), ("What is water?", "h2o", Kind.PAIR),
        ("What is ice?", "H2O", None),
    ],
)  # fmt: skip
def test_questions_with_answers_count_together(
    index: BenchmarkIndex, question: str, answer: str, kind: Kind | None
) -> None:
    assert check(index, "A document of its own.", question, answer) == kind


def test_near_questions_with_answers() -> None:
    summary = " ".join(f"word{number}" for number in range(40))
    index = BenchmarkIndex.build({"summaries": [Sample("s1", BRIDGE, summary)]})
    leak = index.check(
        Sample("s", "Another document.", summary.replace("word7", "else").replace("word25", "else"))
    )
    assert leak is not None and (leak.benchmark, leak.id, leak.kind) == ("summaries", "s1", Kind.NEAR_PAIR)
    assert 0.6 <= leak.similarity < 1
    assert index.check(Sample("s", "Another document.", summary[:80])) is None


def test_templates_are_no_leaks() -> None:
    """What most of a benchmark's documents share says nothing about any one of them."""
    rng = random.Random(0)

    def record(name: str) -> Sample:
        values = [f"{name}{rng.randrange(10**6)}" for _ in range(14)]
        fields = "The name of the business is {} and its address is {} street while the rating is {} stars. "
        return Sample(
            name, "".join(fields.format(*values[place : place + 3]) for place in range(0, 12, 3)), "?"
        )

    index = BenchmarkIndex.build({"records": [record(f"b{number}") for number in range(300)]})
    assert not [leak for number in range(50) if (leak := index.check(record(f"t{number}")))]


# --- Sets ---------------------------------------------------------------------------------------------------


def test_planted_leaks_are_found_and_others_left_alone() -> None:
    benchmark = [*synthetic(150, "en", "benchmark"), *synthetic(50, "zh", "benchmark")]
    clean = [*synthetic(300, "en", "clean"), *synthetic(100, "zh", "clean")]
    rows = [*clean, *planted(benchmark, clean, 40, random.Random(0))]
    found, wrong = figures(BenchmarkIndex.build({"made": benchmark}), rows)
    assert len(found) == 5 and wrong == []
    assert all(right == total == 40 for right, total in found.values())


def test_pairs_go_together_and_others_about_their_document_by_themselves(index: BenchmarkIndex) -> None:
    """The row that leaks may stand behind its counterpart, and may be about another document.

    A pair of another source may have the same name.
    """
    rows = [
        Sample("1", LAKE[::-1], "x", group="a", meta={"pair": "p"}),
        Sample("2", "A free document.", "x", group="a"),
        Sample("3", BRIDGE, "x", group="a", meta={"pair": "p"}), Sample("4", BRIDGE, "x"),
        Sample("5", "Another free document.", "x"),
        Sample("6", "A third free document.", "x", source="other", meta={"pair": "p"}),
    ]  # fmt: skip
    leaks = leaks_in(rows, index.check)
    assert {pair: (leak.benchmark, leak.id) for pair, leak in leaks.items()} == {
        pair_of(rows[0]): ("bridges", "b1"), "4": ("bridges", "b1"),
    }  # fmt: skip
    assert pair_of(rows[0]) == pair_of(rows[2]) != pair_of(rows[5])


# --- Long documents -----------------------------------------------------------------------------------------


def facts(number: int, name: str = "box", seed: int = 0) -> list[str]:
    """Sentences of an article; each has one answer of its own."""
    rng = random.Random(f"{name}:{seed}")
    known = [sample.document_text.split() for sample in synthetic(8, "en", name)]
    return [
        f"{' '.join(rng.choices(rng.choice(known), k=12))} and the {name} {place} holds coin{name}{place}."
        for place in range(number)
    ]


def asked(sentences: list[str], place: int, name: str = "box", task: Task = Task.QA) -> Sample:
    """A question about one fact of an article."""
    question = f"What does the {name} {place} hold?"
    return Sample(
        f"{name}-{place}", " ".join(sentences), f"coin{name}{place}", question, task=task, group=name
    )


@pytest.mark.parametrize("shown", ["passage", "passage among others"])
def test_of_a_long_document_only_what_supports_the_answer_leaks(shown: str) -> None:
    """HaluBench's questions about parts of COVID-QA's articles took whole articles with them."""
    sentences = facts(200)
    part = " ".join(sentences[50:62])
    passage = part if shown == "passage" else "\n\n".join([" ".join(facts(10, "other")), part])
    index = BenchmarkIndex.build({"bench": [Sample("b", passage, "coinbox55", "What does the box 55 hold?")]})
    rows = [asked(sentences, place) for place in range(200)]
    leaked = {int(name.split("-")[1]) for name in leaks_in(rows, index.check)}
    assert set(range(50, 62)) <= leaked <= set(range(38, 74))
    # A summary stands for its whole document.
    assert index.check(asked(sentences, 150, task=Task.SUMMARIZATION)) is not None


def test_an_answer_in_words_of_its_own_is_looked_for_by_its_words() -> None:
    sentences = facts(200)
    index = BenchmarkIndex.build({"bench": [Sample("b", " ".join(sentences[50:62]), "?", "Why?")]})
    for place, leaks in ((55, True), (150, False)):
        sample = replace(
            asked(sentences, place), answer=f"It is coinbox{place} that the box holds, if anything."
        )
        assert (index.check(sample) is not None) is leaks


def test_a_shared_set_loses_nothing_to_its_own_side_and_others_do(tmp_path: Path) -> None:
    """COVID-QA's articles in HaluBench: a recipe reads one side, the suite the other."""
    articles = {name: facts(120, name) for name in (f"n{number}" for number in range(12))}
    rows = [
        {"passage": " ".join(sentences), "question": "What?", "answer": "It.", "source_ds": "covidQA"}
        for sentences in articles.values()
    ]
    write_jsonl(tmp_path / "halubench/halubench.jsonl", rows)
    gate = LeakGate(LeaksConfig(data_dir=str(tmp_path)))
    sides = set()
    for name, sentences in articles.items():
        side = side_of("covid_qa", " ".join(sentences))
        sides.add(side)
        for place in (3, 60, 110):
            row = replace(asked(sentences, place, name), source="covid_qa")
            assert (gate.check(row) is None) is (side == "source")
            assert gate.check(replace(row, source="mine")) is not None
    assert sides == {"source", "benchmark"}


def test_a_set_built_to_measure_with_is_a_benchmark_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Named by its folder; also where there is no benchmark. Its own sources are no exception."""
    monkeypatch.delenv("JUDGE_DATA_DIR", raising=False)
    folder = str(tmp_path / "bianbench/data")
    with pytest.raises(InputError, match=r"samples\.jsonl: no such file; build that set first"):
        LeakGate(LeaksConfig(built=(folder,)))
    golds = list(load_starter())[:4]
    rows = [replace(gold, source="covid_qa", label=Label.PASS) for gold in golds[:2]]
    write_samples(Path(folder, "samples.jsonl"), rows)
    gate = LeakGate(LeaksConfig(built=(folder,)))
    assert [gate.check(replace(gold, source="covid_qa")) is not None for gold in golds] == [
        gold.document in {row.document for row in rows} for gold in golds
    ]
    assert gate.record(tmp_path, ())["benchmarks"][folder]["rows"] == 2


def test_a_folder_without_benchmarks_is_no_gate(tmp_path: Path) -> None:
    """``leaks.data_dir`` with a wrong folder would pass every sample, and training would trust the record."""
    (tmp_path / "halubench").mkdir()
    for place in (tmp_path, tmp_path / "halubench"):
        with pytest.raises(InputError, match=r"holds no row of a benchmark.*such as halubench"):
            LeakGate(LeaksConfig(data_dir=str(place)))


def test_rows_of_the_test_split_of_ragtruth_are_compared(tmp_path: Path) -> None:
    """They name their set as a source of its own split does, which once hid them."""
    towers = [
        Sample(str(n), f"Tower {n} is {n + 20} m high.", f"It is {n + 20} m high.", "How high is it?")
        for n in (0, 1)
    ]
    infos, answers = [], []
    for tower, split in zip(towers, ("test", "train"), strict=True):
        info = {"question": tower.question, "passages": tower.document}
        answer = {"id": tower.id, "model": "m", "labels": [], "split": split, "response": tower.answer}
        infos.append({"source_id": tower.id, "task_type": "QA", "source_info": info})
        answers.append({"source_id": tower.id, "quality": "good", **answer})
    write_jsonl(tmp_path / "ragtruth/source_info.jsonl", infos)
    write_jsonl(tmp_path / "ragtruth/response.jsonl", answers)
    gate = LeakGate(LeaksConfig(data_dir=str(tmp_path)))
    for source in ("towers", "ragtruth_qa"):
        found = [gate.check(replace(tower, source=source)) is not None for tower in towers]
        assert found == [True, False]


def test_a_build_stops_that_loses_most_of_a_source(tmp_path: Path) -> None:
    golds = [replace(gold, source="mine") for gold in load_starter()[:40]]
    rows = [
        {"passage": gold.document_text, "question": gold.question, "answer": gold.answer, "source_ds": "DROP"}
        for gold in golds[:12]
    ]
    write_jsonl(tmp_path / "originals/halubench/halubench.jsonl", rows)
    leaks = {"data_dir": str(tmp_path / "originals")}
    with pytest.raises(
        InputError, match=r"sources.0'.*12 of 40 samples of .*mine.jsonl occur .*\(30%\).*max_dropped=0\.2"
    ):
        build(labelled_recipe(tmp_path, golds, perturb=True, leaks=leaks))
    assert not (tmp_path / "data/manifest.json").exists()
    listed = tmp_path / "data/unfinished-build/leaks.jsonl"
    assert len(listed.read_text().splitlines()) == 12
    said: list[str] = []
    recipe = labelled_recipe(tmp_path, golds, perturb=True, leaks={**leaks, "max_dropped": 0.4})
    manifest = build(recipe, say=said.append)
    assert manifest["leaks"]["by_source"] == {"mine": {"checked": 40, "dropped": 12, "share": 0.3}}
    assert "leak gate: mine: 12 of 40 dropped (30.0%)" in said
    assert "| mine | 40 | 12 | 30.0% |" in (tmp_path / "data/card.md").read_text()
    assert len((tmp_path / "data/leaks.jsonl").read_text().splitlines()) == 12 and not listed.exists()


@given(st.lists(st.text("ab\u00e9\u6e56\u4e91\u5dde \u201d_", max_size=30), max_size=8))
def test_shingles_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    found, counts = shingles_of([words(text) for text in texts])
    parts = [shingles(words(text)) for text in texts]
    assert counts.tolist() == [len(part) for part in parts]
    assert found.tolist() == [run for part in parts for run in part.tolist()]


def test_the_hash_names_what_is_compared() -> None:
    def made(*samples: Sample) -> dict[str, object]:
        return BenchmarkIndex.build({"b": samples}).benchmarks["b"]

    sample = Sample("1", BRIDGE, ANSWER, QUESTION)
    assert (
        made(sample)
        == made(replace(sample, id="2", document=BRIDGE.upper()))
        != made(replace(sample, answer="?"))
    )
    assert made(sample, sample)["rows"] == 2
    assert made() == {"rows": 0, "hash": made()["hash"]}


# --- Texts --------------------------------------------------------------------------------------------------


@given(st.text(max_size=80), st.sampled_from([" ", "\n", "\t\t", "-", "...", "\u3000", "\uff0c"]))
def test_case_spacing_and_marks_are_no_difference(text: str, mark: str) -> None:
    ascii_text = text.encode("ascii", "ignore").decode()
    changed = mark.join(ascii_text.upper().split()) + mark
    assert fingerprint(changed) == fingerprint(ascii_text)
    assert fingerprint(text + mark) == fingerprint(text)


@given(st.text(max_size=200))
def test_any_text_has_distinct_sorted_shingles(text: str) -> None:
    found = shingles(words(text)).tolist()
    assert found == sorted(set(found)) and len(found) <= len(words(text))


def test_ascii_and_other_texts_are_read_alike() -> None:
    assert words("Naive T. rex's 3.5 km") == [b"naive", b"t", b"rex", b"s", b"3", b"5", b"km"]
    assert words("\uff21da's caf\u00e9 \u2014 1\u30003") == [b"ada", b"s", "caf\u00e9".encode(), b"1", b"3"]
    assert words("青湖abc") == ["青".encode(), "湖".encode(), b"abc"]
    assert words("a_b") == words("a\u2014b") == [b"a", b"b"]


# --- Real benchmarks ----------------------------------------------------------------------------------------


def test_every_benchmark_at_hand_is_read(shared_data: Path) -> None:
    found, absent = available(shared_data)
    assert set(absent) <= {"bianbench"}  # never released; there only where somebody rebuilt it
    assert list(found) == [name for name in BENCHMARKS if name not in absent]
    first = {name: next(samples) for name, samples in found.items()}
    assert all(sample.document or sample.question for sample in first.values())
    assert first["open-factual-bench"].document == "" and first["halubench"].question


def test_absent_and_invalid_benchmarks(tmp_path: Path) -> None:
    found, absent = available(tmp_path)
    assert found == {} and absent == list(BENCHMARKS)
    (tmp_path / "fib").mkdir()
    (tmp_path / "fib/xsum-fib-binary_choice-using_x.jsonl").write_text('{"input": "d", "list_choices": 3}\n')
    with pytest.raises(InputError, match=r"list_choices.*expected a list"):
        list(available(tmp_path)[0]["fib"])


def test_known_overlaps_are_found_and_nothing_else(shared_data: Path) -> None:
    """PubMedQA's and HaluEval's items that are in HaluBench; XQuAD, of which nothing is."""
    halubench = list(available(shared_data)[0]["halubench"])
    index = BenchmarkIndex.build({"halubench": halubench})
    asked = {sample.question for sample in halubench}
    with open_text(shared_data / "pubmedqa/ori_pqal.json.gz") as stream:
        pubmedqa = json.load(stream)
    leaked = {
        name for name, row in pubmedqa.items()
        if index.check(Sample(name, tuple(row["CONTEXTS"]), row["LONG_ANSWER"], row["QUESTION"]))
    }  # fmt: skip
    listed = json.loads((shared_data / "halubench/train_overlap.json").read_text())["pubmedqa_pqal_pubids"]
    assert leaked <= set(map(str, listed))
    assert {name for name in map(str, listed) if pubmedqa[name]["QUESTION"] in asked} <= leaked
    assert len(leaked) > 50
    with open_text(shared_data / "xquad/xquad.en.json.gz") as stream:
        articles = json.load(stream)["data"]
    free = [
        Sample(item["id"], part["context"], item["answers"][0]["text"], item["question"])
        for article in articles for part in article["paragraphs"] for item in part["qas"]
    ]  # fmt: skip
    assert not [sample for sample in free if index.check(sample)]
