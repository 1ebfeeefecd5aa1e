"""Public sets in SQuAD's form, and those that benchmarks read too (:mod:`judge.formats`).

The leak gate refuses rows of the latter that occur in a benchmark that is available. Where a set has sides,
recipes read the one of the sources (:mod:`judge.formats.shared`).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from data_pipeline.sources import squad
from data_pipeline.sources.windows import WINDOW_TOKENS
from judge.formats import conflictqa, fib, halueval, ragtruth
from judge.formats.files import find_file
from judge.formats.shared import Side, on_side
from judge.types import LANGUAGES, Sample


def _chinese(name: str, file: str, original: str) -> Callable[..., Iterator[Sample]]:
    """Reads one split of a set of questions about Chinese Wikipedia: one file, in a folder of its name."""

    def read(data_dir: Path, split: str, window_tokens: int = WINDOW_TOKENS) -> Iterator[Sample]:
        path = find_file(data_dir, name, [file.format(split)], original)
        return squad.read(path, name, "zh", window_tokens=window_tokens)

    return read


read_cmrc2018 = _chinese("cmrc2018", "cmrc2018_{}.json", "github.com/ymcui/cmrc2018, folder squad-style-data")
"""CMRC 2018 (arXiv 1810.07366), in simplified characters."""
read_drcd = _chinese("drcd", "DRCD_{}.json", "github.com/DRCKnowledgeTeam/DRCD")
"""DRCD (arXiv 1806.00920), in traditional characters."""
read_conflictqa = conflictqa.read
"""Labelled counterfactual questions, a PASS and a FAIL sample a row."""


def read_xquad(data_dir: Path, window_tokens: int = WINDOW_TOKENS) -> Iterator[Sample]:
    """XQuAD (arXiv 1910.11856): ``xquad.en.json`` and ``xquad.zh.json``, translated SQuAD.

    A paragraph and its translation have the same questions in the same order, and share a group.
    """
    for language in LANGUAGES:
        path = find_file(data_dir, "xquad", [f"xquad.{language}.json"], "github.com/google-deepmind/xquad")
        first: dict[str, str] = {}
        for sample in squad.read(path, "xquad", language, "xquad", window_tokens):
            group = first.setdefault(sample.group, sample.id)
            yield replace(sample, id=f"{sample.id}-{language}", group=group)


def read_covid_qa(
    data_dir: Path, window_tokens: int = WINDOW_TOKENS, side: Side | None = None
) -> Iterator[Sample]:
    """COVID-QA (Moeller et al. 2020) from ``data_dir/covid-qa``: documents are windows of articles."""
    names = ("COVID-QA.json", "200423_covidQA.json")
    original = "github.com/deepset-ai/COVID-QA, folder data/question-answering"
    return squad.read(
        find_file(data_dir, "covid-qa", names, original),
        "covid_qa",
        "en",
        window_tokens=window_tokens,
        wanted=lambda article: on_side("covid_qa", article, side),
    )


def read_fib(data_dir: Path, side: Side | None = None) -> Iterator[Sample]:
    """FIB, which Bi'an trains on too (Table 11). Models share right summaries: each summary once."""
    seen: set[tuple[str, str]] = set()
    for sample in fib.read(data_dir):
        if (sample.group, sample.answer) not in seen and on_side("fib", sample.document_text, side):
            seen.add((sample.group, sample.answer))
            yield sample


def read_halueval(data_dir: Path, split: str) -> Iterator[Sample]:
    """One part of HaluEval, a PASS and a FAIL sample a row."""
    part = halueval.PARTS[split]
    for sample in halueval.read(halueval.find(data_dir, part), part):
        yield replace(sample, id=f"halueval-{sample.id}")


def read_ragtruth(data_dir: Path, side: Side | None = "source") -> Iterator[Sample]:
    """The labelled responses of RAGTruth: of ``train``, of ``test`` (which measures), or all."""
    if side != "benchmark":
        yield from ragtruth.load_split("train", data_dir)
    if side != "source":
        yield from ragtruth.load_split("test", data_dir)
