"""Edits that change what an answer means without a new fact: golden cases, refusals, properties."""

# ruff: noqa: E501 (one golden case a line)

from random import Random

import pytest

from data_pipeline.perturb import DEFAULT_EDIT_TYPES, EDIT_TYPES, EDITS, RulePerturber, occurs
from data_pipeline.perturb.edit import EditFunction
from data_pipeline.perturb.meaning.support import bearing, exchanged, known, lowered, plural
from data_pipeline.perturb.meaning.triples import triples
from judge.types import Sample

KINDS = (
    "role",
    "attribution",
    "quantifier",
    "order",
    "omission",
    "certainty",
    "cause",
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
    ("order", CLUB, "The club moved from Tarrow to Kessel Bay.", {"The club moved from Kessel Bay to Tarrow."}),
    ("order", CLUB, "The bakery opened on 3 May and the mill flooded on 9 June, they say.", set()),
    ("order", CLUB, "The baker came by on 3 May and the mill flooded on 9 June.", set()),
    ("order", CLUB, "The bread was cheap on 3 May and the mill flooded on 9 June.", {"The bread was cheap on 9 June and the mill flooded on 3 May."}),
    ("certainty", TRIAL, "A lower dose may reduce swelling of the knee.", {"A lower dose reduces swelling of the knee."}),
    ("cause", TRIAL, "Coffee intake was associated with fewer attacks.", {"Coffee intake was responsible for fewer attacks."}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "document", "answer", "expected"), GOLDEN)
def test_golden(kind: str, document: str, answer: str, expected: set[str]) -> None:
    for seed in range(3):
        edit = EDITS[kind](answer, document, "", "en", Random(seed))
        assert (edit.answer if edit else None) in (expected or {None})
        if edit:
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
        ("quantifier", TRIAL, "Most patients slept well through the coldest nights."),
        ("order", CLUB, "Jon Abel was born on 3 May and died on 9 June."),
        ("certainty", TRIAL, "Coffee may reduce attacks."),
        ("certainty", TRIAL, "It is not clear whether a lower dose may reduce swelling of the knee."),
        ("cause", TRIAL, "Coffee intake was not associated with fewer attacks."),
        (
            "cause",
            "Coffee was associated with calm, because coffee caused it.",
            "Coffee was associated with calm.",
        ),
        ("omission", TRIAL, "Not only patients with gout were followed."),
    ],
)
def test_an_edit_that_would_be_wrong_is_not_made(kind: str, document: str, answer: str) -> None:
    assert all(EDITS[kind](answer, document, "", "en", Random(seed)) is None for seed in range(10))


def results(function: EditFunction, answer: str, document: str, seeds: int = 20) -> set[str]:
    """What comes out for any seed; a quantifier is changed only in a share of the places."""
    found = (function(answer, document, "", "en", Random(seed)) for seed in range(seeds))
    return {edit.answer for edit in found if edit}


def test_quantifiers_lead_both_ways() -> None:
    quantifier = EDITS["quantifier"]
    one = "Most patients kept the diet for at least 30 weeks."
    assert results(quantifier, one, TRIAL) == {one.replace("Most", "All"), one.replace("at least", "up to")}
    document = "The pass is valid for up to 30 rides. All riders of the tram need the pass."
    assert results(quantifier, "The pass is valid for up to 30 rides.", document) == {
        "The pass is valid for at least 30 rides."
    }
    assert results(quantifier, "All riders of the tram need the pass.", document) <= {
        "Some riders of the tram need the pass.", "Most riders of the tram need the pass."
    }  # fmt: skip


def test_a_quantifier_of_a_translation_needs_its_document() -> None:
    answer = "Some students stayed at home."
    assert results(EDITS["quantifier"], answer, "一些学生留在家里。") == {
        "All students stayed at home.",
        "Most students stayed at home.",
    }
    assert not results(EDITS["quantifier"], answer, "学生留在家里。")


def test_a_restriction_gives_way_to_its_contrary() -> None:
    document = "The path is open to cyclists, except for riders of heavy cargo bikes."
    omission = EDITS["omission"]
    assert results(
        omission, "The path is open to cyclists, except for riders of heavy cargo bikes.", document
    ) == {"The path is open to cyclists, including riders of heavy cargo bikes."}
    document = "Bicycles are accepted only on Friday. The desk is closed on Monday."
    assert results(omission, "Bicycles are accepted only on Friday.", document) == {
        "Bicycles are accepted also on Friday."
    }
    document = "The drug helped children with croup. Most adults felt nothing."
    assert results(omission, "The drug helped in children with croup.", document) == {
        "The drug helped in adults with croup."
    }


def test_all_kinds_are_registered_and_the_telling_ones_are_off() -> None:
    assert set(KINDS) <= set(EDIT_TYPES)
    assert set(KINDS) & set(DEFAULT_EDIT_TYPES) == {"role", "attribution"}
    assert EDITS["role"]("Lake Orr has to its north Lake Pell.", LAKES, "", "en", Random(0)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_english_only_and_repeat_themselves(kind: str) -> None:
    assert EDITS[kind]("林嘉禾比贺松涛高。", "林嘉禾比贺松涛高。", "", "zh", Random(0)) is None
    sample = Sample(
        id="s", document=f"{TRIAL} {CLUB}", answer="Most patients kept the diet for at least 30 weeks."
    )
    assert RulePerturber(1, (kind,)).perturb(sample) == RulePerturber(1, (kind,)).perturb(sample)


def test_helpers() -> None:
    assert bearing("A lower dose may reduce swelling.", TRIAL) == [
        "A lower dose may reduce swelling of the knee."
    ]
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
