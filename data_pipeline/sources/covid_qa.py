"""COVID-QA (Moeller et al. 2020): questions that experts answered with passages of articles on COVID-19."""

from collections.abc import Iterator
from pathlib import Path

from data_pipeline.sources import squad
from judge.formats.files import find_file
from judge.types import Sample

ORIGINAL = "github.com/deepset-ai/COVID-QA, folder data/question-answering"
NAMES = ("COVID-QA.json", "200423_covidQA.json")


def read(data_dir: Path) -> Iterator[Sample]:
    """The set from ``data_dir/covid-qa``, one file in SQuAD's form; documents are whole articles."""
    return squad.read(find_file(data_dir, "covid-qa", NAMES, ORIGINAL), "covid_qa", "en")
