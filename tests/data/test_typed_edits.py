"""The edit that changes what an answer means without a new fact: what triples say of things changes places."""

# ruff: noqa: E501 (one golden case a line)

from random import Random

import pytest

from data_pipeline.edits import EDITS, RulePerturber, occurs
from data_pipeline.edits.attributions import exchanged
from data_pipeline.text.triples import triples_of
from judge.types import Sample

LAKES = (
    "Lake Orr | has to its north | Lake Pell\nIda Brenn | birthPlace | Tarrow\nIda Brenn | deathPlace | Kessel\n"
    "Lake Orr | area | 12\nLake Orr | inflow | River Ost"
)
BORN, SWAPPED = (
    "Ida Brenn was born in Tarrow and died in Kessel.",
    "Ida Brenn was born in Kessel and died in Tarrow.",
)


def test_objects_of_like_relations_change_places() -> None:
    for seed in range(3):
        edit = EDITS["attribution"](BORN, LAKES, "", "en", Random(seed))
        assert edit is not None and edit.answer == SWAPPED and edit.edit_type == "attribution"
        assert repr(edit.inserted)[1:-1] in edit.change and edit.from_document == occurs(edit.inserted, LAKES)


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        (LAKES, "Tarrow and Kessel are places in the life of Ida Brenn."),
        (LAKES, "Lake Orr lies south of Lake Pell, and the River Ost flows into it."),
        (f"{LAKES}\nIda Brenn | deathPlace | Tarrow", BORN),
        (BORN, BORN),
    ],
)
def test_an_edit_that_would_be_wrong_is_not_made(document: str, answer: str) -> None:
    assert all(EDITS["attribution"](answer, document, "", "en", Random(seed)) is None for seed in range(10))


def test_it_repeats_itself() -> None:
    sample = Sample(id="s", document=LAKES, answer=BORN)
    made = RulePerturber(1, ("attribution",)).perturb(sample)
    assert made is not None and made == RulePerturber(1, ("attribution",)).perturb(sample)


def test_helpers() -> None:
    assert list(exchanged("A beats B.", (0, 1), (8, 9))) == [(0, 9, "B beats A")]
    assert not list(exchanged("A beats A.", (0, 1), (8, 9)))
    assert triples_of("a | b | c") == [("a", "b", "c")] and triples_of("a | b | c\nand more") == []
