"""The forms that labelled sets come in: a row of such a set gives answers whose labels people made.

Each form is a small function from a row to labelled answers, or to the reason why the row gives none. It
names the fields that it reads; ``columns`` of a source says where a set calls them otherwise. A key, a label
or a kind of value that a form does not know is one clear error.
"""

import json
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from judge.errors import unknown
from judge.formats.files import group_of
from judge.formats.records import Record
from judge.samples import sample_from_row
from judge.types import Label, Sample

COMMON = ("id", "question", "task", "language", "source", "group", "licence")
"""Fields that every form may have beside its own."""

NLI_WORDS = {
    "entailment": Label.PASS, "entailed": Label.PASS, "e": Label.PASS,
    "neutral": Label.FAIL, "n": Label.FAIL, "contradiction": Label.FAIL, "c": Label.FAIL,
    "not entailment": Label.FAIL, "not entailed": Label.FAIL,
}  # fmt: skip
CLAIM_WORDS = {
    "supports": Label.PASS, "support": Label.PASS, "supported": Label.PASS,
    "true": Label.PASS, "1": Label.PASS,
    "refutes": Label.FAIL, "refute": Label.FAIL, "refuted": Label.FAIL, "not enough info": Label.FAIL,
    "nei": Label.FAIL, "partially supported": Label.FAIL, "not supported": Label.FAIL,
    "unsupported": Label.FAIL, "false": Label.FAIL, "0": Label.FAIL,
}  # fmt: skip
UNDECIDED = ("", "-", "none", "-1")
"""What sets write where their annotators did not agree."""

# A question that asks for what is *not* so turns the labels of its options round. "Why did she not come?"
# does not.
_NEGATED = re.compile(
    r"\b(?:not|except|neither|nor|never|least|cannot|false|incorrect|wrong|mistaken|impossible)\b"
    r"|n['’]t\b|\bun(?:true|likely|mentioned)\b|除了|除外|以外|错误|有误|并非|无关|没有?|未(?!来)|不",
    re.IGNORECASE,
)
_NOT_NEGATED = re.compile(r"^\s*(?:why\b|为什么|为何)|(.)[不没]\1", re.IGNORECASE)
# An option about the other options: where it is right, the others may be right too.
_ABOUT_OPTIONS = re.compile(
    r"\b(?:all|none|both|neither|any|either|each) (?:of )?(?:the )?(?:above|these|them|following|[A-D] )"
    r"|\bthe above\b|\b[A-D] (?:and|&|or) [A-D]\b|以上|[A-D]和[A-D]|都(?:对|错|是|不)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that gives no sample, and why."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A labelled answer of a row; ``name`` tells it from the row's others."""

    text: str
    label: Label
    name: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a recipe asks of a form: how many distractors, what labels mean, and the seed."""

    distractors: int = 1
    labels: Mapping[str, Label | None] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Form:
    """How the rows of a form are read: the fields that they need, those that they may have, and the
    answers."""

    read: Callable[[Record, Asked], list[Answer] | str]
    needs: tuple[str, ...]
    may: tuple[str, ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields that a row may have."""
        return tuple(dict.fromkeys((*self.needs, *self.may, *COMMON)))


def multiple_choice(row: Record, asked: Asked) -> list[Answer] | str:
    """The right option is PASS, and so many others, chosen by the seed, are FAIL.

    ``options`` is a list of texts, or ``{"label": [...], "text": [...]}``. ``answer`` is the right one's
    letter, its position from 0 as a number, its label, or its text."""
    question = row.text("question")
    if _NEGATED.search(question) and not _NOT_NEGATED.search(question):
        return "negated question"
    names, options = _options(row)
    right = _right(row, names, options)
    if _ABOUT_OPTIONS.search(options[right]):
        return "right option about the other options"
    others = [
        place
        for place, text in enumerate(options)
        if text.strip() and not _same(text, options[right]) and not _ABOUT_OPTIONS.search(text)
    ]
    if not others:
        return "no distractor"
    rng = random.Random(f"distractors:{asked.seed}:{row.name('id')}")
    chosen = sorted([right, *rng.sample(others, min(asked.distractors, len(others)))])
    return [
        Answer(
            options[place].strip(),
            Label.PASS if place == right else Label.FAIL,
            str(place),
            {"pair": row.name("id")},
        )
        for place in chosen
    ]


def nli(row: Record, asked: Asked) -> list[Answer] | str:
    """A hypothesis that its premise entails is PASS, any other FAIL."""
    return _labelled(row, {**NLI_WORDS, **asked.labels})


def claims(row: Record, asked: Asked) -> list[Answer] | str:
    """A claim, or a candidate answer, that the evidence supports whole is PASS, any other FAIL."""
    return _labelled(row, {**CLAIM_WORDS, **asked.labels})


def unanswerable(row: Record, asked: Asked) -> list[Answer] | str:
    """SQuAD 2's questions: an answer is PASS; the plausible answer of a question without one is FAIL."""
    if answers := _texts(row, "answers"):
        return [Answer(answers[0].strip(), Label.PASS)]
    plausible = _texts(row, "plausible_answers") if "plausible_answers" in row.values else []
    return [Answer(plausible[0].strip(), Label.FAIL)] if plausible else "no answer and no plausible one"


def spans(row: Record, asked: Asked) -> list[Answer] | str:
    """An answer with a span that people marked as hallucinated is FAIL, one without is PASS.

    ``spans`` is a list of objects with ``start`` and ``end``, characters of the answer from 0, or such a list
    as JSON text. They are kept in ``meta["spans"]``."""
    answer, found = row.text("answer"), row.get("spans")
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            raise row.wrong("spans", f"is no JSON: {found!r:.60}") from None
    if not isinstance(found, list):
        raise row.wrong(
            "spans", f"holds {found!r:.60}, a list of spans is wanted (empty for a faithful answer)"
        )
    for span in found:
        start, end = (span.get(key) if isinstance(span, dict) else None for key in ("start", "end"))
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(answer):
            raise row.wrong("spans", f"has a span that is none of the answer's: {span!r:.80}")
    return [Answer(answer, Label.FAIL if found else Label.PASS, meta={"spans": found})]


FORMS: Mapping[str, Form] = {
    "multiple_choice": Form(multiple_choice, ("document", "question", "options", "answer")),
    "nli": Form(nli, ("document", "answer", "label")),
    "unanswerable": Form(unanswerable, ("document", "question", "answers"), ("plausible_answers",)),
    "claims": Form(claims, ("document", "answer", "label")),
    "spans": Form(spans, ("document", "answer", "spans")),
}
LABELLED = ("nli", "claims")
"""Forms with a column of labels, whose words a recipe may explain."""


def read_row(name: str, row: Record, asked: Asked) -> list[Sample] | LeftOut:
    """The samples of one row, whose ``id`` is set; their ids begin with it.

    Raises:
        InputError: naming file, line and field, what was found and what is wanted.
    """
    form = FORMS[name]
    for key in row.values:
        if key not in form.fields:
            raise row.wrong(key, f"{unknown('field', key, form.fields)}; columns maps other names")
    for key in form.needs:
        row.get(key)
    identifier = row.name("id")
    found = form.read(row, asked)
    if isinstance(found, str):
        return LeftOut(identifier, f"form {name}: {found}")
    values = {key: row.values[key] for key in ("document", *COMMON) if key in row.values and key != "licence"}
    licence = {"licence": row.text("licence").strip()} if row.values.get("licence") else {}
    samples = []
    for answer in found:
        own = {
            "id": f"{identifier}-{answer.name}" if answer.name else identifier,
            "answer": answer.text,
            "label": answer.label,
            "meta": {**licence, **answer.meta},
        }
        sample = sample_from_row({**values, **own}, file=row.file, line=row.line)
        # One document has one group, in whichever set it turns up.
        samples.append(
            sample if values.get("group") else replace(sample, group=group_of(sample.document_text))
        )
    return samples


def _labelled(row: Record, words: Mapping[str, Label | None]) -> list[Answer] | str:
    value = row.get("label")
    if not isinstance(value, str | int | None):
        raise row.wrong("label", f"holds {value!r:.60}, a word or a number is wanted")
    word = "" if value is None else plain_label(str(value))
    if word in UNDECIDED and word not in words:
        return "undecided label"
    if word not in words:
        raise row.wrong("label", f"{unknown('label', value, words)}; say under labels what it means")
    label = words[word]
    return "label that the recipe leaves out" if label is None else [Answer(row.text("answer"), label)]


def plain_label(text: str) -> str:
    """A label's word without case, its parts joined by one blank: NOT_ENOUGH_INFO is not enough info."""
    return re.sub(r"(?<=[^\W_])[\s_-]+(?=[^\W_])", " ", text.strip().casefold())


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()).rstrip(".。") == " ".join(other.casefold().split()).rstrip(".。")


def _options(row: Record) -> tuple[list[str], list[str]]:
    """The names of the options, letters by default, and their texts."""
    value = row.get("options")
    if isinstance(value, dict):
        inner = row.record("options")
        names, texts = inner.texts("label"), inner.texts("text")
        if len(names) != len(texts):
            raise inner.wrong("label", f"names {len(names)} options, but there are {len(texts)}")
        return names, texts
    texts = row.texts("options")
    return [chr(ord("A") + place) for place in range(len(texts))], texts


def _right(row: Record, names: list[str], options: list[str]) -> int:
    """The place of the right option."""
    answer = row.get("answer")
    if type(answer) is int:
        if not 0 <= answer < len(options):
            raise row.wrong("answer", f"is {answer}, but there are {len(options)} options, counted from 0")
        return answer
    text = row.text("answer").strip()
    named = [place for place, name in enumerate(names) if name == text]
    told = [place for place, option in enumerate(options) if option.strip() == text]
    if len({*named, *told}) > 1:
        raise row.wrong("answer", f"{text!r:.60} names more than one of the options")
    if not named and not told:
        raise row.wrong(
            "answer", f"{text!r:.60} is no option: a letter, a position from 0 or its text is wanted"
        )
    return [*named, *told][0]


def _texts(row: Record, key: str) -> list[str]:
    """Answers in the ways in which SQuAD's copies hold them: texts, objects with a text, an object of
    lists."""
    value = row.get(key)
    if value is None:
        return []
    if isinstance(value, dict):
        value = value.get("text", [])
    items = value if isinstance(value, list) else [value]
    texts: list[Any] = [item.get("text") if isinstance(item, dict) else item for item in items]
    if not all(isinstance(text, str) for text in texts):
        raise row.wrong(
            key, f"holds {row.values[key]!r:.60}, a list of texts or of objects with a text is wanted"
        )
    return [text for text in texts if text.strip()]
