"""A LoRA judge in a smaller file: a lower rank, and 16 bits a number.

What an adapter adds to a weight is a product of two thin matrices. The nearest product of a lower rank keeps
its largest singular values (Eckart and Young, 1936). Those come from a small square matrix between two QR
decompositions, so the whole product is never formed.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judge.errors import InputError
from judge.files import JUDGE_FILE, appearing, write_json
from judge.models.base import describe_base, find_model
from judge.models.checkpoint import Checkpoint
from judge.models.identity import read_identity
from judge.models.plain import more_than_a_product
from judge.progress import track

if TYPE_CHECKING:
    import torch

CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"
DOWN, UP = ".lora_A.weight", ".lora_B.weight"
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")


@dataclass(frozen=True, slots=True)
class Lowered:
    """What became of an adapter: bytes of its weights, and the share of its squared changes that is left."""

    size: int
    kept: float


def lower_rank(judge: Path, out: Path, rank: int) -> Lowered:
    """Write a LoRA judge with adapters of a lower rank, in float16.

    Args:
        judge: folder of the judge.
        out: folder for the smaller one; it gets judge.json too, without calibration and parity, which would
            be those of the weights before. Its tokenizer only where the base's is another.
        rank: of each adapter, if theirs is not lower already.

    Raises:
        InputError: ``judge`` is no LoRA judge, or of a variant that is more than a product; or ``out`` is
            there already.
    """
    import torch
    from safetensors.torch import save_file

    base, adapter = find_model(str(judge))
    if adapter is None:
        raise InputError(f"is no LoRA judge with {CONFIG}", file=judge)
    if out.exists():
        raise InputError("exists already; give another folder", file=out)
    config = json.loads((judge / CONFIG).read_text(encoding="utf-8"))
    if odd := more_than_a_product(config):
        raise InputError(f"has {odd}, which is more than a product of two matrices", file=judge / CONFIG)
    rank = min(rank, config["r"])
    factors = Checkpoint([judge / WEIGHTS])
    lowered: dict[str, torch.Tensor] = {}
    kept = whole = 0.0
    targets = [name.removesuffix(DOWN) for name in factors.tensors if name.endswith(DOWN)]
    for target in track(targets, f"pack {judge}", len(targets)):
        down, up, squares = nearest(factors.read(target + DOWN), factors.read(target + UP), rank)
        lowered |= {target + DOWN: down.half(), target + UP: up.half()}
        kept, whole = kept + float(squares[:rank].sum()), whole + float(squares.sum())
    identity = read_identity(str(judge))
    for measured in ("calibration", "parity"):
        identity.pop(measured, None)
    place = describe_base(base, out)
    # What a wheel brings again needs no place.
    identity["base"] = {name: place[name] for name in ("name", "wheel")} if "wheel" in place else place
    identity["packed"] = {"rank": rank, "kept": round(kept / whole, 4) if whole else 1.0}
    config |= {"r": rank, "lora_alpha": config["lora_alpha"] * rank / config["r"]}
    config["base_model_name_or_path"] = place["name"] if "wheel" in place else base
    with appearing(out) as folder:
        save_file(lowered, folder / WEIGHTS, metadata={"format": "pt"})
        write_json(folder / CONFIG, config)
        write_json(folder / JUDGE_FILE, identity)
        own = [judge / name for name in TOKENIZER if (judge / name).is_file()]
        if any(_differs(file, Path(base, file.name)) for file in own):
            for file in own:
                shutil.copyfile(file, folder / file.name)
    return Lowered((out / WEIGHTS).stat().st_size, identity["packed"]["kept"])


def nearest(
    down: "torch.Tensor", up: "torch.Tensor", rank: int
) -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor]":
    """The nearest product of a lower rank to ``up @ down``.

    Args:
        down: ``(r, inputs)``.
        up: ``(outputs, r)``.
        rank: so many columns of ``up`` and rows of ``down`` are left.

    Returns:
        The new factors, of like size each, and the squares of the product's singular values, largest first.
    """
    import torch
    from torch.nn.functional import pad

    inner, right = torch.linalg.qr(down.float().T)
    outer, left = torch.linalg.qr(up.float())
    u, values, v = torch.linalg.svd(left @ right.T, full_matrices=False)
    root = values[:rank].sqrt()
    filled = (0, 0, 0, rank - len(root)), (0, rank - len(root))  # a narrow layer has no more of them
    smaller = pad((root[:, None] * v[:rank]) @ inner.T, filled[0])
    return smaller, pad(outer @ (u[:, :rank] * root), filled[1]), values**2


def _differs(file: Path, other: Path) -> bool:
    return not other.is_file() or file.read_bytes() != other.read_bytes()
