"""From annotations to labelled data: the majority's labels, as samples or in DiaHalu's released form."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eval.annotation.records import UNSURE, Annotation, by_sample
from eval.benchmarks.diahalu import TYPES
from judge.errors import InputError, unknown
from judge.types import Label, Sample

DOMAINS = {
    "knowledge": "World Knowledge",
    "task": "Task-oriented Style",
    "chit-chat": "Chit-Chat",
    "reasoning": "Reasoning",
}
"""A dialogue's ``meta.domain``, and what DiaHalu's released file calls it."""
_TURN = re.compile(r"^([AB])(\d+):", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Decided:
    """A sample with the label of most annotators, and what they said."""

    sample: Sample
    rows: Sequence[Annotation]


def majority(rows: Sequence[Annotation]) -> Label | None:
    """The label that more annotators gave than the other; ``None`` if there is none. "Unsure" counts for
    neither."""
    counts = Counter(row.label for row in rows if row.label != UNSURE)
    if counts["PASS"] == counts["FAIL"]:
        return None
    return Label(max(counts, key=lambda label: counts[label]))


def decide(samples: Sequence[Sample], annotations: Sequence[Annotation]) -> tuple[list[Decided], list[str]]:
    """The samples that a majority gave a label, with it; and the ids of those that it gave none.

    Samples that nobody annotated are left out of both.

    Raises:
        InputError: an annotation is about none of the samples.
    """
    known = {sample.id for sample in samples}
    said = by_sample(annotations)
    for name in said:
        if name not in known:
            raise InputError(f"{name!r} is none of these samples; give the file that was annotated")
    decided, open_ = [], []
    for sample in samples:
        rows = said.get(sample.id, [])
        label = majority(rows)
        if label is not None:
            decided.append(Decided(replace(sample, label=label), rows))
        elif rows:
            open_.append(sample.id)
    return decided, open_


def labelled(decided: Sequence[Decided]) -> Iterator[Sample]:
    """The samples, with each annotator's label in ``meta["annotators"]``."""
    for item in decided:
        said = {row.annotator: row.label for row in item.rows}
        yield replace(item.sample, meta={**item.sample.meta, "annotators": said})


def diahalu_rows(decided: Sequence[Decided]) -> Iterator[dict[str, Any]]:
    """Dialogues as rows of ``DiaHalu_Bench.jsonl`` (DiaHalu, appendix A.2), which the ``diahalu_v2`` reads.

    The marks of those who said FAIL become turns and types; kept is what at least half of them marked, or
    else what most of them did.

    Raises:
        InputError: a sample is no dialogue of ``judge data dialogues``, or a FAIL has no typed mark.
    """
    for number, item in enumerate(decided, start=1):
        sample = item.sample
        domain = sample.meta.get("domain")
        if domain not in DOMAINS:
            raise InputError(f"{sample.id!r}: " + unknown("domain", domain, DOMAINS), field="meta.domain")
        marked = _marked(item) if sample.label is Label.FAIL else {}
        yield {
            "ID": number,
            "text": sample.answer,
            "label": int(sample.label is Label.FAIL),
            "index": json.dumps([[turn, kind] for turn, kind in marked]),
            "domain": DOMAINS[domain],
            "explaination": json.dumps(
                list(marked.values()), ensure_ascii=False
            ),  # the release's own spelling
            "source": str(sample.meta.get("topic_source", "")),
            "Which LLM": str(sample.meta.get("model", "")),
        }


def _marked(item: Decided) -> Mapping[tuple[int, str], str]:
    """Turn and type of each hallucination, with an explanation: a note, or else the marked words."""
    votes: Counter[tuple[int, str]] = Counter()
    why: dict[tuple[int, str], str] = {}
    failing = [row for row in item.rows if row.label == "FAIL"]
    for row in failing:
        for mark in row.unsupported:
            if mark.type not in TYPES:
                raise InputError(f"{item.sample.id!r}: " + unknown("type", mark.type, TYPES), field="type")
        found = {(turn_of(item.sample, mark.start), mark.type): mark.text for mark in row.unsupported}
        votes.update(found.keys())
        for key, text in found.items():
            why[key] = why.get(key) or row.note or text
    if not votes:
        raise InputError(
            f"{item.sample.id!r} is FAIL and nothing is marked; annotate with --types diahalu",
            field="unsupported",
        )
    needed = min(len(failing) / 2, max(votes.values()))
    return {key: why[key] for key in sorted(votes) if votes[key] >= needed}


def turn_of(sample: Sample, place: int) -> int:
    """The number of the turn in which a character of a dialogue stands.

    Raises:
        InputError: no turn ("B3: ...") begins at or before it.
    """
    turns = [int(found[2]) for found in _TURN.finditer(sample.answer) if found.start() <= place]
    if not turns:
        raise InputError(f"{sample.id!r} is no dialogue of turns 'A1: ...', 'B1: ...'", field="answer")
    return turns[-1]
