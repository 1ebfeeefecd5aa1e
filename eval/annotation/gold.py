"""From annotations to labelled data: the majority's labels, as samples or in DiaHalu's released format."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from eval.annotation.label_studio import Annotation, Shown, by_sample
from eval.benchmarks import diahalu
from eval.benchmarks.diahalu import TYPES
from judge.errors import InputError, unknown
from judge.types import Label, Sample

DOMAINS = {domain: name for name, domain in reversed(diahalu.DOMAINS.items())}
"""A dialogue's ``meta.domain`` to its name in DiaHalu V2."""
Decided = tuple[Sample, Sequence[Annotation]]
"""A sample with the majority's label, and its annotations."""


def decide(samples: Sequence[Sample], annotations: Sequence[Annotation]) -> list[Decided]:
    """The samples with a majority for one label; "unsure" counts for neither, ties are left out.

    Raises:
        InputError: if an annotated sample is not among the samples, or has other texts.
    """
    known = {sample.id: sample for sample in samples}
    decided: list[Decided] = []
    for name, rows in by_sample(annotations).items():
        if name not in known or Shown.of(known[name], rows[0].sample.reasoning) != rows[0].sample:
            found = "was annotated with other texts" if name in known else "is not one of these samples"
            raise InputError(f"{name!r} {found}; give the file that was annotated", field="--samples")
        more = sum({"FAIL": 1, "PASS": -1}.get(row.label, 0) for row in rows)
        if more:
            decided.append((replace(known[name], label=Label.FAIL if more > 0 else Label.PASS), rows))
    return decided


def labelled(decided: Sequence[Decided]) -> Iterator[Sample]:
    """The samples; ``meta`` has all annotators' labels, and the marks of those who share the majority's."""
    for sample, rows in decided:
        by_annotator = {row.annotator: row.label for row in rows}
        agreeing = [row for row in rows if row.label == sample.label]
        spans = [asdict(mark) for row in agreeing for mark in row.unsupported]
        evidence = [asdict(mark) for row in agreeing for mark in row.evidence]
        found = {"annotators": by_annotator, "spans": spans, "evidence": evidence}
        yield replace(sample, meta={**sample.meta, **found})


def diahalu_rows(decided: Sequence[Decided]) -> Iterator[dict[str, Any]]:
    """Dialogues as rows of ``DiaHalu_Bench.jsonl`` (DiaHalu, appendix A.2), which ``diahalu_v2`` reads.

    The marks of those who said FAIL become turns and types. Kept are those that at least half of them made,
    or if there are none, those that most of them made.

    Raises:
        InputError: if a sample is not a dialogue of ``judge data dialogues``, or a FAIL has no typed mark.
    """
    for number, (sample, rows) in enumerate(decided, start=1):
        domain = sample.meta.get("domain")
        if domain not in DOMAINS:
            raise InputError(f"{sample.id!r}: " + unknown("domain", domain, DOMAINS), field="meta.domain")
        marked = _marked(sample, rows) if sample.label is Label.FAIL else {}
        why = list(marked.values())
        yield {
            "ID": number,
            "text": sample.answer,
            "label": int(sample.label is Label.FAIL),
            "index": json.dumps(list(marked)),
            "domain": DOMAINS[domain],
            "explaination": json.dumps(why, ensure_ascii=False),  # the release's own spelling
            "source": str(sample.meta.get("topic_source", "")),
            "Which LLM": str(sample.meta.get("model", "")),
        }


def _marked(sample: Sample, rows: Sequence[Annotation]) -> Mapping[tuple[int, str], str]:
    """Turn and type of each hallucination, with an explanation: the note, or without one the marked words."""
    votes: Counter[tuple[int, str]] = Counter()
    why: dict[tuple[int, str], str] = {}
    failing = [row for row in rows if row.label == "FAIL"]
    for row in failing:
        found = {(_turn_of(sample, mark.start), mark.type): row.note or mark.text for mark in row.unsupported}
        votes.update(found.keys())
        why = found | why
    for _, kind in votes:
        if kind not in TYPES:
            raise InputError(f"{sample.id!r}: " + unknown("type", kind, TYPES), field="unsupported")
    if not votes:
        message = f"{sample.id!r} is FAIL, but nothing is marked; mark what is wrong in the answer"
        raise InputError(message, field="unsupported")
    needed = min(len(failing) / 2, max(votes.values()))
    return {key: why[key] for key in sorted(votes) if votes[key] >= needed}


def _turn_of(sample: Sample, place: int) -> int:
    """The number of the turn ("B3: ...") that contains the character at ``place``."""
    turns = re.findall(r"^[AB](\d+):", sample.answer[: place + 1] + ":", re.MULTILINE)
    if not turns:
        raise InputError(f"{sample.id!r} is not a dialogue of turns 'A1: ...', 'B1: ...'", field="answer")
    return int(turns[-1])
