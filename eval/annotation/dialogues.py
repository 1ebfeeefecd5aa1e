"""Statistics of a set of annotated dialogues: the figures of DiaHalu's Tables 1 and 2, and its Figure 5."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean

from eval.benchmarks.diahalu import DOMAINS, TYPES
from eval.tables import Row, Table
from judge.types import Label, Sample

_SPEAKER = re.compile(r"^[AB]\d+\s*:", re.MULTILINE)

Statistics = dict[str, float | int]


def statistics(dialogues: Sequence[Sample]) -> dict[str, Statistics]:
    """Figures by domain, and ``overall``.

    A round is two responses. Lengths are in words and include both speakers. The figure of a type is its
    share of all marked hallucinations (Figure 5).
    """
    parts: dict[str, list[Sample]] = {name: [] for name in dict.fromkeys(DOMAINS.values())}
    for dialogue in dialogues:
        parts[dialogue.source.removeprefix("diahalu_")].append(dialogue)
    return {name: _row(some) for name, some in {**parts, "overall": list(dialogues)}.items() if some}


def _row(dialogues: Sequence[Sample]) -> Statistics:
    lengths = [[len(turn.split()) for turn in _SPEAKER.split(item.answer)[1:]] for item in dialogues]
    rounds = [len(turns) / 2 for turns in lengths]
    words = [count for turns in lengths for count in turns]
    wrong = sum(item.label is Label.FAIL for item in dialogues)
    marks = Counter(str(found["type"]) for item in dialogues for found in item.meta["hallucinations"])
    return {
        "dialogues": len(dialogues),
        "without hallucination": len(dialogues) - wrong,
        "with hallucination": wrong,
        "rate, %": 100 * wrong / len(dialogues),
        "fewest rounds": min(rounds),
        "mean rounds": mean(rounds),
        "most rounds": max(rounds),
        "longest response, words": max(words, default=0),
        "mean response, words": mean(words or [0]),
        **{f"{kind}, %": 100 * marks[kind] / (marks.total() or 1) for kind in TYPES},
    }


def statistics_table(found: Mapping[str, Statistics]) -> Table:
    """One row per figure, one column per domain."""
    rows = [
        Row((figure, *(f"{part[figure]:.4g}" for part in found.values())), "") for figure in found["overall"]
    ]
    return Table("The dialogues", ("", *found), rows)
