"""Data sets used both for training and for measuring, and the split between the two.

Example: FIB is a source of Bi'an's training set (Table 11) and a benchmark. Each of its articles is on one
*side*: ``source`` or ``benchmark``. Training recipes read the former, ``fib_held_out`` and the rebuilt
Bi'anBench the latter, so a judge from such a recipe never saw what it is measured on (Bi'an, B.1). The side
depends only on the set's name and the opening of the document, so it is the same wherever the document
occurs: COVID-QA's article in its own file and as a passage of HaluBench.

RAGTruth's release has its own split: ``train`` is the ``source`` side, ``test`` the ``benchmark`` side.
"""

import re
import unicodedata
from collections.abc import Mapping
from hashlib import sha256
from itertools import islice
from typing import Literal

Side = Literal["source", "benchmark"]

SOURCE_SHARE: Mapping[str, float] = dict.fromkeys(
    ("covid_qa", "csds", "drop", "fib", "pdc", "pubmedqa", "webcpm", "webnlg", "webqa"), 0.5
)
"""The sets, and the share of their documents that may be trained on."""

SIDED = (*SOURCE_SHARE, "ragtruth")
"""All sets with two sides."""

HALUBENCH: Mapping[str, str] = {"covidQA": "covid_qa", "pubmedQA": "pubmedqa"}
"""HaluBench's names (``source_ds``) of the sets that are parts of it."""

OPENING = 12
"""Words at the beginning of a document that identify it; data sets may shorten documents at their ends."""

_SEED = 0
_ENOUGH = 2000  # characters that surely include the opening
_WORD = re.compile(r"\w+")


def side_of(name: str, document: str) -> Side:
    """The side of a document of a set.

    Args:
        name: one of :data:`SOURCE_SHARE`.
        document: its text, from the beginning; case, punctuation and spacing make no difference.
    """
    plain = unicodedata.normalize("NFKC", document[:_ENOUGH]).casefold()
    opening = " ".join(match[0] for match in islice(_WORD.finditer(plain), OPENING))
    place = int.from_bytes(sha256(f"{_SEED}\0{name}\0{opening}".encode()).digest()[:8])
    return "source" if place < SOURCE_SHARE[name] * 2**64 else "benchmark"


def on_side(name: str, document: str, side: Side | None) -> bool:
    """Is a document of a set on this side? ``None`` means the whole set, so always true."""
    return side is None or side_of(name, document) == side


def halubench_side(part: str, passage: str) -> Side:
    """The side of a row of HaluBench; always ``benchmark`` for parts that are not sources.

    Args:
        part: its ``source_ds``.
        passage: its ``passage``.
    """
    return side_of(HALUBENCH[part], passage) if part in HALUBENCH else "benchmark"
