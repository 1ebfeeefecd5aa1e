"""What an annotator said of a sample: one row of a JSON Lines file, enough by itself to measure agreement.

A file grows by a row with every answer; of several rows by one annotator about one sample the last one holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from eval.resampling import group_of
from judge.errors import InputError
from judge.files import read_jsonl, sha256_text
from judge.types import Label, Sample

Choice = Literal["PASS", "FAIL", "UNSURE"]
UNSURE = "UNSURE"
Name = Annotated[str, Field(pattern=r"^[\w-]{1,40}$")]
"""Of an annotator, and so of a file: letters of any language, digits, hyphens, underscores."""


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Mark(_Row):
    """A marked stretch of the answer or the document; ends count characters from 0, as in ``Span``."""

    start: int = Field(ge=0)
    end: int
    text: str = ""
    """What stands there."""
    type: str = Field(default="", max_length=100)
    """What kind of hallucination it is, where the annotators are asked for that."""

    @model_validator(mode="after")
    def _has_a_length(self) -> Self:
        if self.end <= self.start:
            raise ValueError("a mark ends behind its start")
        return self


class Said(_Row):
    """What an annotator says on the page."""

    label: Choice
    unsupported: list[Mark] = Field(default=[], max_length=500)
    """Marked in the answer."""
    evidence: list[Mark] = Field(default=[], max_length=500)
    """Marked in the document."""
    note: str = Field(default="", max_length=10_000)
    seconds: float = Field(default=0.0, ge=0)
    """For how long the sample was looked at."""


class Annotation(Said):
    """One row: what was said, by whom and of what."""

    annotator: Name
    id: str
    source: str
    group: str
    """Hash of the sample's document or seed item: intervals are over these."""
    sample: str
    """Hash of the texts that were shown."""
    reference: Label | None = None
    """The label in the data set, which no annotator is shown."""
    time: str
    """When it was said: ISO 8601, UTC."""


def sample_hash(sample: Sample) -> str:
    """Stands for the texts of a sample."""
    return sha256_text("\0".join((sample.document_text, sample.question, sample.answer)))[:16]


def group_hash(sample: Sample) -> str:
    """Stands for what a sample belongs to, which may be a whole document."""
    return sha256_text(group_of(sample))[:16]


def explain(error: ValidationError) -> tuple[str, str]:
    """Field and message of the first problem."""
    first: Any = error.errors(include_url=False, include_context=False)[0]
    return ".".join(map(str, first["loc"])), f"{first['msg']}, found {first['input']!r:.60}"


def read_annotations(paths: Iterable[Path]) -> list[Annotation]:
    """The last row of every annotator about every sample, in the order in which they first spoke of it.

    Raises:
        InputError: a row is none of ``judge annotate``, or two rows about one id are about different texts.
    """
    found: dict[tuple[str, str], Annotation] = {}
    texts: dict[str, str] = {}
    for path in paths:
        for line, row in read_jsonl(path):
            read = read_row(row, path, line)
            if texts.setdefault(read.id, read.sample) != read.sample:
                raise InputError(
                    f"{read.id!r} is about another text than in a row before: files of two sets, or of a set "
                    "that was changed, do not go together",
                    file=path, line=line, field="sample",
                )  # fmt: skip
            found[read.annotator, read.id] = read
    return list(found.values())


def read_row(row: Mapping[str, Any], path: Path, line: int) -> Annotation:
    """Check one row of a file; raises :class:`InputError` that names the field."""
    try:
        return Annotation.model_validate(row, strict=False)  # in JSON a label is a text
    except ValidationError as error:
        field, message = explain(error)
        raise InputError(message, file=path, line=line, field=field) from None


def by_sample(annotations: Sequence[Annotation]) -> dict[str, list[Annotation]]:
    """The annotations of each sample, by its id, in order."""
    found: dict[str, list[Annotation]] = {}
    for annotation in annotations:
        found.setdefault(annotation.id, []).append(annotation)
    return found
