"""Sets that are both trained on and measured with, and the split between the two.

Example: FIB is a source of Bi'an's training set (Table 11) and a benchmark. Each of its articles is on one
*side*: ``source`` or ``benchmark``. Training recipes read the one, ``fib_held_out`` and the rebuilt
Bi'anBench the other, so a judge made by such a recipe never saw what it is measured on (Bi'an, B.1). The side
depends on the set's name and the opening of the document alone, so it is the same wherever the document turns
up: COVID-QA's article in its own file and as a passage of HaluBench.

RAGTruth's release has such a split: ``train`` is the side of the sources, ``test`` the other.
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
"""What HaluBench calls those of the sets that are parts of it (``source_ds``)."""

OPENING = 12
"""Words at the beginning of a document that name it; a set may shorten documents at their ends."""

_SEED = 0
_ENOUGH = 2000  # characters that hold the opening
_WORD = re.compile(r"\w+")


def side_of(name: str, document: str) -> Side:
    """The side on which a document of a set is.

    Args:
        name: one of :data:`SOURCE_SHARE`.
        document: its text, from its beginning; case, marks and spacing make no difference.
    """
    plain = unicodedata.normalize("NFKC", document[:_ENOUGH]).casefold()
    opening = " ".join(match[0] for match in islice(_WORD.finditer(plain), OPENING))
    place = int.from_bytes(sha256(f"{_SEED}\0{name}\0{opening}".encode()).digest()[:8])
    return "source" if place < SOURCE_SHARE[name] * 2**64 else "benchmark"


def on_side(name: str, document: str, side: Side | None) -> bool:
    """Is a document of a set on a side? Every document is on ``None``, the whole set."""
    return side is None or side_of(name, document) == side


def halubench_side(part: str, passage: str) -> Side:
    """The side on which a row of HaluBench is; of a part that is not a source, always ``benchmark``.

    Args:
        part: its ``source_ds``.
        passage: its ``passage``.
    """
    return side_of(HALUBENCH[part], passage) if part in HALUBENCH else "benchmark"
