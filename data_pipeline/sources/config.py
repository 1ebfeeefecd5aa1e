"""The keys of one source in a data recipe."""

from typing import Self

from pydantic import PositiveInt, field_validator, model_validator

from data_pipeline.sources.readers import KINDS, READERS
from judge.configs import StrictConfig
from judge.errors import unknown
from judge.types import Language, Task


class ConstantsConfig(StrictConfig):
    """What all samples of a source are."""

    task: Task | None = None
    language: Language | None = None


class SourceConfig(StrictConfig):
    """Where samples come from."""

    kind: str
    """``starter``: the bundled corpus. ``file``: samples of your own. ``squad``: a file in SQuAD's form.
    ``hub``: a data set of the Hub. Or the name of a public set (:data:`~data_pipeline.sources.READERS`)."""
    path: str | None = None
    """``file``: a .jsonl, .csv or .parquet file. ``squad``: a .json file. ``hub``: ``owner/name``.
    Public sets: the folder that holds one folder for each set; ``JUDGE_DATA_DIR`` by default."""
    split: str | None = None
    """Public sets that have several, and ``hub``: which one; by default the first, usually ``train``."""
    subset: str | None = None
    """``hub``: the configuration, where the data set has several."""
    columns: dict[str, str] | None = None
    """``file``, ``hub``: where columns have other names, {field of a sample: column}; others are left out."""
    constants: ConstantsConfig = ConstantsConfig()
    """``file``, ``hub``, ``squad``: the task and the language of all samples, which rows rarely name."""
    languages: list[Language] | None = None
    tasks: list[Task] | None = None
    """Only samples of these languages and tasks; all by default."""
    limit: PositiveInt | None = None
    """At most so many samples, whole documents, chosen by the seed."""
    perturb: bool | None = None
    """Other than the recipe's ``perturb``."""

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(unknown("kind", kind, KINDS))
        return kind

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> Self:
        if self.path is None and self.kind in ("file", "squad", "hub"):
            raise ValueError(f"kind {self.kind} needs a path")
        for name, kinds in (
            ("path", KINDS[1:]),
            ("columns", ("file", "hub")),
            ("subset", ("hub",)),
            ("constants", ("file", "hub", "squad")),
        ):
            default = type(self).model_fields[name].default
            if getattr(self, name) != default and self.kind not in kinds:
                raise ValueError(f"kind {self.kind} takes no {name}")
        if self.split is not None and self.kind != "hub":
            splits = READERS[self.kind].splits if self.kind in READERS else ()
            if not splits:
                raise ValueError(f"kind {self.kind} takes no split")
            if self.split not in splits:
                raise ValueError(unknown("split", self.split, splits))
        return self
