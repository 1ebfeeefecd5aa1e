"""Bi'an's ensemble (section 2.3): several teachers judge without the label; right judgements become rows.

- The first right judgement, in the teachers' order of priority, becomes the SFT row.
- It is preferred to every wrong judgement of the same sample, one pair each.
- A sample that no teacher judged right gives no rows, not even in verdict mode, and goes to rejected.jsonl.

A judgement without a verdict is neither right nor wrong: it is counted, but gives no row and no pair. (The
paper does not say how it treats these.)
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import tee
from typing import Any, Literal

from data_pipeline.labels.rows import gold_label
from data_pipeline.teachers.base import Judgement, Teacher
from judge import markdown
from judge.samples import row_from_sample
from judge.types import Sample

Outcome = Literal["kept", "unanimous error", "no verdict"]
OUTCOMES: tuple[Outcome, ...] = ("kept", "unanimous error", "no verdict")


@dataclass(frozen=True, slots=True)
class Decision:
    """A sample with a gold label, its judgements in the teachers' order of priority, and what they decide."""

    sample: Sample
    judgements: tuple[Judgement, ...]

    @property
    def chosen(self) -> Judgement | None:
        """The first right judgement."""
        label = gold_label(self.sample)
        return next((item for item in self.judgements if item.label is label), None)

    @property
    def wrong(self) -> tuple[Judgement, ...]:
        """The judgements with the other label."""
        label = gold_label(self.sample).opposite
        return tuple(item for item in self.judgements if item.label is label)

    @property
    def outcome(self) -> Outcome:
        """``kept``; or ``unanimous error`` (every verdict is wrong) or ``no verdict`` (there are none)."""
        if self.chosen is not None:
            return "kept"
        return "unanimous error" if self.wrong else "no verdict"

    @property
    def rejected(self) -> tuple[Judgement, ...]:
        """The rejected sides of preference pairs with ``chosen``."""
        return self.wrong if self.chosen is not None else ()

    def aside_row(self) -> dict[str, Any]:
        """A row of rejected.jsonl: a sample that was not kept, with all its judgements."""
        return {
            "outcome": self.outcome,
            "sample": row_from_sample(self.sample),
            "judgements": [asdict(item) for item in self.judgements],
        }


def judge_together(samples: Iterable[Sample], teachers: Sequence[Teacher]) -> Iterator[Decision]:
    """Let all teachers judge every sample, each at its own pace, and yield decisions in order.

    Args:
        samples: samples with gold labels. Teachers see neither labels nor ``meta``.
        teachers: in order of priority, the best first.
    """
    kept, *copies = tee(samples, len(teachers) + 1)
    streams = [
        teacher.judge(replace(sample, label=None, meta={}) for sample in copy)
        for teacher, copy in zip(teachers, copies, strict=True)
    ]
    for sample, *judgements in zip(kept, *streams, strict=True):
        yield Decision(sample, tuple(judgements))


class Yield:
    """Counts the judgements of each teacher and the outcomes of the ensemble (Bi'an, Table 13)."""

    def __init__(self) -> None:
        self._teachers: dict[str, Counter[str]] = {}
        self._outcomes: Counter[str] = Counter()
        self._pairs = 0

    def count(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        """Count decisions and pass them on."""
        for decision in decisions:
            self._outcomes[decision.outcome] += 1
            self._pairs += len(decision.rejected)
            for item in decision.judgements:
                teacher = self._teachers.setdefault(item.teacher, Counter())
                teacher["unparsed"] += item.label is None
                teacher["correct"] += item.label is decision.sample.label
                teacher["wrong"] += item in decision.wrong
                teacher["chosen"] += item is decision.chosen
                teacher["rejected"] += item in decision.rejected
                if item.problem is not None:
                    teacher[f"unparsed: {item.problem}"] += 1
            yield decision

    def table(self) -> dict[str, Any]:
        """The counts: for each teacher, in order of priority, and for the ensemble.

        ``correct``, ``wrong`` and ``unparsed`` add up to the samples; ``chosen`` counts a teacher's SFT rows,
        ``rejected`` its rejected sides of pairs.
        """
        return {
            "teachers": {name: dict(counts) for name, counts in self._teachers.items()},
            "ensemble": {
                "samples": self._outcomes.total(),
                **{outcome: self._outcomes[outcome] for outcome in OUTCOMES},
                "pairs": self._pairs,
            },
        }


def yield_markdown(table: Mapping[str, Any]) -> str:
    """The table of :meth:`Yield.table` in Markdown."""
    names = ("correct", "wrong", "unparsed", "chosen", "rejected")
    rows: list[list[object]] = [
        [name, *(counts.get(key, 0) for key in names)] for name, counts in table["teachers"].items()
    ]
    total = table["ensemble"]
    last = (total[key] for key in ("kept", "unanimous error", "no verdict", "kept", "pairs"))
    rows.append([f"all of {total['samples']}", *last])
    return "\n".join(markdown.table(("teacher", *names), rows)) + "\n"
