"""How samples were made: ``meta["kind"]``, as a build writes it."""

from judge.types import Sample

KINDS = ("edit", "added", "document", "long", "refusal", "foreign")
"""Kinds of pairs, as in ``meta["kind"]`` of both samples: a changed answer, an added sentence, an edited
document, a long answer, a refusal to answer, an answer with another one appended."""
LABELLED = "labelled"
"""The kind of samples that come unchanged from a labelled source."""


def kind_of(sample: Sample) -> str:
    """The kind of a sample; ``labelled`` if it has none, or one of another meaning in the ``meta`` of its
    source."""
    kind = sample.meta.get("kind")
    return str(kind) if kind in KINDS else LABELLED
