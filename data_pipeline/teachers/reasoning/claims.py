"""What an answer claims, sentence by sentence, and what is wrong in it, as a sample's ``meta`` tells."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from data_pipeline.edits.polarity import YES_OR_NO
from data_pipeline.teachers.reasoning.parts import places_of, whole_sentences
from data_pipeline.teachers.reasoning.places import places_in
from data_pipeline.text.content import keys
from judge.types import Language, Sample, Span

ErrorKind = Literal["differs", "against", "absent", "answered"]
"""What is wrong: another fact than the document's; a statement turned round by a small word; nothing of it in
the document; the document does tell what it is said not to tell."""

_KINDS: dict[str, ErrorKind] = {"added_sentence": "absent", "half_refusal": "answered"}
"""Of edit types that ``replaced`` does not tell from others."""
_WORDS_BEFORE = re.compile(r"(?:[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+)\s*")
_WORDS_AFTER = re.compile(r"\s*(?:[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+)")
_MARKER = re.compile(r"\s*(?:[*•–-]+|\(?\d{1,2}[.)、])(?=\s|[\u4e00-\u9fff])\s*")
_ALONE = re.compile(r"(?:sure|certainly|of course|absolutely|great|okay|当然|好的|\d{1,2}[.)、])\W*", re.I)
_SOURCE_EN = r"(?:documents?|passages?|texts?|context|article|excerpt)"
_SOURCE_ZH = "(?:文档|原文|文中|文章|材料|资料|段落|文本)"
_REFUSAL: Mapping[Language, re.Pattern[str]] = {
    "en": re.compile(
        rf"\b{_SOURCE_EN}\b[^.]{{0,30}}\b(?:not|n['’]t|no|never|nothing|nowhere)\b[^.]{{0,30}}"
        r"\b(?:say|state|mention|specif|provid|contain|give|tell|answer|explain|inform|includ|address|discuss"
        r"|indicat|nam|describ)"
        r"|\b(?:not|n['’]t|no|unable|impossible|nothing|cannot)\b[^.]{0,60}\b(?:in|from|by|on|within) "
        rf"(?:the |this |these |any )?(?:\w+ )?{_SOURCE_EN}\b",
        re.I,
    ),
    "zh": re.compile(
        rf"{_SOURCE_ZH}[^。；]{{0,12}}(?:没有|没|未|并未|无法|不曾|不能)[^。；]{{0,8}}"
        r"(?:说|提到|提及|提供|给出|涉及|回答|介绍|交代|写|记载|指出|确定|得知|判断)"
        rf"|(?:无法|不能)[^。；]{{0,8}}{_SOURCE_ZH}"
    ),
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an answer, or a whole short one, without the mark of a list before it."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Where it ends in the answer."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Error:
    """A wrong span of an answer (``said``), and what the document says in its place, where it does.

    ``said`` is empty where the answer leaves something out.
    """

    kind: ErrorKind
    start: int
    end: int
    said: str
    there: str = ""


def claims_of(answer: str) -> list[Claim]:
    """The claims of an answer, in order. What says nothing alone ("Yes.", "1.") goes with what follows."""
    found: list[Claim] = []
    start: int | None = None
    spans = whole_sentences(answer)
    for span in spans:
        begin = span.start if start is None else start
        text = answer[begin : span.end]
        bare = text[marker.end() :] if (marker := _MARKER.match(text)) else text
        start = begin if _says_nothing(bare) else None
        if start is None:
            found.append(Claim(bare, span.end - len(bare)))
    if start is not None and found:  # what comes last and says nothing belongs to what is before it
        found[-1] = Claim(answer[found[-1].start : spans[-1].end], found[-1].start)
    return found or [Claim(answer.strip(), len(answer) - len(answer.lstrip()))]


def _says_nothing(text: str) -> bool:
    opening = YES_OR_NO.match(text)
    return bool(_ALONE.fullmatch(text)) or not keys(text[opening.end() :] if opening else text)


def opens_a_list(claim: Claim) -> bool:
    """Does a sentence only lead up to others ("Here are the steps:")?"""
    return claim.text.endswith((":", "：", "?", "？"))


def refuses(text: str, language: Language) -> bool:
    """Does a claim say that the document does not tell something?"""
    return bool(_REFUSAL[language].search(text))


def errors_of(sample: Sample) -> list[Error]:
    """What is wrong in a sample's answer; empty where its ``meta`` does not tell.

    ``errors`` (several edits with their places) come before the one edit that ``edit_type`` names, and that
    before ``spans`` that people marked.
    """
    meta = sample.meta
    noted: Sequence[Mapping[str, Any]] = meta.get("errors") or ([meta] if meta.get("edit_type") else ())
    if noted:
        return [error for edit in noted for error in _of_edit(edit, sample)]
    spans = [span for span in meta.get("spans") or () if span.get("text")]
    return [error for span in spans for error in _of_span(span, sample.answer)]


def _of_edit(edit: Mapping[str, Any], sample: Sample) -> Iterator[Error]:
    said, there = str(edit.get("inserted") or ""), str(edit.get("replaced") or "")
    kind = _KINDS.get(str(edit["edit_type"]), "differs")
    if refuses(said or sample.answer, sample.language):
        kind = "answered"
    elif kind == "differs" and not there:
        kind = "absent"
    elif kind == "differs" and said and not keys(said) and not keys(there):
        kind = "against"
    for place in _places(edit, said, there, sample):
        yield Error(kind, place.start, place.end, said, there)


def _places(edit: Mapping[str, Any], said: str, there: str, sample: Sample) -> list[Span]:
    """Where an edit is to be seen in the answer; a fact changed all over the document, wherever it stands."""
    start, end = edit.get("start"), edit.get("end")
    if isinstance(start, int) and isinstance(end, int) and sample.answer[start:end] == said:
        return [Span(start, end)]
    if not said:
        return [_left_out(there, sample)]
    found = list(places_of(said, sample.answer)) or [Span(0, len(sample.answer))]
    return found if edit["edit_type"] == "document_swap" else found[:1]


def _left_out(there: str, sample: Sample) -> Span:
    """The end of the claim from which something was left out: the one most like its place in the document."""
    quotes = places_in(sample.document_text).quotes(keys(there), musts=[there])
    held = quotes[0].keys if quotes else frozenset[str]()
    end = max(claims_of(sample.answer), key=lambda claim: len(keys(claim.text) & held)).end
    return Span(end, end)


def _of_span(span: Mapping[str, Any], answer: str) -> Iterator[Error]:
    text, start = str(span["text"]), span.get("start")
    if not isinstance(start, int) or answer[start : start + len(text)] != text:
        start = answer.find(text)
    if start >= 0:
        yield Error("absent", start, start + len(text), text)


def wrong_in(claim: Claim, errors: Sequence[Error]) -> list[Error]:
    """The errors of a claim, each cut to what lies within it."""
    found = []
    for error in errors:
        low, high = max(error.start, claim.start), min(error.end, claim.end)
        if low < high or (error.start == error.end and claim.start <= error.start <= claim.end):
            said = claim.text[low - claim.start : high - claim.start] if error.said else ""
            if not error.said or keys(said) or said.strip() == error.said.strip():
                found.append(replace(error, start=low, end=high, said=said))
    return found


def restored(claim: Claim, errors: Sequence[Error]) -> str:
    """A claim as the document has it, as far as that is known."""
    text = claim.text
    for error in sorted(errors, key=lambda error: -error.start):
        if error.kind in ("differs", "against"):
            start, end = error.start - claim.start, error.end - claim.start
            text = text[:start] + error.there + text[end:]
    return text


def around(claim: Claim, error: Error, text: str) -> Iterator[str]:
    """A text in the place of an error, with fewer and fewer words of the claim around it."""
    before = _WORDS_BEFORE.findall(claim.text[: error.start - claim.start])
    after = _WORDS_AFTER.findall(claim.text[error.end - claim.start :])
    for count in (3, 2, 1, 0):
        left = "".join(before[-count:]) if count else ""
        yield (left + text + "".join(after[:count])).strip()
