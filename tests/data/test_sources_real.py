"""The readers on the original files, where these are there; whole sets have their papers' counts."""

import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
import yaml

from data_pipeline.config import DataConfig
from data_pipeline.sources.config import SourceConfig
from data_pipeline.sources.readers import READERS
from data_pipeline.sources.reading import read_source
from data_pipeline.sources.windows import WINDOW_TOKENS, count_tokens
from judge.configs import load_config
from judge.formats.shared import SOURCE_SHARE
from judge.training.config import EncoderRecipe
from judge.types import Label, Sample

# (kind, split) to the samples of each (source, language, label), and the number of documents
GOLD = None
REAL: dict[tuple[str, str | None], tuple[dict[tuple[str, str, Label | None], int], int]] = {
    ("cmrc2018", "dev"): ({("cmrc2018", "zh", GOLD): 3219}, 848),
    ("conflictqa", None): (
        {("conflictqa", "en", Label.PASS): 2601, ("conflictqa", "en", Label.FAIL): 2601}, 1756,
    ),
    ("covid_qa", None): ({("covid_qa", "en", GOLD): 1380}, 98),
    ("drcd", "dev"): ({("drcd", "zh", GOLD): 3524}, 1000),
    ("fib", None): (
        {
            ("fib_xsum", "en", Label.PASS): 500, ("fib_xsum", "en", Label.FAIL): 3034,
            ("fib_cnn_dm", "en", Label.PASS): 96, ("fib_cnn_dm", "en", Label.FAIL): 447,
        },
        596,
    ),
    ("financebench", None): ({("financebench", "en", GOLD): 150}, 84),
    ("halueval", "qa"): (
        {("halueval_qa", "en", Label.PASS): 10000, ("halueval_qa", "en", Label.FAIL): 10000}, 9936,
    ),
    ("ifqa", "train"): ({("ifqa", "en", GOLD): 2400}, 2288),
    ("ifqa", "dev"): ({("ifqa", "en", GOLD): 700}, 699),
    ("ifqa", "test"): ({("ifqa", "en", GOLD): 700}, 669),
    ("lawbench", None): (
        {("lawbench_qa", "zh", GOLD): 500, ("lawbench_summarization", "zh", GOLD): 500}, 998,
    ),
    ("pubmedqa", "pqal"): ({("pubmedqa", "en", GOLD): 1000}, 1000),
    ("ragtruth", None): (
        {("ragtruth_qa", "en", Label.PASS): 1903, ("ragtruth_qa", "en", Label.FAIL): 1453}, 839,
    ),
    ("rgb", None): (
        {
            ("rgb", "en", Label.PASS): 200, ("rgb", "en", Label.FAIL): 244, ("rgb", "zh", Label.PASS): 196,
            ("rgb", "zh", Label.FAIL): 271,
        },
        198,
    ),
    ("uhgeval", None): ({("uhgeval", "zh", Label.PASS): 973, ("uhgeval", "zh", Label.FAIL): 981}, 973),
    ("webnlg", "train"): ({("webnlg", "en", GOLD): 34259}, 12792),
    ("webnlg", "test"): ({("webnlg", "en", GOLD): 4928}, 1862),
    ("wmt21", None): ({("wmt21", "zh", GOLD): 2004, ("wmt21", "en", GOLD): 1948}, 2950),
    ("xquad", None): ({("xquad", "en", GOLD): 1190, ("xquad", "zh", GOLD): 1190}, 240),
}  # fmt: skip


def real(folder: Path, kind: str, split: str | None, **settings: object) -> list[Sample]:
    source = SourceConfig.model_validate({"kind": kind, "path": str(folder), "split": split, **settings})
    return list(read_source(source, seed=0))


@pytest.mark.parametrize(("kind", "split"), REAL)
def test_real_files(shared_data: Path, kind: str, split: str | None) -> None:
    whole = {"side": "whole"} if kind in SOURCE_SHARE else {}
    samples = real(shared_data, kind, split, **whole)
    counts, documents = REAL[kind, split]
    assert Counter((s.source, s.language, s.label) for s in samples) == counts
    assert len({sample.group for sample in samples}) == documents
    assert len({sample.id for sample in samples}) == len(samples)
    assert all(sample.document_text.strip() and sample.answer.strip() for sample in samples)
    # One document has one group. (A group can have several: passages of a question, pages of a filing.)
    groups: dict[str, set[str]] = {}
    for sample in samples:
        groups.setdefault(sample.document_text, set()).add(sample.group)
    assert max(map(len, groups.values())) == 1 or kind in ("conflictqa", "financebench")


def test_sets_do_not_share_ids(shared_data: Path) -> None:
    """A recipe takes several sets, and ids name samples across it."""
    seen: set[str] = set()
    for kind, split in REAL:
        source = SourceConfig(kind=kind, path=str(shared_data), split=split)
        ids = {sample.id for sample in islice(read_source(source, seed=0), 50)}
        assert ids and not ids & seen, kind
        seen |= ids


def test_answers_cut_from_the_document_are_in_it(shared_data: Path) -> None:
    for kind, split in (("covid_qa", None), ("xquad", None), ("cmrc2018", "dev"), ("drcd", "dev")):
        samples = real(shared_data, kind, split, **({"side": "whole"} if kind in SOURCE_SHARE else {}))
        assert all(sample.answer in sample.document_text for sample in samples), kind
        longest = max(count_tokens(sample.document_text) for sample in samples)
        assert longest <= WINDOW_TOKENS, (kind, longest)


def test_fib_is_whole(shared_data: Path) -> None:
    from judge.formats import fib

    pairs = list(fib.read(shared_data))
    assert len(pairs) == 2 * 3579  # the paper's number of pairs
    assert sum(sample.source == "fib_xsum" for sample in pairs) == 2 * 3122
    assert not any("<t>" in sample.answer for sample in pairs)


def test_only_train_of_ragtruth(shared_data: Path) -> None:
    from judge.formats.ragtruth import load

    measured = {sample.id for sample in load(shared_data)}
    assert not measured & {sample.id for sample in real(shared_data, "ragtruth", None)}
    assert READERS["ragtruth"].splits == ()


def test_rgb_labels_follow_from_its_passages(shared_data: Path) -> None:
    samples = real(shared_data, "rgb", None)
    whole = [s for s in samples if s.label is Label.PASS and s.language == "zh" and "，" not in s.answer]
    assert len(whole) > 150 and all(s.answer in s.document_text for s in whole)
    wrong = [s for s in samples if s.label is Label.FAIL]
    assert not any(f" {s.answer.lower()} " in f" {s.document_text.lower()} " for s in wrong)
    assert not any(s.answer in s.document_text for s in wrong if not s.answer[0].isdigit())


def test_the_wrong_keywords_of_uhgeval_stand_in_its_answers(shared_data: Path) -> None:
    for sample in real(shared_data, "uhgeval", None):
        if sample.label is Label.PASS:
            assert sample.answer in sample.document_text
        else:
            spans = sample.meta["spans"]
            assert spans and all(sample.answer[s["start"] : s["end"]] == s["text"] for s in spans)


def test_labelled_sets_in_a_folder_are_read_as_one(shared_data: Path) -> None:
    """All 30, streamed: every row with its own licence, source and group."""
    folder = shared_data / "human"
    if not folder.is_dir():
        pytest.skip("no folder of labelled sets")
    counts: Counter[str] = Counter()
    for sample in read_source(SourceConfig(kind="file", path=str(folder)), seed=0):
        counts[sample.source] += 1
        assert sample.meta["licence"] and sample.group.startswith(sample.source) and sample.label
    assert counts.keys() == {path.name.removesuffix(".jsonl.gz") for path in folder.iterdir()}


def test_the_reference_recipe_weighs_sources_that_its_data_has(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A weight for a source that is not in the data stops a training, after the hours of the one before."""
    monkeypatch.setenv("JUDGE_DATA_DIR", str(shared_data))  # for sources without a path
    recipe = Path("recipes/reference")
    weights = load_config(EncoderRecipe, recipe / "encoder.yaml").source_weights
    made = (recipe / "Makefile").read_text(encoding="utf-8")
    values = dict(re.findall("(\\w+) := (.*)", made))
    made = re.sub(r"\$\((\w+)\)", lambda name: values.get(name[1], name[0]), made)
    told = re.findall("(\\w+) := .*'source_weights=(.*)'", made)
    more = {name: set(yaml.safe_load(values)) for name, values in told}
    assert more.keys() == {"LABELLED", "PAIRS_WHOLE", "PAIRS_LABELLED", "FURTHER"}
    named = set(weights).union(*more.values())
    labelled, perturbed = sources_of(recipe / "data.yaml", shared_data, named)
    assert weights.keys() | more["PAIRS_WHOLE"] <= labelled | perturbed
    assert more["LABELLED"] | more["PAIRS_LABELLED"] <= labelled
    assert more["FURTHER"] <= set.union(*sources_of(recipe / "data-further.yaml", shared_data, named))


def sources_of(recipe: Path, shared_data: Path, named: set[str]) -> tuple[set[str], set[str]]:
    """The sources of a data recipe, labelled and perturbed; of a folder, those that are named."""
    labelled: set[str] = set()
    perturbed: set[str] = set()
    data = load_config(DataConfig, recipe)
    for source in data.sources:
        files: list[Path | None] = [None]
        if source.path:
            place = shared_data / Path(source.path).relative_to("my-sets")
            some = [place / f"{name}.jsonl.gz" for name in named]
            files = [file for file in some if file.is_file()] if place.is_dir() else [place]
        for file in files:
            found = read_source(source.model_copy(update={"path": file, "samples": None}), seed=0)
            names = {sample.source for sample in islice(found, 1)}
            (perturbed if data.perturbs(source) else labelled).update(names)
    return labelled, perturbed
