"""How samples came about: ``meta["kind"]``, as a build writes it."""

from judge.types import Sample

KINDS = ("edit", "added", "document", "long", "refusal", "foreign")
"""Families of pairs, as ``meta["kind"]`` of both samples names them: a changed answer, an added sentence, an
edited document, a long answer, a refusal to answer, an answer with another one behind it."""
LABELLED = "labelled"
"""Counts as the kind of samples that were taken as they are."""
MIXED = (LABELLED, *KINDS, "sentence")
"""All kinds of samples; those that a mix can name."""


def kind_of(sample: Sample) -> str:
    """The kind of a sample's pair, or ``labelled`` for one that was taken as it is, even if its own ``meta``
    has a ``kind`` that means something else."""
    kind = sample.meta.get("kind")
    return str(kind) if kind in MIXED else LABELLED
