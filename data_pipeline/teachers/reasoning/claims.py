"""What an answer claims, sentence by sentence, and what is wrong in it, as a sample's ``meta`` tells."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from data_pipeline.edits.polarity import YES_OR_NO
from data_pipeline.teachers.reasoning.places import places_of, whole_sentences
from data_pipeline.text.content import keys
from judge.types import Language, Sample, Span

ErrorKind = Literal["differs", "absent", "answered"]
"""What is wrong: another fact than the document's; nothing of it in the document; the document does tell what
it is said not to tell."""

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
    """A wrong span of an answer (``said``), and what the document says in its place, where it does."""

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
    spans = [{"inserted": span.get("text"), "start": span.get("start")} for span in meta.get("spans") or ()]
    return [error for edit in noted or spans for error in _of_edit(edit, sample)]


def _of_edit(edit: Mapping[str, Any], sample: Sample) -> Iterator[Error]:
    said, there = str(edit.get("inserted") or ""), str(edit.get("replaced") or "")
    edit_type, start = edit.get("edit_type"), edit.get("start")
    kind: ErrorKind = "absent"
    if edit_type == "half_refusal" or refuses(said, sample.language):
        kind = "answered"
    elif edit_type != "added_sentence" and keys(said) and keys(there):
        kind = "differs"
    if isinstance(start, int) and said and sample.answer.startswith(said, start):
        places = [Span(start, start + len(said))]
    else:  # a fact changed all over the document is wrong wherever it stands
        places = list(places_of(said, sample.answer))[: None if edit_type == "document_swap" else 1]
    for place in places:
        yield Error(kind, place.start, place.end, said, there if kind != "absent" else "")


def wrong_in(claim: Claim, errors: Sequence[Error]) -> list[Error]:
    """The errors of a claim, each cut to what lies within it; a small word that is missing is all of it."""
    found = []
    for error in errors:
        low, high = max(error.start, claim.start), min(error.end, claim.end)
        said = claim.text[max(low - claim.start, 0) : max(high - claim.start, 0)]
        if keys(said):
            found.append(replace(error, start=low, end=high, said=said))
        elif low < high and not keys(error.said):
            found.append(replace(error, start=low, end=high, said=claim.text))
    return found


def restored(claim: Claim, errors: Sequence[Error]) -> str:
    """A claim as the document has it, as far as that is known."""
    text = claim.text
    for error in sorted(errors, key=lambda error: -error.start):
        if error.kind == "differs":
            text = text[: error.start - claim.start] + error.there + text[error.end - claim.start :]
    return text
