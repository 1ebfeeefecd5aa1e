"""The safetensors files of a model, tensor by tensor: what is larger than memory can be read and changed.

A safetensors file is a header that says where each tensor lies, and the tensors' bytes. A tensor of another
value and the same form is written over the old one; names, order and shards stay.
:mod:`judge.models.conversion` makes copies in another number format.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.errors import JudgeError

if TYPE_CHECKING:
    import torch

FORMATS = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16"}
"""Number formats that can be computed with, as a header names them and as PyTorch does."""


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A tensor's place in a file: ``size`` bytes from ``offset``. ``format`` is the header's name of it."""

    file: Path
    format: str
    shape: tuple[int, ...]
    offset: int
    size: int


class Checkpoint:
    """Some safetensors files as one set of named tensors.

    Args:
        files: of one model, or of an adapter.

    Raises:
        JudgeError: a file is damaged.
    """

    def __init__(self, files: list[Path]):
        self.files = files
        self.tensors = {name: tensor for file in files for name, tensor in header(file).items()}

    @property
    def size(self) -> int:
        """Bytes of all tensors."""
        return sum(tensor.size for tensor in self.tensors.values())

    def read(self, name: str) -> "torch.Tensor":
        """A tensor in the number format that it is stored in. Raises ``JudgeError`` for one like float8."""
        import torch

        place = self.tensors[name]
        if place.format not in FORMATS:
            raise JudgeError(
                f"{place.file}: {name} is stored as {place.format}, which cannot be computed with"
            )
        data = bytearray(place.size)
        with place.file.open("rb") as stream:
            stream.seek(place.offset)
            stream.readinto(data)
        return torch.frombuffer(data, dtype=getattr(torch, FORMATS[place.format])).reshape(place.shape)

    def write(self, name: str, value: "torch.Tensor") -> None:
        """Write other numbers over a tensor's, in the number format that it has in the file."""
        import torch

        place = self.tensors[name]
        stored = value.to(getattr(torch, FORMATS[place.format])).contiguous()
        if stored.shape != place.shape:
            raise JudgeError(f"{place.file}: {name} has the shape {place.shape}, not {tuple(stored.shape)}")
        with place.file.open("r+b") as stream:
            stream.seek(place.offset)
            stream.write(stored.view(torch.uint8).numpy().data)

    def copy(self, folder: Path) -> "Checkpoint":
        """The same files in another folder, under their names."""
        return Checkpoint([Path(shutil.copyfile(file, folder / file.name)) for file in self.files])


def find_checkpoint(model: str) -> tuple[Checkpoint, list[Path]]:
    """The weights of a model folder or Hub id, and the other files that belong to them.

    Returns:
        The checkpoint, and its ``config.json``, generation settings, and index where there are several files.

    Raises:
        OSError: the Hub has no such model, or the model has no safetensors.
        JudgeError: a file is damaged.
    """
    from transformers.utils import SAFE_WEIGHTS_INDEX_NAME, SAFE_WEIGHTS_NAME
    from transformers.utils.hub import cached_file, get_checkpoint_shard_files

    def find(name: str, wanted: bool = False) -> str | None:
        return cached_file(model, name, _raise_exceptions_for_missing_entries=wanted)

    config = find("config.json", wanted=True)
    beside = [config, find("generation_config.json")]
    single = find(SAFE_WEIGHTS_NAME)
    if single is not None:
        shards = [single]
    else:
        index = find(SAFE_WEIGHTS_INDEX_NAME, wanted=True)
        shards, _ = get_checkpoint_shard_files(model, index)
        beside.append(index)
    return Checkpoint([*map(Path, shards)]), [Path(file) for file in beside if file is not None]


def header(file: Path) -> dict[str, StoredTensor]:
    """The tensors of a file, in the order of its header. Raises ``JudgeError`` for a damaged file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "pt"):  # checks that places are within the file, and do not overlap
            pass
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            entries: dict[str, Any] = json.loads(stream.read(length))
    except (SafetensorError, OSError) as error:
        raise JudgeError(f"{file}: the weights could not be loaded ({error})") from error
    entries.pop("__metadata__", None)
    return {
        name: StoredTensor(file, entry["dtype"], tuple(entry["shape"]), 8 + length + start, end - start)
        for name, entry in entries.items()
        for start, end in [entry["data_offsets"]]
    }
