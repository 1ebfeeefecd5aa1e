"""The keys of a data recipe (``data.yaml``): first its groups, then the recipe. Unknown keys are an error."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from data_pipeline.edits.types import EDIT_TYPES
from data_pipeline.sources.config import SourceConfig
from data_pipeline.teachers.config import CallsConfig, TeacherConfig, need_teachers
from judge.configs import Place, StrictConfig
from judge.errors import unknown
from judge.formats.bianbench import Subset

Share = float

KEYS: Mapping[str, str] = {
    "edit": "edits",
    "added": "additions",
    "document": "document_edits",
    "long": "long_answers",
    "refusal": "refusals",
    "foreign": "foreign_sentences",
}
"""For each kind of pair, the key with the share of gold answers that get one."""


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


class DataConfig(StrictConfig):
    """A data recipe."""

    gone: ClassVar[Mapping[str, str]] = {
        "mix": "give sources their samples; source_weights of a training recipe say how often each is seen"
    }

    output: Place
    """Folder for the data set."""
    sources: list[SourceConfig] = Field(min_length=1)
    licences: list[str] | None = Field(default=None, min_length=1)
    """Only samples under these licences (``meta.licence``); samples without a licence are left out too, and
    counted."""
    max_repeated: Share = Field(default=0.05, ge=0, le=1)
    """A build stops if more than this share of a source has the document, question and answer of another
    sample with the other label, or duplicates another sample."""
    check_golds: bool = True
    """Trim or leave out gold answers that their document does not support, as far as rules can tell."""
    perturb: bool = True
    """Make contrast pairs from gold answers. ``false``: use labelled samples unchanged."""
    edit_types: tuple[str, ...] = Field(default=EDIT_TYPES, min_length=1)
    from_document: Share = Field(default=0.6, ge=0, le=1)
    """Some edits insert text from the document, others text that is new to it. Of the gold answers that allow
    both sorts, the share that get the first; the others get the sort that they allow."""
    edits: Share = Field(default=1.0, ge=0, le=1)
    """Share of gold answers that get a pair with one edited fact."""
    additions: Share = Field(default=0.5, ge=0, le=1)
    """Share of gold answers that get a pair with added sentences; a second passage supports one of them."""
    document_edits: Share = Field(default=0.0, ge=0, le=1)
    """Share of gold answers that get a pair of documents for one answer; one of them does not support it."""
    in_full: Share = Field(default=0.0, ge=0, le=1)
    """Share of the pairs about short answers that are added a second time with answers in full sentences."""
    injections: Share = Field(default=0.0, ge=0, le=1)
    """Share of pairs that get a prompt injection, in the document or the hallucinated answer."""
    long_answers: Share = Field(default=0.0, ge=0, le=1)
    """Share of gold answers that get a pair of long answers, one with errors in some of its sentences."""
    refusals: Share = Field(default=0.0, ge=0, le=1)
    """Share of gold answers that get a pair of refusals: right for one document, wrong for the other."""
    foreign_sentences: Share = Field(default=0.0, ge=0, le=1)
    """Share of gold answers that get a pair with a second answer appended, about the same document or another
    one: easy pairs, for a first try."""
    perturber: str = "rules"
    """Name of the teacher that edits facts."""
    teachers: tuple[TeacherConfig, ...] = ()
    """Chat models that the keys here may name besides ``rules``."""
    counterfactuals: CounterfactualConfig | None = None
    leaks: LeaksConfig | None = None
    """Without it the leak gate is not run, and training refuses the set unless it is told to take it."""
    bianbench: tuple[Subset, ...] = ()
    """Also write the samples as these subsets of Bi'anBench, in its format (Table 10), to ``bianbench/``:
    those of one language as ``en`` or ``zh``, or all as ``cf``. ``judge eval`` reads them there."""
    audit: Literal["fail", "warn", "off"] = "fail"
    """``fail``: stop if labels can be guessed without reading the documents (see ``judge data audit``).
    ``warn``: only report it. ``off``: no audit."""
    splits: SplitConfig = SplitConfig()
    modes: ModesConfig = ModesConfig()
    reasoning: ReasoningConfig = ReasoningConfig()
    preferences: PreferenceConfig = PreferenceConfig()
    calls: CallsConfig = CallsConfig()
    seed: int = 0

    @model_validator(mode="after")
    def _pairs_of_labelled_answers(self) -> Self:
        for source in self.sources:
            if source.contrast_pairs and (self.perturbs(source) or source.samples is not None):
                raise ValueError(
                    "contrast_pairs is for labelled samples (perturb: false), all of them (no samples)"
                )
            if source.samples is not None and source.samples.pairs and not self.perturbs(source):
                raise ValueError("pairs are made of gold answers that are perturbed; omit samples.pairs")
        return self

    @model_validator(mode="after")
    def _known_teachers(self) -> Self:
        counterfactuals = None if self.counterfactuals is None else self.counterfactuals.teacher
        named = [self.perturber, *self.reasoning.teachers, counterfactuals]
        need_teachers(self.teachers, named, "rules")
        for name in ("edit_types", "from_document") if self.perturber != "rules" else ():
            if getattr(self, name) != type(self).model_fields[name].default:
                raise ValueError(f"{name} is for perturber rules; omit it, {self.perturber} edits freely")
        if self.counterfactuals is not None and self.counterfactuals.teacher == "rules":
            raise ValueError("counterfactuals need a chat model as their teacher")
        return self

    def perturbs(self, source: SourceConfig) -> bool:
        """Are the answers of a source perturbed?"""
        return self.perturb if source.perturb is None else source.perturb

    @property
    def shares(self) -> dict[str, Share]:
        """The share of gold answers that get a pair, by kind."""
        return {kind: getattr(self, key) for kind, key in KEYS.items()}

    @field_validator("bianbench")
    @classmethod
    def _one_subset_a_sample(cls, subsets: tuple[Subset, ...]) -> tuple[Subset, ...]:
        if "cf" in subsets and len(subsets) > 1:
            raise ValueError("cf takes the samples of both languages; use it alone")
        return subsets

    @field_validator("audit", mode="before")
    @classmethod
    def _off_is_false_in_yaml(cls, value: object) -> object:
        return "off" if value is False else value

    @field_validator("edit_types")
    @classmethod
    def _known_edits(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in EDIT_TYPES:
                raise ValueError(unknown("edit type", name, EDIT_TYPES))
        return names
