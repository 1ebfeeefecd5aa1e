"""Triples of a document: lines ``subject | predicate | value``."""

from typing import NamedTuple


class Triple(NamedTuple):
    """One RDF triple."""

    subject: str
    predicate: str
    value: str

    def __str__(self) -> str:
        return " | ".join(self)


def triples_of(document: str) -> list[Triple]:
    """The triples of a document; empty unless all its lines are triples."""
    lines = [line.split(" | ") for line in document.strip().split("\n")]
    return [Triple(*line) for line in lines] if all(len(line) == 3 for line in lines) else []
