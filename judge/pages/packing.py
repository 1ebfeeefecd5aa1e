"""The weights of a public BERT by the names that they have in a judge that reads pages.

What training changed of them is packed by :mod:`judge.encoder.packing`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

BACKBONE = "backbone."


def base_weights(base: Path) -> "dict[str, torch.Tensor]":
    """In float32. Raises ``InputError`` where the folder holds no weights in safetensors."""
    from judge.pages.bert import stored_weights

    return {BACKBONE + name: value.float() for name, value in stored_weights(base).items()}
