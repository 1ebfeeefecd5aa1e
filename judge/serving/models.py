"""What goes over the wire. Field names are those of :class:`judge.types.Sample` and ``Verdict``."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from judge.types import Claim, Label, Language, Mode, Sample, Span, Task, Unsupported, Usage, Verdict

# A character that is white space neither for Python nor in a regular expression of JSON Schema.
Text = Annotated[str, Field(min_length=1, pattern=r"[^\s\x1c-\x1f\x85]")]


class _Message(BaseModel):
    """Every field is known, and nothing is changed after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SampleIn(_Message):
    """One answer to judge."""

    document: Text | Annotated[list[Text], Field(min_length=1)]
    """One text, or several passages."""
    answer: Text
    question: str = ""
    """Empty where the task has none."""
    task: Task = Task.QA
    language: Language = "en"
    id: str | None = None
    """Comes back with the verdict; ``row-1``, ``row-2``, ... by default."""

    def sample(self, number: int) -> Sample:
        """What a judge reads; ``number`` is the place in the request, from 1."""
        return Sample(
            id=f"row-{number}" if self.id is None else self.id,
            document=self.document if isinstance(self.document, str) else tuple(self.document),
            answer=self.answer,
            question=self.question,
            task=self.task,
            language=self.language,
        )

    @property
    def characters(self) -> int:
        """Length of all texts together."""
        passages = [self.document] if isinstance(self.document, str) else self.document
        return sum(map(len, passages)) + len(self.question) + len(self.answer)


class JudgeRequest(_Message):
    """The body of ``POST /v1/judge``."""

    samples: list[SampleIn] = Field(min_length=1)
    claims: bool = False
    """Judge every sentence of the answers too, and answers by their sentences."""


class VerdictOut(_Message):
    """One verdict, with all fields of :class:`judge.types.Verdict`."""

    id: str
    label: Label | None
    """``null`` where there is no verdict; ``error`` then says why."""
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
    """Of this toolkit."""
    calibrated: bool
    """Is ``p_fail`` the share of such answers that is hallucinated?"""
    calibrated_claims: bool
    """The same, where claims are asked for."""
    describe: dict[str, Any]
    """Everything that identifies the judge: revision, prompt hash, number format, device."""


class HealthResponse(_Message):
    """The server takes requests."""

    status: str = "ok"


class ErrorResponse(_Message):
    """The body of every response that is none of the above."""

    detail: str


def inline_schema(model: type[BaseModel]) -> dict[str, Any]:
    """A model's JSON Schema without references: OpenAPI would look for them at its own root."""
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
