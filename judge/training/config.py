"""The keys of a training recipe. A recipe is a YAML file; every key here is read, and no other is allowed."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, field_validator, model_validator

from judge.configs import Place, StrictConfig
from judge.models.weights import Precision
from judge.training.sharing import LossMean


class LoraSettings(StrictConfig):
    """Low-rank adapters on every linear layer but the LM head (LoRA, arXiv 2106.09685)."""

    rank: PositiveInt = 16
    alpha: PositiveInt = 32
    dropout: float = Field(default=0.0, ge=0, lt=1)


Weight = Annotated[float, Field(ge=0, le=1000)]
"""How often an epoch sees the samples of a source."""


class RunConfig(StrictConfig):
    """Keys common to all training recipes."""

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
        "max_row_tokens": "omit it; source_weights leave out the sources of long documents",
    }

    model: str
    """Hub id or local folder of the starting model; the folder of a LoRA adapter continues that adapter."""
    data: Place
    """Folder made by ``judge data build``."""
    without_leak_gate: bool = False
    """Train on data whose leak gate was not run, or was run against other data."""
    output: Place
    """Folder for the adapter, its ``judge.json`` and its model card."""
    max_cut_share: float = Field(default=0.05, ge=0, le=1)
    """Largest share of rows whose document may be shortened; more is an error."""
    precision: Precision = "auto"
    epochs: PositiveFloat = 1.0
    max_steps: int = Field(default=-1, ge=-1)
    """Optimizer steps; with -1, ``epochs`` decides."""
    max_minutes: PositiveFloat | None = None
    """Time limit for training; the learning rate schedule is completed within it."""
    gradient_accumulation: PositiveInt = 1
    learning_rate: PositiveFloat = 2e-4
    scheduler: Literal["linear", "cosine", "constant", "constant_with_warmup", "warmup_stable_decay"] = (
        "cosine"
    )
    """``warmup_stable_decay`` holds the rate and lowers it in the last fifth of the run."""
    warmup_ratio: float = Field(default=0.1, ge=0, lt=1)
    evaluations: int = Field(default=1, ge=0)
    """Number of evaluations on the validation split, spread over the run: the loss, and the judge's
    verdict-mode balanced accuracy, AUROC and coverage; 0 for none."""
    judged_samples: NonNegativeInt = 200
    """Validation samples to judge at each evaluation, drawn by whole documents; 0 for none."""
    keep_best: bool = True
    """Save the weights of the best evaluation (balanced accuracy, then AUROC) instead of the last ones."""
    checkpoints: NonNegativeInt = 0
    """Number of checkpoints to resume from, spread over the run; 0 for none."""
    resume: bool = False
    """Continue from the last complete checkpoint in ``output``, if there is one."""
    overwrite: bool = False
    """Replace the judge in ``output``, and remove the checkpoints of an unfinished run."""
    seed: int = Field(default=0, ge=0, lt=2**32)
    trainer: dict[str, Any] = Field(default_factory=dict)
    """Further trainer arguments under their own names, ``{optim: lion_32bit, weight_decay: 0.01}``: those of
    ``SFTConfig`` or ``DPOConfig``, or for an encoder those of transformers' ``TrainingArguments``."""

    @field_validator("max_steps")
    @classmethod
    def _no_empty_run(cls, steps: int) -> int:
        if steps == 0:
            raise ValueError("no step is trained; write -1 to let epochs decide")
        return steps


class TrainingConfig(RunConfig):
    """Keys common to supervised fine-tuning and DPO of language models."""

    max_length: PositiveInt = 2048
    """Tokens of prompt and completion together; longer documents are shortened."""
    lora: LoraSettings | None = LoraSettings()
    """``null`` trains all weights."""
    quantization: Literal["nf4"] | None = None
    """``nf4``: the base weights in 4 bits, with LoRA on top (QLoRA, arXiv 2305.14314)."""
    batch_size: PositiveInt = 8
    gradient_checkpointing: bool = False


WITHOUT_EFFECT = ("lora", "sentences", "first", "max_pairs")
"""Keys of an encoder's recipe that are only used for training on pairs."""


class EncoderRecipe(RunConfig):
    """Training of an encoder: all of its weights but the word embeddings, or LoRA adapters."""

    reads: Literal["pairs", "pages"] = "pairs"
    """``pairs``: a plain cross-encoder. ``pages``: windows computed once for all answers, with n-gram overlap
    features (:mod:`judge.pages`); BERT models only. A judge stays as it is."""
    window_tokens: PositiveInt = 512
    """Longest pair (document window, question and answer) or longest window of a page; at most what the
    encoder can read."""
    sentences: Literal["whole", "worst"] = "whole"
    """Read the answer as a whole, or sentence by sentence and judge it by its worst sentence."""
    first: Literal["document", "answer"] = "document"
    """The text that opens a pair: ``answer`` for a reranker, which was trained with the query first."""
    max_pairs: PositiveInt = 4
    """Limit on document windows times answer parts; samples that need more are left out."""
    batch_tokens: PositiveInt = 4096
    """Padded tokens of a batch."""
    source_weights: dict[str, Weight] = Field(default_factory=dict)
    """How often an epoch sees the samples of each source: 2 is twice, 0.5 is half of them, drawn by the seed,
    0 leaves them out. The default for a source is 1."""
    dressings: float = Field(default=0.0, ge=0, le=1)
    """Share of the training samples that are repeated with a dressed answer: markdown, a citation mark, an
    emoji, a polite phrase. Drawn whatever the label, so that the judge learns that form is not fact."""
    token_weight: float = Field(default=0.5, ge=0)
    """Weight of the loss on answer tokens, relative to the loss on answers; 0 learns from answers alone."""
    lora: LoraSettings | None = None
    """Adapters on every linear layer of the encoder, merged when the judge is saved."""


class SFTRecipe(TrainingConfig):
    """Supervised fine-tuning on correct judgements."""

    prefix_sharing: bool = True
    """Rows about one document train in one sequence, with their common prefix computed once."""
    sequence_tokens: PositiveInt = 2048
    """Longest shared sequence."""
    join_documents: bool = False
    """Fill each sequence with rows about several documents, which share the instructions before them: for
    short documents, of which the instructions are the larger part."""
    max_tokens: PositiveInt | None = None
    """Limit on the computed tokens of an epoch: whole documents are drawn by the seed. Lets several data sets
    train with the same amount of compute."""
    source_weights: dict[str, Weight] = Field(default_factory=dict)
    """How often an epoch sees the documents of a source, as for encoders."""
    loss_mean: LossMean = "row"
    """``row`` gives every row the same weight, ``token`` every completion token, as TRL does."""

    @model_validator(mode="after")
    def _joined_documents_share(self) -> Self:
        if self.join_documents and not self.prefix_sharing:
            raise ValueError("join_documents: true needs prefix_sharing: true")
        return self


class DPORecipe(TrainingConfig):
    """Direct Preference Optimization (arXiv 2305.18290) from an SFT judge: its adapter, or merged weights."""

    batch_size: PositiveInt = 4
    learning_rate: PositiveFloat = 5e-6
    prefix_sharing: bool = True
    """A pair trains as one sequence, with its prompt computed once; ``false`` uses TRL's own path."""
