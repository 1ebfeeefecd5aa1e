"""What an edited document is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentEdit:
    """Two documents for one answer: one bears it, one does not.

    ``faithful`` is edited too, where the answer does not look, so that an edited document tells nothing.
    ``replaced`` is what the document says now in the place of ``inserted``, which the answer says; it is
    empty where the document says nothing. ``change`` tells what happened, in the sample's language.
    """

    edit_type: str
    faithful: str
    hallucinated: str
    change: str
    replaced: str
    inserted: str
