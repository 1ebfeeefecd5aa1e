"""Fingerprints of model folders, from a part of the bytes only, since weights can be large."""

from collections.abc import Container, Iterator
from hashlib import sha256
from pathlib import Path

_WHOLE = 16 * 2**20
_PIECES = 64
_PIECE = 2**16


def fingerprint(model: str, base: str | None = None, without: Container[str] = ()) -> str | None:
    """A short hex digest of the files of a local model: weights, configuration, tokenizer.

    Files of up to 16 MiB are read in full, larger ones in 64 evenly spaced pieces: training changes every
    weight. ``None`` for anything but a folder, such as the name of a model on the Hub.

    Args:
        model: the folder.
        base: digest of an adapter's base, which is included.
        without: names of files to ignore.
    """
    folder = Path(model)
    if not model or not folder.is_dir():
        return None
    digest = sha256()
    for path in sorted(folder.iterdir()):
        counts = path.suffix in (".safetensors", ".json", ".jinja", ".model") and path.name not in without
        if counts and path.is_file():
            digest.update(f"{path.name} {path.stat().st_size}\n".encode())
            for piece in _pieces(path):
                digest.update(piece)
    digest.update((base or "").encode())
    return digest.hexdigest()[:16]


def _pieces(path: Path) -> Iterator[bytes]:
    """The bytes of a small file, or evenly spaced pieces of a large one."""
    size = path.stat().st_size
    with path.open("rb") as stream:
        if size <= _WHOLE:
            yield stream.read()
            return
        for number in range(_PIECES):
            stream.seek(number * (size - _PIECE) // (_PIECES - 1))
            yield stream.read(_PIECE)
