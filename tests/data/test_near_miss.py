"""Near misses: of the kind that was asked for, of the document, and surely wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.near_miss import near_miss
from data_pipeline.pairs.neighbours import Neighbours
from data_pipeline.pairs.wrong_answers import is_other
from data_pipeline.sources.store import SampleStore
from data_pipeline.text.questions import OPEN, asks_for
from judge.types import Label, Language, Sample

StoreOf = Callable[..., SampleStore]
DOCUMENT = (
    "The barn of Tarrow was built in 1907 by Ada Holst. It burnt down in 1931, and Ben Oake built a bridge "
    "there. Ada Holst, the widow, kept 11 horses. Later Ben Oake kept 14. Oats and barley grew."
)


def sample(name: str, question: str, answer: str, document: str = DOCUMENT, **values: Any) -> Sample:
    values = {"source": "s", "group": document[:12], "label": Label.PASS} | values
    return Sample(name, document, answer, question=question, **values)


def missed(store: SampleStore, gold: Sample, seed: int = 0) -> Contrast | None:
    return next(iter(near_miss(gold, Neighbours(store, seed), seed)), None)


def test_the_answer_to_another_question(store_of: StoreOf) -> None:
    golds = [
        sample("a", "Who built the barn?", "Ada Holst"),
        sample("b", "Who built a bridge?", "Ben Oake"),
        sample("c", "When did the barn burn down?", "1931"),
    ]
    found = missed(store_of(golds), golds[0])
    assert found is not None and found.hallucinated == found.inserted == "Ben Oake"
    assert (found.edit_type, found.replaced, found.from_document) == ("other_answer", "Ada Holst", True)
    assert found.faithful is None and found.faithful_document is None


def test_without_another_question_a_fact_of_the_same_form(store_of: StoreOf) -> None:
    gold = sample("a", "When was the barn built?", "1907")
    found = missed(store_of([gold]), gold)
    assert found is not None and found.inserted == "1931"


def test_an_answer_to_the_same_question_is_none(store_of: StoreOf) -> None:
    golds = [
        sample("a", "Who built the barn of Tarrow?", "Ada Holst"),
        sample("b", "Who first built the barn of Tarrow?", "Ben Oake"),
    ]
    assert missed(store_of(golds[:2]), golds[0]) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("Oats", "barley"), ("Ada Holst", "the widow"), ("Ada Holst", "Holst"), ("1907", "1750"),
        ("14", "barn"), ("Ada Holst", "no"),
    ],
)  # fmt: skip
def test_what_may_be_right_as_well_is_no_near_miss(right: str, wrong: str) -> None:
    assert not is_other(sample("a", "Who or what was at the barn?", right), wrong)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is one of the grains?", "Oats"), ("What is not ground?", "barley"),
        ("What examples are there?", "Oats"), ("Did the barn burn?", "yes"), ("", "1907"),
    ],
)  # fmt: skip
def test_questions_with_several_answers_get_none(store_of: StoreOf, question: str, answer: str) -> None:
    golds = [sample("a", question, answer), sample("b", "Who built a bridge?", "Ben Oake")]
    assert missed(store_of(golds), golds[0]) is None


def test_numbers_of_a_size_years_of_an_age_and_parts_of_a_whole() -> None:
    document = "In 1907 there were 11 horses; in 1400 there were 900 men. 30 of them left for Bost, 12 rode."
    assert not is_other(sample("a", "How many horses?", "11", document), "900")
    assert not is_other(sample("a", "When did horses come?", "1907", document), "1400")
    assert not is_other(sample("a", "How many of the 14 men rode?", "12", document), "30")
    assert is_other(sample("a", "How many rode?", "12", document), "30")


@pytest.mark.parametrize(
    ("question", "kind", "language"),
    [
        ("In what year did it close?", "when", "en"), ("When did it close?", "when", "en"),
        ("Which team won?", "what team", "en"), ("What is the capital of Ostmark?", "what capital", "en"),
        ("What famous English miller is meant?", "what miller", "en"),
        ("How many horses were there?", "how many", "en"), ("Whose horses were they?", "who", "en"),
        ("What did they grind?", OPEN, "en"), ("磨坊是谁建的？", "who", "zh"),
        ("磨坊是哪一年建的？", "when", "zh"), ("磨坊在哪里？", "where", "zh"),
        ("磨坊有多少匹马？", "how many 匹", "zh"), ("他加入了哪个球队？", "what 球队", "zh"),
    ],
)  # fmt: skip
def test_what_a_question_asks_for(question: str, kind: str, language: Language) -> None:
    assert asks_for(question, language) == kind
