"""The groups of keys of a data recipe."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, model_validator

from judge.configs import StrictConfig

Share = float


class SplitConfig(StrictConfig):
    """Shares of documents held out for validation and test; the rest is for training."""

    validation: Share = Field(default=0.08, gt=0, lt=1)
    test: Share = Field(default=0.15, ge=0, lt=1)

    @model_validator(mode="after")
    def _leaves_some(self) -> Self:
        if self.validation + self.test >= 1:
            raise ValueError(f"validation {self.validation} and test {self.test} leave nothing to train on")
        return self


class ModesConfig(StrictConfig):
    """Share of the samples that get a row in each mode; both samples of a pair are chosen or neither."""

    verdict: Share = Field(default=1.0, ge=0, le=1)
    reason: Share = Field(default=0.25, ge=0, le=1)


class PreferenceConfig(StrictConfig):
    """Preference pairs for DPO."""

    pairs: NonNegativeInt = 64
    """Pairs in the training split, half about faithful answers and half about hallucinated ones."""
    reason_share: Share = Field(default=0.25, ge=0, le=1)
    """Share of the pairs in reason mode."""
    gone: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("model", "candidates", "max_new_tokens"),
        "omit it; rejected judgements are composed, or the wrong ones of an ensemble",
    )


class ReasoningConfig(StrictConfig):
    """Where the judgements of reason mode come from."""

    way: Literal["rules", "known_label", "ensemble", "backward"] = "rules"
    """``rules``: cited from the document by rule. ``ensemble``: all teachers judge without the label; the
    first right judgement in the order of ``teachers`` becomes the SFT row, and is preferred to each wrong one
    (Bi'an, section 2.3). ``known_label``: a teacher is given the label, the gold answer and the change that
    was made, and argues for the label (Lynx). ``backward``: the same from the label alone (Bi'an, E)."""
    teachers: tuple[str, ...] = Field(default=("rules",), min_length=1)
    """Names of teachers, best first; ``known_label`` and ``backward`` take exactly one, a chat model."""

    @model_validator(mode="after")
    def _chat_models_where_needed(self) -> Self:
        if "way" not in self.model_fields_set and self.teachers != ("rules",):
            raise ValueError("way rules asks no teacher; name a way: ensemble, known_label or backward")
        if self.way in ("known_label", "backward"):
            if self.teachers[0] == "rules":
                raise ValueError(f"way {self.way} needs a chat model as its teacher")
            if len(self.teachers) > 1:
                raise ValueError(f"way {self.way} takes one teacher; name {self.teachers[0]} alone")
        if len(set(self.teachers)) < len(self.teachers):
            raise ValueError("a teacher is named twice")
        return self


class CounterfactualConfig(StrictConfig):
    """Counterfactual question answering in two stages (Bi'an, section 2.2)."""

    teacher: str
    """A chat model."""
    seeds: PositiveInt = 100
    """Number of questions drawn from the sources by the seed; each gives a PASS and a FAIL sample."""
    length: PositiveInt = 150
    """Length of the documents to ask for, in words; in characters for Chinese."""


class LeaksConfig(StrictConfig):
    """The leak gate: samples that occur in a benchmark, by passage or by question and answer, are dropped
    before anything is made from them."""

    built: tuple[str, ...] = ()
    """Folders of data sets that were built for evaluation, such as ``runs/bianbench/data``: samples that
    occur in one of them are dropped too."""
    data_dir: str | None = None
    """Folder with one folder per benchmark; ``JUDGE_DATA_DIR`` by default. All benchmarks there are used."""
    max_dropped: Share = Field(default=0.2, ge=0, le=1)
    """A build stops if the gate drops more than this share of a source: the rest would no longer be the set
    that was asked for."""
    gone: ClassVar[Mapping[str, str]] = {
        "benchmarks": "omit it; the gate compares with every benchmark that is in the folder"
    }
