"""Request and response bodies. Field names are those of :class:`judge.types.Sample` and ``Verdict``."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, StrictBool

from judge.types import (
    SEEN,
    Claim,
    Label,
    Language,
    Mode,
    Sample,
    Span,
    Task,
    Unsupported,
    Usage,
    Verdict,
)

Text = Annotated[str, Field(min_length=1, pattern=SEEN)]
Passages = Annotated[list[str], Field(min_length=1, json_schema_extra={"contains": {"pattern": SEEN}})]


class _Message(BaseModel):
    """A body that refuses unknown fields and is immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SampleIn(_Message):
    """One answer to judge, in the form of a row of ``judge batch``, which checks it
    (:func:`judge.samples.sample_from_row`)."""

    document: Text | Passages
    """One text, or several passages."""
    answer: Text
    question: str | None = ""
    """Empty if there is none."""
    task: Task | Literal[""] | None = Task.QA
    language: Language | Literal[""] | None = "en"
    """Language and task may be in any letter case; empty, they are the default."""
    id: str | float | None = None
    """Returned with the verdict, as a text; by default ``row-1``, ``row-2``, ...; no two alike."""
    label: Any = None
    """Ignored, like the fields below, so that rows with gold labels can be sent unchanged."""
    source: str | None = ""
    group: str | None = ""
    meta: dict[str, Any] | Literal[""] | None = None


class JudgeRequest(_Message):
    """The body of ``POST /v1/judge``."""

    samples: list[SkipValidation[SampleIn]] = Field(min_length=1)
    claims: StrictBool = False
    """Judge every sentence of the answers too."""


class VerdictOut(_Message):
    """One verdict, with all fields of :class:`judge.types.Verdict`."""

    id: str
    label: Label | None
    """``null`` if there is no verdict; ``error`` then says why."""
    p_fail: float | None
    """Probability that the answer is not faithful."""
    reasoning: str | None
    raw: str
    error: str | None
    truncated: bool
    cut_chars: int
    """Characters of the document that did not fit into the judge's context."""
    usage: Usage
    evidence: tuple[Span, ...]
    unsupported: tuple[Unsupported, ...]
    """Words of the answer that the document does not support, with the probability that they are wrong."""
    windows: tuple[Span, ...]
    claims: tuple[Claim, ...]

    @classmethod
    def of(cls, sample: Sample, verdict: Verdict) -> "VerdictOut":
        """The verdict on a sample."""
        fields = (name for name in cls.model_fields if name != "id")
        return cls(id=sample.id, **{name: getattr(verdict, name) for name in fields})


class JudgeResponse(_Message):
    """The body of the response: one verdict for each sample, in their order."""

    model: str
    verdicts: list[VerdictOut]


class ModelResponse(_Message):
    """Which judge answers here."""

    model_config = ConfigDict(protected_namespaces=())

    model: str
    mode: Mode
    version: str
    """Version of this toolkit."""
    calibrated: bool
    """Is ``p_fail`` calibrated, that is, the share of such answers that are hallucinated?"""
    describe: dict[str, Any]
    """Everything that identifies the judge: revision, prompt hash, number format, device."""


class HealthResponse(_Message):
    """The server takes requests."""

    status: str = "ok"


class ErrorResponse(_Message):
    """The body of every response that is none of the above."""

    detail: str


def inline_schema(model: type[BaseModel]) -> dict[str, Any]:
    """A model's JSON Schema with references inlined, since OpenAPI would resolve them at its own root."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})

    def inlined(part: Any) -> Any:
        if isinstance(part, list):
            return [inlined(item) for item in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            part = definitions[part["$ref"].rpartition("/")[2]] | {
                key: value for key, value in part.items() if key != "$ref"
            }
        return {key: inlined(value) for key, value in part.items()}

    found: dict[str, Any] = inlined(schema)
    return found
