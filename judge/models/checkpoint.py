"""Reads and writes a model's safetensors files tensor by tensor, since it may be larger than memory."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.errors import JudgeError
from judge.files import write_json

if TYPE_CHECKING:
    import torch

SHARD = 2 * 10**9
"""Approximate size of the files to write, in bytes."""


class Checkpoint:
    """The safetensors files of a model as one set of named tensors; ``shapes`` maps names to shapes.

    Args:
        files: the files of one model.

    Raises:
        JudgeError: if a file is damaged.
    """

    def __init__(self, files: Sequence[Path]):
        from safetensors import SafetensorError, safe_open

        self.files = files
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._stored: dict[str, Any] = {}
        for file in files:
            try:
                stored = safe_open(file, "pt")
            except (SafetensorError, OSError) as error:
                raise JudgeError(f"{file}: the weights could not be loaded ({error})") from error
            for name in stored.keys():  # noqa: SIM118 (not a dictionary)
                self.shapes[name], self._stored[name] = tuple(stored.get_slice(name).get_shape()), stored

    def read(self, name: str) -> "torch.Tensor":
        """A tensor in its stored number format. Raises ``JudgeError`` for 8-bit floats."""
        value: torch.Tensor = self._stored[name].get_tensor(name)
        if value.is_floating_point() and value.dtype.itemsize == 1:
            raise JudgeError(
                f"{self.files[0]}: {name} is stored as {value.dtype}, which cannot be computed with"
            )
        return value


def find_checkpoint(model: str) -> tuple[Checkpoint, list[Path]]:
    """The weights of a model folder or Hub id, and its ``config.json`` and generation settings.

    Raises:
        OSError: if the Hub has no such model, or the model has no safetensors.
        JudgeError: if a file is damaged.
    """
    from transformers.utils import SAFE_WEIGHTS_INDEX_NAME, SAFE_WEIGHTS_NAME
    from transformers.utils.hub import cached_file, get_checkpoint_shard_files

    def find(name: str, wanted: bool = False) -> str | None:
        return cached_file(model, name, _raise_exceptions_for_missing_entries=wanted)

    settings = [find("config.json", wanted=True), find("generation_config.json")]
    single = find(SAFE_WEIGHTS_NAME)
    if single is not None:
        shards = [single]
    else:
        shards, _ = get_checkpoint_shard_files(model, find(SAFE_WEIGHTS_INDEX_NAME, wanted=True))
    return Checkpoint([*map(Path, shards)]), [Path(file) for file in settings if file is not None]


def to_format(numbers: "torch.Tensor", dtype: str, name: str) -> "torch.Tensor":
    """Convert the tensor ``name`` to a format. Raises ``JudgeError`` if a number is too large for it."""
    import torch

    formed = numbers.to(getattr(torch, dtype))
    if formed.isinf().any() and not numbers.isinf().any():
        raise JudgeError(f"{name} holds a number that is too large for {dtype}; take float32 or bfloat16")
    return formed


def write_checkpoint(tensors: "Iterable[tuple[str, torch.Tensor]]", folder: Path) -> int:
    """Write tensors as they arrive, to one file or to several with an index; returns their bytes."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file
    from transformers.utils import SAFE_WEIGHTS_INDEX_NAME, SAFE_WEIGHTS_NAME

    parts: list[list[str]] = []
    held: dict[str, torch.Tensor] = {}
    size = 0

    def flush() -> None:
        try:
            save_file(held, folder / f"part-{len(parts)}", metadata={"format": "pt"})
        except SafetensorError as error:  # such as a full disk
            raise OSError(error) from error
        parts.append([*held])
        held.clear()

    for name, value in tensors:
        if held and sum(other.nbytes for other in held.values()) + value.nbytes > SHARD:
            flush()
        held[name] = value.contiguous()
        size += value.nbytes
    flush()
    if len(parts) == 1:
        (folder / "part-0").rename(folder / SAFE_WEIGHTS_NAME)
        return size
    places: dict[str, str] = {}
    for number, names in enumerate(parts):
        file = f"model-{number + 1:05}-of-{len(parts):05}.safetensors"
        (folder / f"part-{number}").rename(folder / file)
        places |= dict.fromkeys(names, file)
    write_json(folder / SAFE_WEIGHTS_INDEX_NAME, {"metadata": {"total_size": size}, "weight_map": places})
    return size
