"""PDC (arXiv 2010.08961): news articles in Chinese and in English that translate each other.

Bi'an takes machine translation in both directions from it (A.1 and Table 11).
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from judge.errors import InputError
from judge.files import open_text
from judge.formats.files import find_file
from judge.formats.shared import Side, on_side
from judge.types import Language, Sample, Task

ORIGINAL = "github.com/sunzewei2715/Doc2Doc_NMT"
DIRECTIONS: tuple[tuple[Language, Language], ...] = (("en", "zh"), ("zh", "en"))
LINES = 5
"""Lines of an article in one document: articles have dozens, more than both papers' judges ever read."""


def read(data_dir: Path, side: Side | None = None) -> Iterator[Sample]:
    """Both directions of ``data_dir/pdc``: files ``pdc.zh`` and ``pdc.en``, a blank line between articles.

    An article is cut into pieces of :data:`LINES` lines, which correspond. It is one piece where its two
    versions differ in lines. The group is the article, which is on one side as a whole
    (:mod:`judge.formats.shared`); a sample's language is that of its translation.
    """
    zh_path, en_path = (
        find_file(data_dir, "pdc", [f"pdc.{language}", f"pdc.{language}.sample"], ORIGINAL)
        for language in ("zh", "en")
    )
    for number, (zh, en) in enumerate(zip_longest(_articles(zh_path), _articles(en_path))):
        if zh is None or en is None:
            short, long = (zh_path, en_path) if zh is None else (en_path, zh_path)
            raise InputError(
                f"has {number} articles, but {long} has more; they do not belong together", file=short
            )
        if not on_side("pdc", " ".join(en), side):
            continue
        size = LINES if len(zh) == len(en) else max(len(zh), len(en))
        for piece, start in enumerate(range(0, len(en), size)):
            texts: dict[Language, str] = {
                "zh": "".join(zh[start : start + size]),
                "en": " ".join(en[start : start + size]),
            }
            for source, target in DIRECTIONS:
                yield Sample(
                    id=f"pdc-{number}-{piece}-{source}-{target}",
                    document=texts[source],
                    answer=texts[target],
                    task=Task.TRANSLATION,
                    language=target,
                    source="pdc",
                    group=f"pdc-{number}",
                )


def _articles(path: Path) -> Iterator[list[str]]:
    lines: list[str] = []
    with open_text(path) as stream:
        for line in stream:
            if line.strip():
                lines.append(line.strip())
            elif lines:
                yield lines
                lines = []
    if lines:
        yield lines
