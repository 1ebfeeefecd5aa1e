"""The keys of one source in a data recipe."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, field_validator, model_validator

from data_pipeline.sources.forms import FORMS, LABELLED
from data_pipeline.sources.readers import KINDS, OWN, READERS, WINDOWED
from data_pipeline.sources.windows import WINDOW_TOKENS
from judge.columns import FIELDS
from judge.configs import Place, StrictConfig
from judge.errors import unknown
from judge.formats.shared import SIDED
from judge.rows import plain_label
from judge.types import Label, Language, Task


class ConstantsConfig(StrictConfig):
    """Task and language of samples whose rows do not name them."""

    task: Task | None = None
    language: Language | None = None


class SizesConfig(StrictConfig):
    """How many samples of a source each split is to get, half of them PASS and half FAIL."""

    train: PositiveInt
    validation: NonNegativeInt = 0
    test: NonNegativeInt = 0
    pairs: bool = False
    """Every gold answer gives both, as a pair; by default it gives one of the two, as in the papers. Only for
    perturbed sources."""

    def of(self, split: str) -> int:
        """The number of samples for a split."""
        return int(getattr(self, split))


class SourceConfig(StrictConfig):
    """Where samples come from."""

    kind: str
    """``starter``: the bundled gold answers. ``written``: the bundled contrast pairs. ``file``: your own
    samples. ``squad``: a file in SQuAD's format. ``hub``: a data set of the Hub. Or the name of a public set
    (:data:`~data_pipeline.sources.readers.READERS`)."""
    path: Place | None = None
    """``file``: a file that :func:`judge.rows.read_rows` reads, a folder of such files, or a glob. ``squad``:
    a .json file. ``hub``: ``owner/name``. Public sets: the folder with one folder per set;
    ``JUDGE_DATA_DIR`` by default."""
    split: str | None = None
    """``hub``, and public sets with several: the split to read; by default the first, usually ``train``."""
    subset: str | None = None
    """``hub``: the configuration, if the data set has several."""
    columns: dict[str, str] | None = None
    """``file``, ``hub``: if columns have other names, {field of a sample, or of the form: column}. A field of
    a sample that is not listed is read from the column of the same name; a field of a form is left out."""
    form: str | None = None
    """``file``, ``hub``: the form of rows that are not samples yet
    (:data:`~data_pipeline.sources.forms.FORMS`). ``squad``: ``unanswerable``."""
    labels: dict[str, Label | None] | None = None
    """Samples of ``file`` and ``hub``, forms ``nli`` and ``claims``: what other words and numbers mean
    as labels; ``null`` leaves such rows out."""
    constants: ConstantsConfig = ConstantsConfig()
    """``file``, ``hub``, ``squad``: the task and language of samples whose rows do not name them."""
    languages: list[Language] | None = None
    tasks: list[Task] | None = None
    """Only samples of these languages and tasks; all by default."""
    licence: str | None = Field(default=None, min_length=1)
    """Licence of the samples that name none themselves (``meta.licence``)."""
    licences: list[str] | None = Field(default=None, min_length=1)
    """Only samples under these licences; overrides the recipe's ``licences``."""
    limit: PositiveInt | None = None
    """Read at most this many samples: those of whole documents, chosen by the seed."""
    samples: SizesConfig | None = None
    """How many samples the source gives; dropped ones are replaced from it until it is used up."""
    side: Literal["source", "benchmark", "whole"] = "source"
    """Sets that are also benchmarks: the documents for training, those for evaluation, or all
    (:mod:`judge.formats.shared`)."""
    window_tokens: PositiveInt = WINDOW_TOKENS
    """Kinds in SQuAD's format: a longer document is cut to a window around the answer, of at most about this
    many tokens (:func:`~data_pipeline.sources.windows.count_tokens`)."""
    perturb: bool | None = None
    """Overrides the recipe's ``perturb``. ``true`` perturbs the right answers of a labelled set and leaves
    the others out."""
    contrast_pairs: bool = False
    """With ``perturb: false``: right answers of the labelled samples are also gold answers, and get pairs."""
    gone: ClassVar[Mapping[str, str]] = {
        "distractors": "omit it; one wrong option of a question is taken",
        "twins": "use contrast_pairs",
    }

    @property
    def title(self) -> str:
        """Its name in messages: the path, or the kind."""
        return self.path or self.kind

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(unknown("kind", kind, KINDS))
        return kind

    @field_validator("labels", mode="before")
    @classmethod
    def _labels_by_word(cls, labels: object) -> object:
        """Turn the keys into words: YAML reads 0 and false as a number and a boolean."""
        if not isinstance(labels, dict):
            return labels
        return {plain_label(str(word)): label for word, label in labels.items()}

    @model_validator(mode="after")
    def _form_fits(self) -> Self:
        if self.form is None:
            if self.labels is not None and self.kind not in ("file", "hub"):
                raise ValueError(f"kind {self.kind} takes no labels without a form")
            for name in self.columns or ():
                if name not in FIELDS:
                    raise ValueError(unknown("field of a sample", name, FIELDS))
            return self
        if self.form not in FORMS:
            raise ValueError(unknown("form", self.form, FORMS))
        forms = {"file": tuple(FORMS), "hub": tuple(FORMS), "squad": ("unanswerable",)}.get(self.kind, ())
        if self.form not in forms:
            raise ValueError(f"kind {self.kind} takes no form{f' but {forms[0]}' if forms else ''}")
        if self.labels is not None and self.form not in LABELLED:
            raise ValueError(f"form {self.form} takes no labels")
        form = FORMS[self.form]
        for name in self.columns or ():
            if name not in form.fields:
                raise ValueError(unknown(f"field of form {self.form}", name, form.fields))
        for name in form.needs:
            if self.columns is not None and name not in self.columns:
                raise ValueError(f"form {self.form} needs a column for {name}")
        return self

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> Self:
        if self.path is None and self.kind in OWN:
            raise ValueError(f"kind {self.kind} needs a path")
        for name, kinds in (
            ("path", (*OWN, *READERS)),
            ("columns", ("file", "hub")),
            ("subset", ("hub",)),
            ("constants", OWN),
            ("window_tokens", WINDOWED),
            ("side", SIDED),
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
