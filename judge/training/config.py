"""The keys of a training recipe. A recipe is a YAML file; every key here is read, and no other is allowed."""

from typing import Literal

from pydantic import Field, PositiveFloat, PositiveInt

from judge.configs import StrictConfig
from judge.loading import Precision


class LoraSettings(StrictConfig):
    """Low-rank adapters on every linear layer but the LM head (LoRA, arXiv 2106.09685)."""

    rank: PositiveInt = 16
    alpha: PositiveInt = 32
    dropout: float = Field(default=0.0, ge=0, lt=1)


class TrainingConfig(StrictConfig):
    """What supervised fine-tuning and DPO have in common."""

    model: str
    """Hub id or local folder of the model to start from."""
    data: str
    """Folder made by ``judge data build``."""
    without_leak_gate: bool = False
    """Train on data whose leak gate was not run, or was run against other data."""
    output: str
    """Folder for the adapter, its ``judge.json`` and its model card."""
    max_length: PositiveInt = 2048
    """Tokens of prompt and completion together; longer documents are shortened."""
    max_cut_share: float = Field(default=0.05, ge=0, le=1)
    """Largest share of rows whose document may be shortened; more is an error."""
    lora: LoraSettings | None = LoraSettings()
    """``null`` trains all weights."""
    precision: Precision = "auto"
    epochs: PositiveFloat = 1.0
    max_steps: int = -1
    """Optimizer steps; -1 goes by ``epochs``."""
    max_minutes: PositiveFloat | None = None
    """Stop after this time, at a step's end, whatever is left."""
    batch_size: PositiveInt = 8
    gradient_accumulation: PositiveInt = 1
    learning_rate: PositiveFloat = 2e-4
    scheduler: Literal["linear", "cosine", "constant", "constant_with_warmup", "warmup_stable_decay"] = (
        "cosine"
    )
    """``warmup_stable_decay`` holds the rate and lowers it in the last fifth of the run."""
    warmup_ratio: float = Field(default=0.1, ge=0, lt=1)
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: PositiveFloat = 1.0
    gradient_checkpointing: bool = False
    evaluations: int = Field(default=1, ge=0)
    """How often the validation loss is measured, spread over the run; 0 is never."""
    logging_steps: PositiveInt = 10
    report_to: tuple[str, ...] = ()
    """Experiment trackers of the trainer, such as tensorboard or wandb."""
    seed: int = 0


class SFTRecipe(TrainingConfig):
    """Supervised fine-tuning on right judgements."""

    prefix_sharing: bool = True
    """Rows about one document train in one sequence, their common prefix computed once."""
    sequence_tokens: PositiveInt = 2048
    """Longest such sequence."""
    loss_mean: Literal["row", "token"] = "row"
    """``row`` weighs every row alike, ``token`` every completion token, as TRL does."""


class DPORecipe(TrainingConfig):
    """Direct Preference Optimization (arXiv 2305.18290) from merged SFT weights."""

    batch_size: PositiveInt = 4
    learning_rate: PositiveFloat = 5e-6
    beta: PositiveFloat = 0.1
    loss_type: tuple[str, ...] = ("sigmoid",)
    """One or more of TRL's DPO losses."""
