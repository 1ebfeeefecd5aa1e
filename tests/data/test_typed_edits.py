"""Edits that change what an answer means without a new fact: golden cases, refusals, properties."""

# ruff: noqa: E501 (one golden case a line)

from random import Random

import pytest

from data_pipeline.edits import EDITS, RulePerturber, occurs
from data_pipeline.edits.exchange import exchanged
from data_pipeline.edits.roles import known, lowered, plural
from data_pipeline.text.triples import triples_of
from judge.types import Sample

TRIAL = (
    "We followed 412 adults with gout at two clinics. Relapse was higher in patients with diabetes than in patients without diabetes. "
    "Coffee intake was associated with fewer attacks. A lower dose may reduce swelling of the knee. "
    "The indoor pool holds 40 swimmers, the outdoor pool 300. Mira Holst met Jon Abel at the pool."
)
LAKES = (
    "Lake Orr | has to its north | Lake Pell\nIda Brenn | birthPlace | Tarrow\nIda Brenn | deathPlace | Kessel\n"
    "Lake Orr | area | 12\nLake Orr | inflow | River Ost"
)
BORN = "Ida Brenn was born in Tarrow and died in Kessel."

# edit type, document, gold answer, the answer that comes out
GOLDEN: list[tuple[str, str, str, str]] = [
    ("role", TRIAL, "Relapse was higher in patients with diabetes than in patients without diabetes.",
     "Relapse was higher in patients without diabetes than in patients with diabetes."),
    ("role", TRIAL, "The indoor pool is cheaper than the outdoor pool.", "The outdoor pool is cheaper than the indoor pool."),
    ("attribution", LAKES, BORN, "Ida Brenn was born in Kessel and died in Tarrow."),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "document", "answer", "expected"), GOLDEN)
def test_golden(kind: str, document: str, answer: str, expected: str) -> None:
    for seed in range(3):
        edit = EDITS[kind](answer, document, "", "en", Random(seed))
        assert edit is not None and edit.answer == expected
        assert edit.edit_type == kind and repr(edit.inserted)[1:-1] in edit.change
        assert edit.from_document == occurs(edit.inserted, document)


@pytest.mark.parametrize(
    ("kind", "document", "answer"),
    [
        ("role", TRIAL, "Mira Holst met Jon Abel at the pool."),
        ("role", TRIAL, "The pool holds more than 40 swimmers."),
        ("role", TRIAL, "Relapse was no higher in adults than it was before."),
        ("role", LAKES, "Lake Orr is larger than Lake Pell."),
        ("attribution", LAKES, "Tarrow and Kessel are places in the life of Ida Brenn."),
        ("attribution", LAKES, "Lake Orr lies south of Lake Pell, and the River Ost flows into it."),
        ("attribution", f"{LAKES}\nIda Brenn | deathPlace | Tarrow", BORN),
        ("attribution", TRIAL, BORN),
    ],
)
def test_an_edit_that_would_be_wrong_is_not_made(kind: str, document: str, answer: str) -> None:
    assert all(EDITS[kind](answer, document, "", "en", Random(seed)) is None for seed in range(10))


@pytest.mark.parametrize(("kind", "document", "answer", "expected"), GOLDEN)
def test_they_repeat_themselves(kind: str, document: str, answer: str, expected: str) -> None:
    sample = Sample(id="s", document=document, answer=answer)
    made = RulePerturber(1, (kind,)).perturb(sample)
    assert made is not None and made == RulePerturber(1, (kind,)).perturb(sample)


def test_helpers() -> None:
    assert known("swelling of the knee", TRIAL) and not known("a broken knee", TRIAL)
    assert known("a broken knee", TRIAL, 0.5) and known("a broken knee", "膝盖骨折。")
    assert exchanged("A beats B.", (0, 1), (8, 9)) == (0, 9, "B beats A")
    assert exchanged("A beats A.", (0, 1), (8, 9)) is None
    assert lowered("The pool", "") == "the pool" and lowered("Coffee", "Cold coffee.") == "coffee"
    assert lowered("Tarrow", "In Tarrow.") == "Tarrow" and lowered("Orr", "Orr fell.") is None
    assert (
        plural("the swimmers of the club")
        and plural("Abel and Holst")
        and not plural("the analysis of pools")
    )
    assert triples_of("a | b | c") == [("a", "b", "c")] and triples_of("a | b | c\nand more") == []
