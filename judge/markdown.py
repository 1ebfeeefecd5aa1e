"""Text and tables in Markdown."""

import html
import re
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"([\\`*_\[\]|#~])")


def plain(text: object) -> str:
    """A text as one line of Markdown that shows it and nothing else."""
    return _MARKS.sub(r"\\\1", html.escape(" ".join(str(text).split()), quote=False))


def table(names: Sequence[str], rows: Iterable[Sequence[object]], texts: int = 1) -> list[str]:
    """A table in lines. Cells stand as they are; the columns after the first ``texts`` hold numbers."""
    lines = [f"| {' | '.join(names)} |", f"|{' --- |' * texts}{' ---: |' * (len(names) - texts)}"]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)]
