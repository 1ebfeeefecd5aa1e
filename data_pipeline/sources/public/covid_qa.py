"""COVID-QA (Moeller et al. 2020): questions that experts answered with passages of articles on COVID-19."""

from collections.abc import Iterator
from pathlib import Path

from data_pipeline.sources import squad
from data_pipeline.sources.windows import WINDOW_TOKENS
from judge.formats.files import find_file
from judge.formats.shared import Side, on_side
from judge.types import Sample

ORIGINAL = "github.com/deepset-ai/COVID-QA, folder data/question-answering"
NAMES = ("COVID-QA.json", "200423_covidQA.json")


def read(data_dir: Path, window_tokens: int = WINDOW_TOKENS, side: Side | None = None) -> Iterator[Sample]:
    """The set from ``data_dir/covid-qa``, one file in SQuAD's form; documents are windows of articles.

    HaluBench measures on this set; recipes read the articles on the side of the sources
    (:mod:`judge.formats.shared`).
    """
    return squad.read(
        find_file(data_dir, "covid-qa", NAMES, ORIGINAL),
        "covid_qa",
        "en",
        window_tokens=window_tokens,
        wanted=lambda article: on_side("covid_qa", article, side),
    )
