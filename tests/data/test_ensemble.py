"""Bi'an's ensemble by table: whose judgement becomes the SFT row, which pairs it makes, what is set aside."""

from collections.abc import Iterable, Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import scripted

from data_pipeline.labels.ensemble import Yield, decide, judge_together, yield_markdown
from data_pipeline.labels.known_label import reason_for_label
from data_pipeline.labels.rows import opposite
from data_pipeline.teachers.base import Judgement
from judge.types import Label, Language, Sample

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


def sample(label: Label, language: Language = "en", name: str = "s") -> Sample:
    return Sample(name, "It is 640 m long.", "It is 640 m.", language=language, label=label, group="g")


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


def test_the_tables_hold_every_combination() -> None:
    assert set(BIAN) == {"".join(marks) for marks in product("RW", repeat=3)}


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


def test_what_is_not_kept_is_set_aside_with_all_that_was_said() -> None:
    row = decide(sample(Label.PASS), judgements("WW-", Label.PASS)).aside_row()
    assert row["outcome"] == "unanimous error" and row["sample"]["id"] == "s"
    assert [item["label"] for item in row["judgements"]] == ["FAIL", "FAIL", None]
    assert [item["teacher"] for item in row["judgements"]] == list(TEACHERS)


class Scripted:
    """A teacher with ready verdicts, which takes some samples ahead of what it gives, and notes them."""

    def __init__(self, name: str, marks: str, golds: list[Label], ahead: int):
        self.name = name
        self._ready = [judgements(mark * 3, gold)[0] for mark, gold in zip(marks, golds, strict=True)]
        self._ahead = ahead
        self.seen: list[Sample] = []

    def judge(self, samples: Iterable[Sample]) -> Iterator[Judgement]:
        given = 0
        for item in samples:
            self.seen.append(item)
            if len(self.seen) - given > self._ahead:
                yield self._named(given)
                given += 1
        for number in range(given, len(self.seen)):
            yield self._named(number)

    def _named(self, number: int) -> Judgement:
        item = self._ready[number]
        return Judgement(self.name, item.label, f"{self.name} {number}", item.problem)

    def perturb(self, golds: Iterable[Sample]) -> Iterator[None]:
        raise NotImplementedError


def test_teachers_judge_together_at_their_own_pace_and_unseen() -> None:
    patterns = [*BIAN, *UNPARSED]
    golds = [Label.PASS if number % 2 else Label.FAIL for number in range(len(patterns))]
    samples = [Sample(str(n), "d", "a", label=gold, meta={"change": "c"}) for n, gold in enumerate(golds)]
    teachers = [
        Scripted(name, "".join(pattern[place] for pattern in patterns), golds, ahead=3 * place)
        for place, name in enumerate(TEACHERS)
    ]
    counted = Yield()
    decisions = list(counted.count(judge_together(samples, teachers)))
    assert [decision.sample for decision in decisions] == samples
    found = [
        (d.chosen.teacher if d.chosen else None, [item.teacher for item in d.rejected]) for d in decisions
    ]
    assert found == [*BIAN.values(), *UNPARSED.values()]
    assert [d.chosen.reasoning for d in decisions if d.chosen][:3] == ["big 0", "big 1", "big 2"]
    for teacher in teachers:
        assert [item.id for item in teacher.seen] == [item.id for item in samples]
        assert all(item.label is None and not item.meta for item in teacher.seen)

    table = counted.table()
    big = table["teachers"]["big"]
    assert list(table["teachers"]) == list(TEACHERS)
    assert (big["correct"], big["wrong"], big["unparsed"], big["chosen"], big["rejected"]) == (6, 7, 2, 6, 4)
    assert big["unparsed: invalid"] == 2
    assert all(
        item["correct"] + item["wrong"] + item["unparsed"] == len(samples)
        for item in table["teachers"].values()
    )
    assert table["ensemble"] == {
        "samples": 15, "kept": 11, "unanimous error": 3, "no verdict": 1, "pairs": 12,
    }  # fmt: skip
    assert sum(item["chosen"] for item in table["teachers"].values()) == 11
    assert sum(item["rejected"] for item in table["teachers"].values()) == 12
    assert "| big | 6 | 7 | 2 | 6 | 4 |" in yield_markdown(table)


def test_reasonings_for_known_labels_are_chosen() -> None:
    items = [sample(Label.PASS), sample(Label.FAIL)]
    replies = [{"reasoning": ["one"]}, {"reasoning": ["two", "three"]}]
    given = reason_for_label("t", scripted(replies), items, lambda _: "")
    found = [decide(item, [judgement]).chosen for item, judgement in zip(items, given, strict=True)]
    assert [(item.label, item.reasoning) for item in found if item] == [
        (Label.PASS, "- one"),
        (Label.FAIL, "- two\n- three"),
    ]


def test_a_sample_without_a_gold_label_cannot_be_decided() -> None:
    with pytest.raises(ValueError, match="no gold label"):
        decide(Sample("s", "d", "a"), [])
