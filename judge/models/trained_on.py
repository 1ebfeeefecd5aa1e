"""Which documents a judge was trained on: ``trained_on.bin`` next to ``judge.json``.

Eight bytes a document, a hash of its letters and digits, sorted: 50,000 documents are 400 kB, and none of
them can be read back. ``judge eval`` and ``judge calibrate`` warn of samples about them.
"""

import re
import shutil
import unicodedata
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from judge.errors import InputError
from judge.shipped import model_path
from judge.types import Sample

FILE = "trained_on.bin"
_SIZE = 8
_MARKS = re.compile(r"[\W_]+")


def fingerprint(document: str) -> bytes:
    """The same eight bytes for texts that differ in case, marks and spacing alone."""
    plain = unicodedata.normalize("NFKC", document).casefold()
    return blake2b(_MARKS.sub("", plain).encode(), digest_size=_SIZE).digest()


def read_trained_on(model: str) -> frozenset[bytes]:
    """The documents of a judge in a folder; none where nothing is known of it.

    Raises:
        InputError: the file holds something else.
    """
    file = Path(model_path(model)) / FILE
    if not file.is_file():
        return frozenset()
    content = file.read_bytes()
    if len(content) % _SIZE:
        raise InputError(f"holds {len(content)} bytes, not a multiple of {_SIZE}; remove it", file=file)
    return frozenset(content[start : start + _SIZE] for start in range(0, len(content), _SIZE))


def count_trained_on(model: str, samples: Iterable[Sample]) -> int:
    """How many of some samples are about documents that a judge was trained on; 0 where nothing is known."""
    known = read_trained_on(model)
    return sum(fingerprint(sample.document_text) in known for sample in samples) if known else 0


def write_trained_on(folder: Path, *documents: Iterable[bytes]) -> None:
    """Write the fingerprints of documents, if there are any, next to a judge that is being written."""
    if found := sorted(set().union(*documents)):
        (folder / FILE).write_bytes(b"".join(found))


def carry_trained_on(judge: str, folder: Path) -> None:
    """Copy what is known of one judge to another that is made of it, such as a merged one."""
    file = Path(model_path(judge)) / FILE
    if file.is_file():
        shutil.copyfile(file, folder / FILE)
