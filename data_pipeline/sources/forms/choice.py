"""Options of which one is right: exams and reading comprehension."""

import random
import re

from data_pipeline.sources.forms.base import Answer, Asked
from judge.formats.records import Record
from judge.types import Label

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
    r"\b(?:all|none|both|neither|any|either|each) (?:of (?:the )?(?:above|these|them)|above)\b"
    r"|\bthe above\b|\b[A-D],? (?:and|&|or) [A-D]\b|^以上|[A-D]和[A-D]|^[都全](?:对|错|是|不对|不是)[。.]?$",
    re.IGNORECASE,
)


def multiple_choice(row: Record, asked: Asked) -> list[Answer] | str:
    """The right option is PASS, and one of the others, chosen by the seed, is FAIL.

    ``options`` is a list of texts, or ``{"label": [...], "text": [...]}``. ``answer`` is the right one's
    letter, its position from 0 as a number, its label, or its text."""
    question = row.text("question")
    if _NEGATED.search(question) and not _NOT_NEGATED.search(question):
        return "negated question"
    names, options = _options(row)
    right = _right(row, names, options)
    if _ABOUT_OPTIONS.search(options[right]):
        return "right option about the other options"
    plain = [" ".join(text.casefold().split()).rstrip(".。") for text in options]
    others = [
        place
        for place, text in enumerate(options)
        if text.strip() and plain[place] != plain[right] and not _ABOUT_OPTIONS.search(text)
    ]
    if not others:
        return "no distractor"
    rng = random.Random(f"distractors:{asked.seed}:{row.name('id')}")
    chosen = sorted([right, *rng.sample(others, 1)])
    return [
        Answer(
            options[place].strip(),
            Label.PASS if place == right else Label.FAIL,
            str(place),
            {"pair": row.name("id")},
        )
        for place in chosen
    ]


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
    matching = [place for place, option in enumerate(options) if option.strip() == text]
    if len({*named, *matching}) > 1:
        raise row.wrong("answer", f"{text!r:.60} names more than one of the options")
    if not named and not matching:
        raise row.wrong(
            "answer", f"{text!r:.60} is not an option; expected a letter, a position from 0 or its text"
        )
    return [*named, *matching][0]
