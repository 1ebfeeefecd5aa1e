"""Edits that change what an answer means without a new fact: golden cases, refusals, properties."""

# ruff: noqa: E501 (one golden case a line)

import json
from random import Random

import pytest

from data_pipeline.perturb import DEFAULT_EDIT_TYPES, EDIT_TYPES, EDITS, RulePerturber, occurs
from data_pipeline.perturb.edit import EditFunction
from data_pipeline.perturb.meaning.support import bearing, exchanged, known, lowered, plural
from data_pipeline.perturb.meaning.tables import records, tables
from data_pipeline.perturb.meaning.triples import triples
from judge.types import Sample

KINDS = (
    "role",
    "attribution",
    "quantifier",
    "order",
    "total",
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
PRICES = "Tram | Riders | Cost\n--- | --- | ---\nNorth | 410 | 12\nHarbour | 380 | 15\nSouth | 150 | 9"

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
    ("total", PRICES, "North had the highest number of riders.", {"Harbour had the highest number of riders."}),
    ("total", PRICES, "The highest number of riders is that of North, with 410.", {"The highest number of riders is that of Harbour, with 380."}),
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
        ("total", PRICES, "South is a line with 150 riders."),
        ("total", TRIAL, "The study took 29 years."),
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


def test_a_computed_number_is_computed_with_another_part() -> None:
    document = "Assets 2020 | 5200 | 4100\nDebts 2020 | 3100 | 2900\n" + "\n".join(
        f"Line {n} | {n * 311} | {n * 127}" for n in range(3, 12)
    )
    found = results(EDITS["total"], "$2100", document)
    assert found and "$2100" not in found and all(1050 <= float(text[1:]) <= 4200 for text in found)


def test_a_ratio_is_turned_round_and_a_growth_gets_another_base() -> None:
    document = "Assets | 5000\nDebts | 4000\nYear | 2020"
    assert results(EDITS["total"], "The ratio of assets to debts is 1.25 times.", document) == {
        "The ratio of assets to debts is 0.80 times."
    }
    assert results(EDITS["total"], "Assets are 25.0% above debts.", document) == {
        "Assets are 20.0% above debts."
    }
    assert not results(EDITS["total"], "Assets are 5000.", document)  # it is stated, not computed


def test_the_end_of_a_range_gives_way_to_the_next_value() -> None:
    forecast = [
        {"day": day, "main": {"temp": temp}}
        for day, temp in (("Monday", 12.5), ("Tuesday", 8.25), ("Friday", 17))
    ]
    document = json.dumps({"city": "Lindmoor", "list": forecast}, indent=1)
    assert records(document) == (
        [["day", "main.temp"], ["Monday", "12.5"], ["Tuesday", "8.25"], ["Friday", "17"]],
    )
    assert results(EDITS["total"], "Temperatures lie between 8.25 and 17 degrees.", document) == {
        "Temperatures lie between 12.5 and 17 degrees.", "Temperatures lie between 8.25 and 12.5 degrees."
    }  # fmt: skip
    assert not results(EDITS["total"], "A maximum of 17 degrees, and never more than 17.", document)
    assert results(EDITS["total"], "Of all days, Friday is the best.", document) == {
        "Of all days, Monday is the best."
    }
    assert not results(EDITS["total"], "It is 17 degrees.", document)


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
    assert tables(PRICES) == [
        [["Tram", "Riders", "Cost"], ["North", "410", "12"], ["Harbour", "380", "15"], ["South", "150", "9"]]
    ]
