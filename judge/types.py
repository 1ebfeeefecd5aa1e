"""The values that travel between the parts of the toolkit: small, frozen, and the same everywhere."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, NotRequired, TypedDict

Mode = Literal["verdict", "reason"]
"""``verdict``: one label word, read with one prefill. ``reason``: JSON with the reasoning, then the label."""

Language = Literal["en", "zh"]

MODES: tuple[Mode, ...] = ("verdict", "reason")
LANGUAGES: tuple[Language, ...] = ("en", "zh")

SEEN = (
    "[^\\s\\x00-\\x1f\\x7f-\\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
"""Regular expression for a visible character: not white space, a control character, default ignorable in
Unicode (zero-width spaces, byte order marks, fillers), an annotation mark or the empty Braille cell."""


def shows(text: str) -> bool:
    """Does a text have at least one visible character? White space and zero-width characters do not count."""
    return re.search(SEEN, text) is not None


def lone_surrogate(text: str) -> str | None:
    """What is wrong with a text that UTF-8 cannot encode, since it holds half a character; else ``None``."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = f"\\u{ord(text[error.start]):04x}"
        return f"holds {found}, half a character; remove it"
    return None


class Message(TypedDict):
    """One turn of a conversation, as chat templates and TRL read it."""

    role: str
    content: str


class SFTRow(TypedDict):
    """One supervised example in TRL's conversational prompt-completion form."""

    id: str
    prompt: list[Message]
    completion: list[Message]
    group: str
    meta: NotRequired[dict[str, Any]]


class DPORow(TypedDict):
    """One preference pair in TRL's conversational form: a right and a wrong judgement of one prompt."""

    id: str
    prompt: list[Message]
    chosen: list[Message]
    rejected: list[Message]
    group: str
    meta: NotRequired[dict[str, Any]]


class Label(StrEnum):
    """Is the answer faithful to the document? ``FAIL`` (hallucinated) is the positive class everywhere."""

    PASS = "PASS"  # noqa: S105 (no password)
    FAIL = "FAIL"

    @property
    def opposite(self) -> "Label":
        """The other label."""
        return Label.PASS if self is Label.FAIL else Label.FAIL


class Task(StrEnum):
    """What the answer is: a reply to a question, a summary, a description of data, a translation, a turn."""

    QA = "qa"
    SUMMARIZATION = "summarization"
    DATA2TEXT = "data2text"
    TRANSLATION = "translation"
    DIALOGUE = "dialogue"


@dataclass(frozen=True, slots=True)
class Sample:
    """One thing to judge.

    ``document`` is one text or a tuple of passages. ``group`` names the document or seed item the sample
    came from: splits and statistics are by group, so pairs stay together. ``question`` is empty if
    there is none. ``label`` is the gold label, or ``None`` if it is not known.
    """

    id: str
    document: str | tuple[str, ...]
    answer: str
    question: str = ""
    task: Task = Task.QA
    language: Language = "en"
    label: Label | None = None
    source: str = ""
    group: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def document_text(self) -> str:
        """The whole document as one text, with a blank line between passages."""
        return self.document if isinstance(self.document, str) else "\n\n".join(self.document)

    @property
    def unit(self) -> str:
        """What splits and statistics keep together: the group, or the document of a sample without one."""
        return self.group or self.document_text

    @property
    def fault(self) -> tuple[str, str] | None:
        """The first field that cannot be judged, and what is wrong with it; ``None`` if all can."""
        passages = self.document if isinstance(self.document, tuple | list) else (self.document,)
        texts: list[tuple[str, Any]] = [("document", passage) for passage in passages]
        for name, text in (*texts, ("answer", self.answer), ("question", self.question)):
            if not isinstance(text, str):
                return name, f"holds {text!r:.60}, expected a text"
            if fault := lone_surrogate(text):
                return name, fault
        if not shows(self.document_text):
            return "document", "is empty or shows nothing; a judge needs something to judge against"
        if not shows(self.answer):
            return "answer", "is empty or shows nothing; there is nothing to judge"
        return None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one verdict cost: in the prompt, and generated."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A span of a document's text (:attr:`Sample.document_text`) or of an answer.

    Both ends count characters from 0; ``end`` is exclusive.
    """

    start: int
    end: int

    def overlaps(self, start: int, end: int) -> bool:
        """Whether the two spans share a character."""
        return start < self.end and end > self.start


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Words of an answer that the document does not support: their text, and their place in the answer.

    ``p`` is the probability that they are wrong, if the judge gives one.
    """

    text: str
    start: int
    end: int
    p: float | None = None

    @classmethod
    def of(cls, answer: str, span: Span, p: float | None = None) -> "Unsupported":
        """The words at a span of an answer."""
        return cls(answer[span.start : span.end], span.start, span.end, p)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer.

    ``span`` is its place in the answer, ``window`` the index (from 0) of the document window that supports
    it best, and ``p_fail`` the doubt about it, from 0 to 1: ``None`` if the judge gave no verdict on it, 1 or
    0 if it gave only a label. An encoder's is a score; a language model's is calibrated as its answers are.
    """

    span: Span
    window: int
    p_fail: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said about one sample.

    ``label`` is ``None`` if the output could not be parsed; ``error`` then says why. ``p_fail`` is the
    probability of ``FAIL``, if the backend gives one. ``cut_chars`` counts the characters of the document
    that did not fit into the context and were not read; a question or an answer that does not fit is an
    ``error``. ``truncated`` says that the judge's reply reached its length limit.

    ``evidence`` holds the places in the document that the reasoning quotes, ``unsupported`` the wrong words
    of the answer, if the judge names them (:mod:`judge.prompting.evidence`). ``windows`` and ``claims`` hold
    the passages of the document and the sentences of the answer, if claims were asked for
    (:mod:`judge.claims`) or a long document was judged in parts (:mod:`judge.prompting.windows`).
    """

    label: Label | None
    p_fail: float | None = None
    reasoning: str | None = None
    raw: str = ""
    error: str | None = None
    truncated: bool = False
    cut_chars: int = 0
    usage: Usage = Usage()
    evidence: tuple[Span, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    windows: tuple[Span, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def chance(self) -> float | None:
        """``p_fail``; if the judge gives none, 1 or 0 by the label."""
        if self.p_fail is not None or self.label is None:
            return self.p_fail
        return float(self.label is Label.FAIL)


_PLACES = ("evidence", "unsupported", "windows", "claims")


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict's fields as JSON values; empty lists of places are left out."""
    row = asdict(verdict)
    return {name: value for name, value in row.items() if value or name not in _PLACES}


def verdict_from_json(values: Mapping[str, Any]) -> Verdict:
    """The inverse of :func:`verdict_to_json`."""
    row = dict(values)
    label = row.pop("label")
    for name in ("evidence", "windows"):
        row[name] = tuple(Span(**span) for span in row.get(name, ()))
    row["unsupported"] = tuple(Unsupported(**words) for words in row.get("unsupported", ()))
    row["claims"] = tuple(
        Claim(Span(**claim["span"]), claim["window"], claim["p_fail"]) for claim in row.get("claims", ())
    )
    return Verdict(None if label is None else Label(label), usage=Usage(**row.pop("usage")), **row)
