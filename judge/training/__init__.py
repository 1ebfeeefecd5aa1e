"""Training judges with TRL: supervised fine-tuning, then preference optimization.

``config`` holds the keys of recipes; ``sft`` and ``dpo`` train; ``sharing`` and ``pairs`` compute common
prompts once; ``checkpoints`` and ``run`` save and resume; ``memory`` estimates what fits.
"""

from typing import TYPE_CHECKING

from judge.lazy import lazy
from judge.training.config import DPORecipe, SFTRecipe

if TYPE_CHECKING:
    from judge.training.dpo import train_dpo
    from judge.training.sft import train_sft

__all__ = ["DPORecipe", "SFTRecipe", "train_dpo", "train_sft"]

__getattr__, __dir__ = lazy(__name__, {"train_dpo": "judge.training.dpo", "train_sft": "judge.training.sft"})
