"""Edits that change what an answer means without a new fact: golden cases, refusals, properties."""

# ruff: noqa: E501 (one golden case a line)

from random import Random

import pytest

from data_pipeline.edits import EDITS, RulePerturber, occurs
from data_pipeline.edits.support import exchanged, known, lowered, plural
from data_pipeline.edits.triples import triples
from judge.types import Sample

KINDS = (
    "role",
    "attribution",
)

TRIAL = (
    "We followed 412 adults with gout at two clinics. Relapse was higher in patients with diabetes than in patients without diabetes. "
    "Coffee intake was associated with fewer attacks. A lower dose may reduce swelling of the knee. "
    "Most patients kept the diet for at least 30 weeks. Pain fell in 41% and 58% of patients after 2 and 6 weeks, respectively."
)
CLUB = (
    "The Tarrow Rovers play at Kessel Park. Mira Holst succeeded Jon Abel in 1931. Jon Abel said that the mayor Mira Holst was kind. "
    "The club moved from Tarrow to Kessel Bay. The bakery opened on 3 May; the mill flooded on 9 June. "
    "The outdoor pool holds 300 swimmers, and the indoor pool holds 40 swimmers."
)
LAKES = (
    "Lake Orr | has to its north | Lake Pell\nIda Brenn | birthPlace | Tarrow\nIda Brenn | deathPlace | Kessel\n"
    "Lake Orr | area | 12\nLake Orr | inflow | River Ost"
)

# edit type, document, gold answer, the answers that may come out
GOLDEN: list[tuple[str, str, str, set[str]]] = [
    ("role", TRIAL, "Relapse was higher in patients with diabetes than in patients without diabetes.",
     {"Relapse was higher in patients without diabetes than in patients with diabetes."}),
    ("role", CLUB, "Mira Holst succeeded Jon Abel in 1931.", {"Jon Abel succeeded Mira Holst in 1931."}),
    ("role", CLUB, "The indoor pool is cheaper than the outdoor pool.", {"The outdoor pool is cheaper than the indoor pool."}),
    ("attribution", LAKES, "Ida Brenn was born in Tarrow and died in Kessel.", {"Ida Brenn was born in Kessel and died in Tarrow."}),
    ("attribution", TRIAL, "Pain fell in 41% and 58% of patients after 2 and 6 weeks, respectively.",
     {"Pain fell in 58% and 41% of patients after 2 and 6 weeks, respectively."}),
    ("attribution", CLUB, "The outdoor pool holds 300 swimmers, and the indoor pool holds 40 swimmers.",
     {"The outdoor pool holds 40 swimmers, and the indoor pool holds 300 swimmers."}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "document", "answer", "expected"), GOLDEN)
def test_golden(kind: str, document: str, answer: str, expected: set[str]) -> None:
    for seed in range(3):
        edit = EDITS[kind](answer, document, "", "en", Random(seed))
        assert edit is not None and edit.answer in expected
        assert edit.edit_type == kind and repr(edit.inserted)[1:-1] in edit.change
        assert edit.from_document == occurs(edit.inserted, document)


@pytest.mark.parametrize(
    ("kind", "document", "answer"),
    [
        ("role", CLUB, "Mira Holst met Jon Abel in 1931."),
        ("role", CLUB, "Mira Holst and Jon Abel succeeded in 1931."),
        ("role", CLUB, "The club has more than 40 swimmers."),
        ("role", TRIAL, "Relapse was no higher in adults than it was before."),
        ("attribution", LAKES, "Tarrow and Kessel are places in the life of Ida Brenn."),
        ("attribution", CLUB, "Of the 300 swimmers of the club, in the end only 40 swimmers came."),
    ],
)
def test_an_edit_that_would_be_wrong_is_not_made(kind: str, document: str, answer: str) -> None:
    assert all(EDITS[kind](answer, document, "", "en", Random(seed)) is None for seed in range(10))


@pytest.mark.parametrize("kind", KINDS)
def test_they_repeat_themselves(kind: str) -> None:
    answer = next(answer for name, document, answer, _ in GOLDEN if name == kind and document == CLUB)
    sample = Sample(id="s", document=CLUB, answer=answer)
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
    assert triples("a | b | c") == [("a", "b", "c")] and triples("a | b | c\nand more") == []
