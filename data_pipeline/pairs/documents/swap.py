"""The edit ``document_swap``: a fact becomes another one at every mention in the document.

The new document no longer supports the old answer, but supports the new one. Either can be the answer of a
pair, so each document is faithful as often as hallucinated, and neither gives the label away.
"""

import re
from collections.abc import Iterator, Mapping
from random import Random

from data_pipeline.edits.edit import digits_of, listed_together, occurs
from data_pipeline.edits.types import FOREIGN_EDITS
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.parts import texts_of
from data_pipeline.pairs.documents.plausible import can_change, is_bound
from data_pipeline.text.facts import answer_facts, document_facts, find_facts
from judge.types import Language, Sample

_COMPARES = re.compile(
    r"\b(?:more|less|fewer|rose|fell|grew|total|only|both|each|sum|half|double|twice|between|from \S+ to"
    r"|than|vs|versus|compared|increas\w*|decreas\w*|declin\w*|drop\w*|reduc\w*|\w+er|respectively"
    r"|of (?:the|these|which))\b"
    r"|[增减升降超多少共总其]|[高低]于",
    re.I,
)
"""Words that may make two numbers of a sentence depend on each other."""

_TIMES = frozenset(("bp", "bc", "bce", "ad", "ce", "year", "years", "day", "days", "年", "岁", "月", "日"))
"""Units of numbers whose wrong order would show."""

_CHANGE = {"en": "the document says '{stands}', not '{said}'", "zh": "文档说的是“{stands}”，不是“{said}”"}

Changes = Mapping[str, str]
"""Replacements to make throughout a text."""


def swap(gold: Sample, rng: Random) -> Iterator[Contrast]:
    """Edits of the document after which it contradicts the answer."""
    ways = [_near(gold, "number", rng), _near(gold, "date", rng), _numbers(gold, rng)]
    rng.shuffle(ways)
    for way in ways:
        for old, new, changes in way:
            found = either_way(gold, old, new, changes, rng)
            if found is not None:
                yield found


def either_way(gold: Sample, old: str, new: str, changes: Changes, rng: Random) -> Contrast | None:
    """The pair whose document changed from ``old`` to ``new``, or the reverse pair with an answer of ``new``.

    ``None`` if the answer or the document does not contain the fact.
    """
    document = gold.document_text
    changed = replace_words(document, changes)
    question, answer = (replace_words(text, changes) for text in (gold.question, gold.answer))
    if changed == document or answer == gold.answer:
        return None
    backward = rng.random() < 0.5
    said, stands = (new, old) if backward else (old, new)
    return Contrast(
        edit_type="document_swap",
        change=_CHANGE[gold.language].format(stands=stands, said=said),
        replaced=stands,
        inserted=said,
        faithful=answer if backward else None,
        hallucinated=answer if backward else None,
        question=question if backward else None,
        faithful_document=changed if backward else document,
        hallucinated_document=document if backward else changed,
    )


def _near(gold: Sample, kind: str, rng: Random) -> Iterator[tuple[str, str, Changes]]:
    """Change a number or a date of the answer to a near one that the document lacks."""
    document = gold.document_text
    edit = FOREIGN_EDITS[kind](gold.answer, document, gold.question, gold.language, rng)
    if edit is None or occurs(edit.replaced, gold.question) or not occurs(edit.replaced, document):
        return
    if is_bound(edit.replaced, f"{gold.answer}\n{document}"):
        return
    if can_change(edit.replaced, edit.inserted, document) and _clean(edit.replaced, edit.inserted, gold):
        yield edit.replaced, edit.inserted, {edit.replaced: edit.inserted}


def _numbers(gold: Sample, rng: Random) -> Iterator[tuple[str, str, Changes]]:
    """Swap a number of the answer with another one of the same unit.

    Skips sentences that may compare either with another number, so that no sum or comparison becomes wrong.
    """
    document, language = gold.document_text, gold.language
    context = f"{gold.question} {gold.answer}"
    others = document_facts("number", gold.answer, document, language)
    texts = texts_of(document)
    for fact in answer_facts("number", gold.answer, document, gold.question, language):
        alike = [
            other.text
            for other in others
            if (other.form, other.unit) == (fact.form, fact.unit)
            and (fact.unit or "%" in fact.form or fact.form[0] in "$€£¥")
            and fact.unit not in _TIMES
            and min(len(digits_of(text)) for text in (fact.text, other.text)) >= 2
            and digits_of(other.text) != digits_of(fact.text)
            and not occurs(other.text, context)
            and not listed_together(fact.text, other.text, document)
        ]
        rng.shuffle(alike)
        for new in alike[:3]:
            pair = (fact.text, new)
            holding = [text for text in texts if any(occurs(number, text) for number in pair)]
            if any(is_bound(number, f"{gold.answer}\n{document}") for number in pair):
                continue
            if occurs(fact.text, gold.question) or any(_COMPARES.search(text) for text in holding):
                continue
            if can_change(*pair, document) and can_change(*pair[::-1], document):
                yield fact.text, new, {fact.text: new, new: fact.text}
                break


def replace_words(text: str, changes: Changes) -> str:
    """Replace words at every mention, all at once, longer ones first."""
    longest = sorted(changes, key=len, reverse=True)
    pattern = "|".join(
        (r"(?<![A-Za-z0-9_-])(?<!\d[.,:])" if re.match(r"\w", old) and old.isascii() else r"(?<!\d)")
        + re.escape(old)
        + (r"(?![A-Za-z0-9_]|[.,:]\d)" if re.search(r"\w$", old) and old.isascii() else "(?!代)")
        for old in longest
    )
    return re.sub(pattern, lambda match: changes[match[0]], text)


def _clean(old: str, new: str, gold: Sample) -> bool:
    """After the change, is the old number or date gone, and no article before it wrong?"""
    changed = replace_words(gold.document_text, {old: new})
    both = f"{gold.document_text} {gold.answer}"
    return not _lingers(old, changed, gold.language) and not re.search(rf"\ban? {re.escape(old)}", both, re.I)


def _lingers(old: str, changed: str, language: Language) -> bool:
    """Is a number or date still there in another form: by its digits, or one of its longer numbers?"""
    if occurs(old, changed):
        return True
    numbers = set(re.findall(r"\d[\d.,]*\d|\d\d", old))
    if any(occurs(number, changed) for number in numbers):
        return True
    digits = digits_of(old)
    return bool(digits) and any(digits_of(fact.text) == digits for fact in find_facts(changed, language))
