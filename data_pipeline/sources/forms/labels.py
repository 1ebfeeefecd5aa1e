"""Answers that people labelled: entailment, claims, questions without an answer, spans."""

import json
from collections.abc import Mapping
from typing import Any

from data_pipeline.sources.forms.base import Answer, Asked
from judge.errors import unknown
from judge.formats.records import Record
from judge.formats.spans import is_span
from judge.rows import plain_label
from judge.types import Label

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
            raise row.wrong("spans", f"is not valid JSON: {found!r:.60}") from None
    if not isinstance(found, list):
        raise row.wrong(
            "spans", f"holds {found!r:.60}, expected a list of spans (empty for a faithful answer)"
        )
    for span in found:
        if not is_span(span, answer):
            raise row.wrong("spans", f"has a span outside the answer: {span!r:.80}")
    return [Answer(answer, Label.FAIL if found else Label.PASS, meta={"spans": found})]


def _labelled(row: Record, words: Mapping[str, Label | None]) -> list[Answer] | str:
    value = row.get("label")
    if not isinstance(value, str | int | None):
        raise row.wrong("label", f"holds {value!r:.60}, expected a word or a number")
    word = plain_label(value)
    if word in UNDECIDED and word not in words:
        return "undecided label"
    if word not in words:
        raise row.wrong("label", f"{unknown('label', value, words)}; say under labels what it means")
    label = words[word]
    return "label that the recipe leaves out" if label is None else [Answer(row.text("answer"), label)]


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
            key, f"holds {row.values[key]!r:.60}, expected a list of texts or of objects with a text"
        )
    return [text for text in texts if text.strip()]
