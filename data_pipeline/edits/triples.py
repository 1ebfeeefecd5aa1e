"""Triples of a document, lines ``subject | relation | object``, and where an answer names them."""

import re
from functools import lru_cache

Triple = tuple[str, str, str]


@lru_cache(maxsize=64)
def _triples(document: str) -> tuple[Triple, ...]:
    found = []
    for line in document.splitlines():
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3 or not all(parts):
            return ()
        found.append((parts[0], parts[1], parts[2].strip('"')))
    return tuple(found)


def triples(document: str) -> list[Triple]:
    """The triples of a document that is made of nothing else; none of any other document."""
    return list(_triples(document))


def place_of(name: str, answer: str) -> tuple[int, int] | None:
    """Where an answer names a thing, if it does so once; what a bracket adds to a name may be missing."""
    for text in dict.fromkeys((name, re.sub(r" \(.*\)$", "", name), name.split(",")[0])):
        if len(text) < 3 or text not in answer:
            continue
        spots = [m.span() for m in re.finditer(rf"(?<![\w-]){re.escape(text)}(?![\w-]| [A-Z])", answer)]
        if spots:
            return spots[0] if len(spots) == 1 else None
    return None
