"""A model's safetensors files in another number format, a piece at a time: no tensor is held whole."""

import json
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from judge.errors import JudgeError
from judge.models.checkpoint import FORMATS, Checkpoint, StoredTensor, header

if TYPE_CHECKING:
    import torch

PIECE = 2**22
"""Bytes that are read, converted and written at once."""


def converted(source: Checkpoint, folder: Path, dtype: str) -> Checkpoint:
    """The files of a checkpoint in another folder, their floating-point tensors in one number format.

    Args:
        source: what is copied; names of files and of tensors stay.
        folder: where the copies go.
        dtype: PyTorch's name of the number format.

    Raises:
        JudgeError: a number is too large for it.
    """
    return Checkpoint([_convert(file, folder / file.name, dtype) for file in source.files])


def to_format(numbers: "torch.Tensor", dtype: str, name: str) -> "torch.Tensor":
    """Numbers of the tensor ``name`` in another format. Raises ``JudgeError`` if one is too large for it."""
    import torch

    formed = numbers.to(getattr(torch, dtype))
    if formed.isinf().any() and not numbers.isinf().any():
        raise JudgeError(f"{name} holds a number that is too large for {dtype}; take float32 or bfloat16")
    return formed


def _convert(file: Path, copy: Path, dtype: str) -> Path:
    """Write one file's copy."""
    stored = header(file)
    formed = {name: _formed(tensor, dtype) for name, tensor in stored.items()}
    # The widest numbers first, as safetensors itself does: those that are memory-mapped must be aligned.
    names = sorted(formed, key=lambda name: (-formed[name].size // max(1, prod(formed[name].shape)), name))
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name in names:
        start, end = end, end + formed[name].size
        place = formed[name]
        entries[name] = {"dtype": place.format, "shape": place.shape, "data_offsets": [start, end]}
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with file.open("rb") as old, copy.open("wb") as new:
        new.write(len(text).to_bytes(8, "little") + text)
        for name in names:
            for piece in _pieces(old, stored[name]):
                same = stored[name].format == formed[name].format
                new.write(piece if same else _recoded(piece, stored[name].format, dtype, name))
    return copy


def _formed(tensor: StoredTensor, dtype: str) -> StoredTensor:
    """The form of a tensor in the copy; whole numbers and such stay as they are."""
    import torch

    if tensor.format not in FORMATS:
        return tensor
    code = next(code for code, name in FORMATS.items() if name == dtype)
    return replace(tensor, format=code, size=prod(tensor.shape) * getattr(torch, dtype).itemsize)


def _pieces(stream: BinaryIO, tensor: StoredTensor) -> Iterator[bytearray]:
    """The bytes of a tensor."""
    stream.seek(tensor.offset)
    for start in range(0, tensor.size, PIECE):
        yield bytearray(stream.read(min(PIECE, tensor.size - start)))


def _recoded(piece: bytearray, code: str, dtype: str, name: str) -> memoryview:
    import torch

    numbers = torch.frombuffer(piece, dtype=getattr(torch, FORMATS[code]))
    data: memoryview = to_format(numbers, dtype, name).view(torch.uint8).numpy().data
    return data
