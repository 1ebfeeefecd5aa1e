"""The tables of a document: lines of cells, and lists of JSON objects, as rows with a header."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

FEWEST = 3
"""Objects of a list that is read as a table, at least."""


def tables(document: str) -> list[list[list[str]]]:
    """Blocks of lines with the same number of cells, three lines at least."""
    found: list[list[list[str]]] = []
    block: list[list[str]] = []
    for line in [*document.splitlines(), ""]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 2 or set("".join(cells)) <= set("-: "):
            if len(cells) < 2:
                found, block = ([*found, block] if len(block) > 2 else found), []
            continue
        if block and len(cells) != len(block[0]):
            found, block = ([*found, block] if len(block) > 2 else found), []
        block.append(cells)
    return found


@lru_cache(maxsize=64)
def records(document: str) -> tuple[list[list[str]], ...]:
    """The lists of objects in a JSON document, each as rows: a header of keys, then each object's values.

    Keys of inner objects are joined by dots ("main.temp"); only what all objects of a list have is there.
    """
    if document.lstrip()[:1] not in ("{", "["):
        return ()
    try:
        found = json.loads(document)
    except ValueError:
        return ()
    return tuple(_lists(found))


def _lists(value: Any) -> Iterator[list[list[str]]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, list) and len(value) >= FEWEST and all(isinstance(one, dict) for one in value):
        flat = [dict(_leaves(one, "")) for one in value]
        keys = [key for key in flat[0] if all(key in one for one in flat)]
        if keys:
            yield [keys, *([one[key] for key in keys] for one in flat)]
    for one in inner:
        yield from _lists(one)


def _leaves(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield key, str(value)


def number_in(text: str) -> float | None:
    """The number of a cell with its unit; ``None`` where it holds no number alone."""
    match = re.fullmatch(r"[^\d-]{0,3}(-?[\d,]*\d(?:\.\d+)?)(?: ?[^\d].{0,14})?", text)
    return float(match[1].replace(",", "")) if match else None
