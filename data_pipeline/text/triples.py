"""Triples of a document, lines ``subject | relation | value``."""

from typing import NamedTuple


class Triple(NamedTuple):
    """One line of RDF as text."""

    subject: str
    predicate: str
    value: str

    def __str__(self) -> str:
        return " | ".join(self)


def triples_of(document: str) -> list[Triple]:
    """The triples of a document; none where one of its lines is not a triple."""
    lines = [line.split(" | ") for line in document.strip().split("\n")]
    return [Triple(*line) for line in lines] if all(len(line) == 3 for line in lines) else []
