"""Short reasonings for known labels, in the sample's language: they cite the document and never the label's
origin.

A faithful answer is set beside the sentence of the document that supports it best; a perturbed one beside
the sentence that holds what it should have said.
"""

import re
from collections.abc import Mapping

from judge.types import Label, Language, Sample

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_TOKEN = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")
MAX_QUOTE = 160  # characters; a reasoning is read by people and generated token by token

_TEXTS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "supported": 'The document says: "{quote}" The answer says the same.',
        "changed": 'The document says: "{quote}" The answer says "{inserted}" instead of "{replaced}".',
        "added": 'The document says: "{quote}" It does not mention "{inserted}".',
        "span": 'The document says: "{quote}" It does not support "{inserted}".',
        "missed": 'The document says: "{quote}" The answer does not agree with this.',
    },
    "zh": {
        "supported": "文档中写道：“{quote}”答案与此一致。",
        "changed": "文档中写道：“{quote}”答案却把“{replaced}”说成了“{inserted}”。",
        "added": "文档中写道：“{quote}”文档没有提到“{inserted}”。",
        "span": "文档中写道：“{quote}”文档不支持“{inserted}”。",
        "missed": "文档中写道：“{quote}”答案与此不符。",
    },
}


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without white space around them."""
    return [part.strip() for part in _SENTENCE.split(text) if part and part.strip()]


def best_sentence(document: str, answer: str, must_hold: str = "") -> str:
    """The sentence of a document that shares most with an answer, among those that hold ``must_hold``.

    Rare tokens count more: each is weighted by how few sentences hold it.
    """
    parts = sentences(document)
    holding = [part for part in parts if must_hold and must_hold in part] or parts
    tokens = {part: set(_TOKEN.findall(part.lower())) for part in parts}
    wanted = set(_TOKEN.findall(answer.lower()))

    def weight(part: str) -> float:
        return sum(1 / sum(token in held for held in tokens.values()) for token in tokens[part] & wanted)

    return max(holding, key=weight)


def explain(sample: Sample) -> str | None:
    """A reasoning that leads to the sample's gold label, or ``None`` where nothing can be cited.

    Uses the change that a perturbation noted, or the spans that annotators marked (RAGTruth).
    """
    meta = sample.meta
    if sample.label is Label.PASS:
        return _fill(sample, "supported", sample.answer)
    if meta.get("edit_type") in ("addition", "added_sentence"):
        return _fill(sample, "added", sample.answer, inserted=short(meta["inserted"]))
    if meta.get("edit_type") in ("deletion", "subject_swap"):  # the words may stand there in another place
        return _fill(sample, "span", sample.answer, inserted=short(meta["inserted"]))
    if meta.get("edit_type"):
        gold = sample.answer.replace(meta["inserted"], meta["replaced"], 1)
        return _fill(
            sample, "changed", gold, meta["replaced"], inserted=meta["inserted"], replaced=meta["replaced"]
        )
    spans = [span["text"] for span in meta.get("spans", ()) if span.get("text")]
    return _fill(sample, "span", spans[0], inserted=short(spans[0])) if spans else None


def mistake(sample: Sample) -> str:
    """A plausible reasoning that leads to the wrong label: the rejected side of a composed preference."""
    return _fill(sample, "missed" if sample.label is Label.PASS else "supported", sample.answer)


def _fill(sample: Sample, kind: str, answer: str, must_hold: str = "", **values: str) -> str:
    quote = short(best_sentence(sample.document_text, answer, must_hold))
    return _TEXTS[sample.language][kind].format(quote=quote, **values)


def short(text: str) -> str:
    """A quote of bearable length, cut at a word."""
    if len(text) <= MAX_QUOTE:
        return text
    return text[:MAX_QUOTE].rsplit(maxsplit=1)[0] + " …"
