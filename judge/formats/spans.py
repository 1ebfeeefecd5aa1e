"""The places where answers are wrong, from data sets that mark them."""

from judge.types import Label, Sample


def wrong_spans(sample: Sample) -> list[tuple[int, int]] | None:
    """Where the answer of a sample is wrong, as start and end in its text; ``None`` if not known.

    Known are spans that people marked (RAGTruth's ``spans``), the ``errors`` of composed answers, and the
    text that an edit put into an answer (``inserted``), if it occurs there once. A faithful answer counts as
    having none only if its source marks wrong ones too: a source with only PASS rows would teach its style.
    """
    meta = sample.meta
    if meta.get("injection_place") == "answer":
        return None  # the attack is not supported either
    named = meta.get("spans", meta.get("errors"))
    inserted = meta.get("inserted")
    if sample.label is Label.PASS:
        return [] if named is not None or "pair" in meta else None
    if named and all("start" in one and "end" in one for one in named):
        return [(int(one["start"]), int(one["end"])) for one in named]
    if inserted and sample.answer.count(inserted) == 1:
        start = sample.answer.index(inserted)
        return [(start, start + len(inserted))]
    return None
