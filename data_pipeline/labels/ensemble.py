"""Bi'an's ensemble (section 2.3): several teachers judge without the label, and what they agree on teaches.

- The best right judgement, by the teachers' priority, becomes the SFT row.
- It is preferred to every wrong judgement of the same sample, one pair each.
- A sample that nobody judged right gives nothing, no verdict row either: it goes to rejected.jsonl.

A judgement without a verdict is neither right nor wrong: it is counted, and makes no row and no pair. (The
paper does not say what became of its own.)
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
    """What the judgements of one sample come to.

    ``judgements`` are in the teachers' priority; ``chosen`` is the first right one; ``wrong`` are those
    with the other label.
    """

    sample: Sample
    judgements: tuple[Judgement, ...]
    chosen: Judgement | None
    wrong: tuple[Judgement, ...]

    @property
    def outcome(self) -> Outcome:
        """``kept``; or why not: every verdict is wrong, or there is none."""
        if self.chosen is not None:
            return "kept"
        return "unanimous error" if self.wrong else "no verdict"

    @property
    def rejected(self) -> tuple[Judgement, ...]:
        """The judgements that the chosen one is preferred to."""
        return self.wrong if self.chosen is not None else ()

    def aside_row(self) -> dict[str, Any]:
        """A sample that was not kept, with all that was said of it."""
        return {
            "outcome": self.outcome,
            "sample": row_from_sample(self.sample),
            "judgements": [asdict(item) for item in self.judgements],
        }


def decide(sample: Sample, judgements: Iterable[Judgement]) -> Decision:
    """Choose among the judgements of a sample with a gold label; they come in the teachers' priority."""
    label = gold_label(sample)
    judgements = tuple(judgements)
    return Decision(
        sample,
        judgements,
        chosen=next((item for item in judgements if item.label is label), None),
        wrong=tuple(item for item in judgements if item.label not in (label, None)),
    )


def judge_together(samples: Iterable[Sample], teachers: Sequence[Teacher]) -> Iterator[Decision]:
    """Let all teachers judge every sample, each at its own pace, and decide, in order.

    Args:
        samples: samples with gold labels. Teachers get them without, and without ``meta``.
        teachers: in their priority, the best first.
    """
    kept, *copies = tee(samples, len(teachers) + 1)
    streams = [
        teacher.judge(replace(sample, label=None, meta={}) for sample in copy)
        for teacher, copy in zip(teachers, copies, strict=True)
    ]
    for sample, *judgements in zip(kept, *streams, strict=True):
        yield decide(sample, judgements)


class Yield:
    """What each teacher gave and what came of all together (Bi'an, Table 13), counted as decisions go by."""

    def __init__(self) -> None:
        self._teachers: dict[str, Counter[str]] = {}
        self._outcomes: Counter[str] = Counter()
        self._pairs = 0

    def count(self, decisions: Iterable[Decision]) -> Iterator[Decision]:
        """Count the decisions that pass through."""
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
        """The counts: for each teacher, in the order of their priority, and for the ensemble.

        ``correct``, ``wrong`` and ``unparsed`` add up to the samples; ``chosen`` and ``rejected`` are its
        SFT rows and its sides of pairs.
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
    """A yield table for people."""
    names = ("correct", "wrong", "unparsed", "chosen", "rejected")
    rows: list[list[object]] = [
        [name, *(counts.get(key, 0) for key in names)] for name, counts in table["teachers"].items()
    ]
    total = table["ensemble"]
    last = (total[key] for key in ("kept", "unanimous error", "no verdict", "kept", "pairs"))
    rows.append([f"all of {total['samples']}", *last])
    return "\n".join(markdown.table(("teacher", *names), rows)) + "\n"
