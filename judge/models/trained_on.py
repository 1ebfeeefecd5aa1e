"""Which documents a judge was trained on: ``trained_on.bin`` next to ``judge.json``.

It holds eight bytes per document, a hash of its letters and digits, sorted: 50,000 documents take 400 kB, and
no text can be recovered. ``judge eval`` and ``judge calibrate`` warn of samples about these documents.
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
    """A hash of eight bytes, the same for texts that differ only in case, punctuation and spacing."""
    plain = unicodedata.normalize("NFKC", document).casefold()
    return blake2b(_MARKS.sub("", plain).encode(), digest_size=_SIZE).digest()


def read_trained_on(model: str) -> frozenset[bytes]:
    """Fingerprints of the documents that a local judge was trained on; empty if they are unknown.

    Raises:
        InputError: if the file is not a list of fingerprints.
    """
    file = Path(model_path(model)) / FILE
    if not file.is_file():
        return frozenset()
    content = file.read_bytes()
    if len(content) % _SIZE:
        raise InputError(f"holds {len(content)} bytes, not a multiple of {_SIZE}; remove it", file=file)
    return frozenset(content[start : start + _SIZE] for start in range(0, len(content), _SIZE))


def count_trained_on(model: str, samples: Iterable[Sample]) -> int:
    """How many samples are about documents that a judge was trained on; 0 if these are unknown."""
    known = read_trained_on(model)
    return sum(fingerprint(sample.document_text) in known for sample in samples) if known else 0


def write_trained_on(folder: Path, *documents: Iterable[bytes]) -> None:
    """Write the fingerprints of documents, if there are any, to the folder of a judge."""
    if found := sorted(set().union(*documents)):
        (folder / FILE).write_bytes(b"".join(found))


def carry_trained_on(judge: str, folder: Path) -> None:
    """Copy the file of a judge to another that is made from it, such as a merged one."""
    file = Path(model_path(judge)) / FILE
    if file.is_file():
        shutil.copyfile(file, folder / FILE)
