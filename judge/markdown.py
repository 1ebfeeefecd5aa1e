"""Text and tables in Markdown."""

import html
import re
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"([\\`*_\[\]|#~])")


def plain(text: object) -> str:
    """A text as one line of Markdown, escaped so that it shows literally."""
    return _MARKS.sub(r"\\\1", html.escape(" ".join(str(text).split()), quote=False))


def table(names: Sequence[str], rows: Iterable[Sequence[object]], texts: int = 1) -> list[str]:
    """The lines of a table. Cells are not escaped; columns after the first ``texts`` are right-aligned."""
    lines = [f"| {' | '.join(names)} |", f"|{' --- |' * texts}{' ---: |' * (len(names) - texts)}"]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)]
