"""The keys of a training recipe. A recipe is a YAML file; every key here is read, and no other is allowed."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt

from judge.configs import StrictConfig
from judge.models.weights import Precision
from judge.training.sharing import LossMean


class LoraSettings(StrictConfig):
    """Low-rank adapters on every linear layer but the LM head (LoRA, arXiv 2106.09685)."""

    rank: PositiveInt = 16
    alpha: PositiveInt = 32
    dropout: float = Field(default=0.0, ge=0, lt=1)


class RunConfig(StrictConfig):
    """What every training has in common."""

    gone: ClassVar[Mapping[str, str]] = {
        "optimizer": "write trainer: {optim: paged_adamw_8bit}, by transformers' names; Lion is lion_32bit",
        "betas": "write trainer: {adam_beta1: 0.9, adam_beta2: 0.95}",
        "weight_decay": "write trainer: {weight_decay: 0.01}",
        "warmup_steps": "write trainer: {warmup_steps: 100}",
        "logging_steps": "write trainer: {logging_steps: 10}",
        "beta": "write trainer: {beta: 0.1}",
        "loss_type": "write trainer: {loss_type: [sigmoid]}",
        "max_grad_norm": "write trainer: {max_grad_norm: 1.0}",
        "report_to": "write trainer: {report_to: [trackio]}",
        "batch_of": "write prefix_sharing: false, with which batch_size counts rows",
    }

    model: str
    """Hub id or local folder of the model to start from; a LoRA adapter's folder trains that adapter on."""
    data: str
    """Folder made by ``judge data build``."""
    without_leak_gate: bool = False
    """Train on data whose leak gate was not run, or was run against other data."""
    output: str
    """Folder for the adapter, its ``judge.json`` and its model card."""
    max_cut_share: float = Field(default=0.05, ge=0, le=1)
    """Largest share of rows whose document may be shortened; more is an error."""
    precision: Precision = "auto"
    epochs: PositiveFloat = 1.0
    max_steps: int = -1
    """Optimizer steps; -1 goes by ``epochs``."""
    max_minutes: PositiveFloat | None = None
    """Train for at most so long; the learning rate falls by then as if all steps had been made."""
    gradient_accumulation: PositiveInt = 1
    learning_rate: PositiveFloat = 2e-4
    scheduler: Literal["linear", "cosine", "constant", "constant_with_warmup", "warmup_stable_decay"] = (
        "cosine"
    )
    """``warmup_stable_decay`` holds the rate and lowers it in the last fifth of the run."""
    warmup_ratio: float = Field(default=0.1, ge=0, lt=1)
    evaluations: int = Field(default=1, ge=0)
    """How often the validation split is measured, spread over the run: its loss, and as a judge verdict-mode
    balanced accuracy, AUROC and coverage; 0 is never."""
    judged_samples: NonNegativeInt = 200
    """Validation samples that are judged at each evaluation, whole documents; 0 judges none."""
    keep_best: bool = True
    """Save the weights of the best evaluation (balanced accuracy, then AUROC) instead of the last ones."""
    checkpoints: NonNegativeInt = 0
    """How often the state of the run is saved, spread over it, so that it can be resumed; 0 is never."""
    resume: bool = False
    """Go on from the last complete checkpoint in ``output``, if there is one."""
    overwrite: bool = False
    """Replace the judge in ``output``, and remove the checkpoints of a run that is not finished."""
    seed: int = 0
    trainer: dict[str, Any] = Field(default_factory=dict)
    """Any other argument of the trainer by its own name, ``{optim: lion_32bit, weight_decay: 0.01}``: those
    of ``SFTConfig``, ``DPOConfig``, or for an encoder of transformers' ``TrainingArguments``."""


class TrainingConfig(RunConfig):
    """What supervised fine-tuning and DPO of language models have in common."""

    max_length: PositiveInt = 2048
    """Tokens of prompt and completion together; longer documents are shortened."""
    lora: LoraSettings | None = LoraSettings()
    """``null`` trains all weights."""
    quantization: Literal["nf4"] | None = None
    """``nf4``: the base weights in 4 bits, with LoRA on top (QLoRA, arXiv 2305.14314)."""
    batch_size: PositiveInt = 8
    gradient_checkpointing: bool = False


class EncoderRecipe(RunConfig):
    """Training of an encoder: all of its weights but the word embeddings, or LoRA adapters."""

    reads: Literal["pairs", "pages"] = "pairs"
    """``pairs``: a plain cross-encoder. ``pages``: windows computed once for all answers, with n-gram overlap
    features (:mod:`judge.pages`); a BERT alone. An encoder judge stays what it is."""
    window_tokens: PositiveInt = 512
    """Longest pair of a document's window with question and answer, or longest window of a page; at most what
    the encoder reads."""
    sentences: Literal["whole", "worst"] = "whole"
    """An answer is read as a whole, or sentence by sentence and judged by its worst one."""
    max_pairs: PositiveInt = 4
    """Windows of the document times parts of the answer; samples that need more are left out."""
    batch_tokens: PositiveInt = 4096
    """Padded tokens of a batch."""
    source_weights: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    """How often an epoch sees the samples of a source: 2 is twice, 0.5 half of them, drawn by the seed, 0
    leaves them out; 1 where a source is not named."""
    dressings: float = Field(default=0.0, ge=0, le=1)
    """Share of the training samples that are seen once more with a dressed answer: markdown, a citation mark,
    an emoji, a polite phrase. Both labels alike, so that a judge learns that dress changes no fact."""
    token_weight: float = Field(default=0.5, ge=0)
    """Weight of the loss on the answers' tokens, where that on answers has 1; 0 learns from answers alone."""
    lora: LoraSettings | None = None
    """Adapters on every linear layer of the encoder; they are merged when the judge is saved."""


class SFTRecipe(TrainingConfig):
    """Supervised fine-tuning on right judgements."""

    prefix_sharing: bool = True
    """Rows about one document train in one sequence, their common prefix computed once."""
    sequence_tokens: PositiveInt = 2048
    """Longest such sequence."""
    max_tokens: PositiveInt | None = None
    """Computed tokens of an epoch at most: whole documents, drawn by the seed. Trains several data sets for
    the same work."""
    max_row_tokens: PositiveInt | None = None
    """Only rows of at most this many tokens, prompt and reply together: a first stage of short documents."""
    source_weights: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    """How often an epoch sees the documents of a source, as for encoders."""
    loss_mean: LossMean = "row"
    """``row`` weighs every row alike, ``token`` every completion token, as TRL does."""


class DPORecipe(TrainingConfig):
    """Direct Preference Optimization (arXiv 2305.18290) from an SFT judge: its adapter, or merged weights."""

    batch_size: PositiveInt = 4
    learning_rate: PositiveFloat = 5e-6
    prefix_sharing: bool = True
    """A pair trains as one sequence, its prompt computed once; ``false`` is TRL's own path."""
