"""Bi'an's ensemble by table: whose judgement becomes the SFT row, which pairs it makes, what is set aside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_pipeline.labels.ensemble import decide
from data_pipeline.labels.rows import opposite
from data_pipeline.teachers.base import Judgement
from judge.types import Label, Sample

TEACHERS = ("big", "middle", "small")  # in their priority
# What each is (R right, W wrong) -> whose judgement is the SFT row, and whose are rejected for it.
# Bi'an, 2.3 and B.1: the best right one by priority; each wrong one a pair; no right one, no row.
BIAN = {
    "RRR": ("big", []), "RRW": ("big", ["small"]), "RWR": ("big", ["middle"]),
    "RWW": ("big", ["middle", "small"]), "WRR": ("middle", ["big"]), "WRW": ("middle", ["big", "small"]),
    "WWR": ("small", ["big", "middle"]), "WWW": (None, []),
}  # fmt: skip
# The same with judgements that hold no verdict (-): they are neither chosen nor rejected.
UNPARSED = {
    "-RW": ("middle", ["small"]), "R-W": ("big", ["small"]), "R--": ("big", []), "W-R": ("small", ["big"]),
    "W--": (None, []), "WW-": (None, []), "---": (None, []),
}  # fmt: skip


def sample(label: Label) -> Sample:
    return Sample("s", "It is 640 m long.", "It is 640 m.", label=label)


def judgements(pattern: str, gold: Label) -> list[Judgement]:
    labels = {"R": gold, "W": opposite(gold), "-": None}
    return [
        Judgement(name, labels[mark], f"{name} thinks so", None if labels[mark] else "invalid")
        for name, mark in zip(TEACHERS, pattern, strict=True)
    ]


@pytest.mark.parametrize("gold", list(Label))
@pytest.mark.parametrize(("pattern", "expected"), [*BIAN.items(), *UNPARSED.items()])
def test_choices_are_those_of_the_table(
    pattern: str, expected: tuple[str | None, list[str]], gold: Label
) -> None:
    decision = decide(sample(gold), judgements(pattern, gold))
    found = decision.chosen and decision.chosen.teacher, [item.teacher for item in decision.rejected]
    assert found == expected
    assert decision.chosen is None or decision.chosen.label is gold
    assert all(item.label is opposite(gold) for item in decision.rejected)


@given(st.text("RW-", max_size=6))
def test_any_number_of_teachers(pattern: str) -> None:
    named = {"R": Label.FAIL, "W": Label.PASS, "-": None}
    items = [Judgement(f"t{n}", named[mark], "so") for n, mark in enumerate(pattern)]
    decision = decide(sample(Label.FAIL), items)
    assert (decision.chosen is None) == ("R" not in pattern)
    if decision.chosen is not None:
        assert decision.chosen.teacher == f"t{pattern.index('R')}" and decision.outcome == "kept"
        assert len(decision.rejected) == pattern.count("W")
    else:
        assert decision.rejected == ()
        assert decision.outcome == ("unanimous error" if "W" in pattern else "no verdict")


def test_a_sample_without_a_gold_label_cannot_be_decided() -> None:
    with pytest.raises(ValueError, match="no gold label"):
        decide(Sample("s", "d", "a"), [])
