"""The keys of a data recipe (``data.yaml``). Every key here is read, and no other is allowed."""

from typing import Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from data_pipeline.perturb import EDIT_TYPES
from judge.configs import StrictConfig
from judge.errors import unknown
from judge.types import Language, Task

Share = float


class SourceConfig(StrictConfig):
    """Where samples come from."""

    kind: Literal["starter", "file", "ragtruth"]
    """``starter``: the bundled corpus. ``file``: samples of your own. ``ragtruth``: its ``train`` split."""
    path: str | None = None
    """``file``: a .jsonl, .csv or .parquet file. ``ragtruth``: the folder that
    holds ``ragtruth/`` with its two original files; ``JUDGE_DATA_DIR`` by default."""
    columns: dict[str, str] | None = None
    """``file``: where it names its columns differently, {field of a sample: column of the file}."""
    languages: list[Language] | None = None
    tasks: list[Task] | None = None
    """Only samples of these languages and tasks; all by default."""
    limit: PositiveInt | None = None
    """At most so many samples, whole documents, chosen by the seed."""

    @model_validator(mode="after")
    def _path_where_needed(self) -> Self:
        if self.kind == "file" and self.path is None:
            raise ValueError("kind file needs a path")
        if self.kind == "starter" and self.path is not None:
            raise ValueError("kind starter takes no path")
        if self.columns is not None and self.kind != "file":
            raise ValueError(f"kind {self.kind} takes no columns")
        return self


class SplitConfig(StrictConfig):
    """Shares of documents that are held out; the rest is trained on."""

    validation: Share = Field(default=0.08, gt=0, lt=1)
    test: Share = Field(default=0.15, ge=0, lt=1)


class ModesConfig(StrictConfig):
    """Share of the samples that get a row in each mode; twins are chosen together."""

    verdict: Share = Field(default=1.0, ge=0, le=1)
    reason: Share = Field(default=0.25, ge=0, le=1)


class PreferenceConfig(StrictConfig):
    """Preference pairs for DPO."""

    pairs: NonNegativeInt = 64
    """Pairs in the training split, half about faithful answers and half about hallucinated ones."""
    model: str | None = None
    """Its own wrong judgements become the rejected ones first; composed ones fill up. Without, all are."""
    candidates: PositiveInt = 128
    """How many samples the model judges in search of its mistakes."""
    reason_share: Share = Field(default=0.25, ge=0, le=1)
    """Share of the pairs in reason mode."""
    max_new_tokens: PositiveInt = 96


class DataConfig(StrictConfig):
    """A data recipe."""

    output: str
    """Folder for the data set."""
    sources: list[SourceConfig] = Field(min_length=1)
    perturb: bool = True
    """Make a perturbed twin of every gold answer. ``false`` takes labelled samples as they are."""
    edit_types: tuple[str, ...] = EDIT_TYPES
    from_document: Share = Field(default=0.6, ge=0, le=1)
    """Wished share of edits that bring in nothing new to the document; the others change words or facts."""
    edits: Share = Field(default=1.0, ge=0, le=1)
    """Share of gold answers that get a pair with one edited fact."""
    additions: Share = Field(default=0.5, ge=0, le=1)
    """Share of gold answers that get a pair with an added sentence: the easy ones, to start from."""
    splits: SplitConfig = SplitConfig()
    modes: ModesConfig = ModesConfig()
    preferences: PreferenceConfig = PreferenceConfig()
    seed: int = 0

    @field_validator("edit_types")
    @classmethod
    def _known_edits(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in EDIT_TYPES:
                raise ValueError(unknown("edit type", name, EDIT_TYPES))
        return names
