"""The places where answers are wrong, from data sets that mark them."""

from collections.abc import Mapping
from typing import Any

from judge.types import Label, Sample


def is_span(span: Any, text: str) -> bool:
    """Whether ``span`` is an object whose integers ``start`` and ``end`` mark a part of ``text``."""
    start, end = (span.get(key) if isinstance(span, Mapping) else None for key in ("start", "end"))
    return type(start) is int and type(end) is int and 0 <= start < end <= len(text)


def wrong_spans(sample: Sample) -> list[tuple[int, int]] | None:
    """Where the answer of a sample is wrong, as start and end in its text; ``None`` if not known.

    Known are spans that people marked (RAGTruth's ``spans``), the ``errors`` of composed answers, and the
    text that an edit put into an answer (``inserted``), if it occurs there once. A faithful answer counts as
    having none only if its source marks wrong ones too: a source with only PASS rows would teach its style.
    """
    meta = sample.meta
    if meta.get("injection_place") == "answer":
        return None  # the attack is not supported either
    named, answer = meta.get("spans", meta.get("errors")), sample.answer
    inserted = meta.get("inserted")
    if sample.label is Label.PASS:
        return [] if named is not None or "pair" in meta else None
    if named and isinstance(named, list | tuple) and all(is_span(one, answer) for one in named):
        return [(one["start"], one["end"]) for one in named]
    if inserted and answer.count(inserted) == 1:
        start = answer.index(inserted)
        return [(start, start + len(inserted))]
    return None
