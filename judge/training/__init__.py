"""Training judges with TRL: supervised fine-tuning, then preference optimization.

``config`` holds a recipe's keys; ``sft`` and ``dpo`` are the two ways through; ``sharing`` and ``pairs``
compute common prompts once; ``checkpoints`` and ``run`` lose nothing; ``memory`` tells what fits.
"""

from typing import TYPE_CHECKING

from judge.lazy import lazy
from judge.training.config import DPORecipe, SFTRecipe

if TYPE_CHECKING:
    from judge.training.dpo import train_dpo
    from judge.training.sft import train_sft

__all__ = ["DPORecipe", "SFTRecipe", "train_dpo", "train_sft"]

__getattr__, __dir__ = lazy(__name__, {"train_dpo": "judge.training.dpo", "train_sft": "judge.training.sft"})
