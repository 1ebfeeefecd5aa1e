"""Where answers are wrong, as the data sets that label it say."""

from judge.types import Label, Sample


def wrong_spans(sample: Sample) -> list[tuple[int, int]] | None:
    """Where the answer of a sample is wrong, as start and end in its text; ``None`` where nobody knows.

    Known are spans that people labelled (RAGTruth's ``spans``), the ``errors`` of composed answers, and
    what an edit put into an answer (``inserted``), where that stands in it once. A faithful answer is known
    to have none if its source labels spans: where only its PASS rows counted, a source would teach its
    own style.
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
