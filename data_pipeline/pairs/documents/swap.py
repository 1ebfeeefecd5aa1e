"""The edit ``document_swap``: a fact becomes another one at every mention in the document.

The new document supports the old answer no more, and it supports the new one. Either of the two may be the
answer of a pair, so that each document is as often the faithful as the hallucinated one, and neither tells.
"""

import re
from collections.abc import Iterator, Mapping
from random import Random

from data_pipeline.edits.edit import digits_of, listed_together, occurs
from data_pipeline.edits.types import FOREIGN_EDITS
from data_pipeline.pairs.contrast import Contrast
from data_pipeline.pairs.documents.parts import parts_of
from data_pipeline.pairs.documents.plausible import can_change, is_bound, is_whole_name
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import answer_facts, document_facts, find_facts
from data_pipeline.text.names_en import GENERIC
from judge.types import Language, Sample

NEAR = FOREIGN_EDITS
"""Edits of a text that put a near number or date, which the document lacks, in the place of a true one."""
MOST_MENTIONS = 6
"""Of a name that changes places."""
_COMPARES = re.compile(
    r"\b(?:more|less|fewer|rose|fell|grew|total|only|both|each|sum|half|double|twice|between|from \S+ to"
    r"|than|vs|versus|compared|increas\w*|decreas\w*|declin\w*|drop\w*|reduc\w*|\w+er|respectively"
    r"|of (?:the|these|which))\b"
    r"|[增减升降超多少共总其]|[高低]于",
    re.I,
)
"""Words by which two numbers of a sentence may depend on each other."""

_PARTICLES = frozenset(
    ("van", "von", "de", "del", "der", "di", "da", "la", "le", "el", "al", "bin", "ibn", "ten")
)
"""First words of names that are written small in some places."""
_DIRECTIONS = frozenset(
    ("middle", "east", "west", "eastern", "western", "northern", "southern", "central", "far")
)
_STATION = r"\b(?:Mr|Mrs|Ms|Miss|Sir|Lady|Lord|daughter|son|wife|husband|sister|brother|mother|father)\b\.?"
"""What one name may have before it and another may not."""
_TIMES = frozenset(("bp", "bc", "bce", "ad", "ce", "year", "years", "day", "days", "年", "岁", "月", "日"))
"""Units of numbers whose order tells itself."""

_CHANGE = {"en": "the document says '{stands}', not '{said}'", "zh": "文档说的是“{stands}”，不是“{said}”"}

Changes = Mapping[str, str]
"""What becomes what, all over a text."""


def swap(gold: Sample, rng: Random) -> Iterator[Contrast]:
    """Edits of the document after which it contradicts the answer."""
    ways = [_near_number, _near_date, _numbers, _names]
    rng.shuffle(ways)
    for way in ways:
        for old, new, changes in way(gold, rng):
            found = either_way(gold, old, new, changes, rng)
            if found is not None:
                yield found


def either_way(gold: Sample, old: str, new: str, changes: Changes, rng: Random) -> Contrast | None:
    """The pair in which the document's ``old`` became ``new``, or that of the answer which says ``new``.

    ``None`` where the answer does not name the fact.
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


def _near_number(gold: Sample, rng: Random) -> Iterator[tuple[str, str, Changes]]:
    return _near(gold, "number", rng)


def _near_date(gold: Sample, rng: Random) -> Iterator[tuple[str, str, Changes]]:
    return _near(gold, "date", rng)


def _near(gold: Sample, kind: str, rng: Random) -> Iterator[tuple[str, str, Changes]]:
    """A number or a date of the answer that becomes a near one."""
    document = gold.document_text
    edit = NEAR[kind](gold.answer, document, gold.question, gold.language, rng)
    if edit is None or occurs(edit.replaced, gold.question) or not occurs(edit.replaced, document):
        return
    if is_bound(edit.replaced, f"{gold.answer}\n{document}"):
        return
    if can_change(edit.replaced, edit.inserted, document) and _clean(edit.replaced, edit.inserted, gold):
        yield edit.replaced, edit.inserted, {edit.replaced: edit.inserted}


def _numbers(gold: Sample, rng: Random) -> Iterator[tuple[str, str, Changes]]:
    """A number of the answer that changes places with another one that counts the same.

    Nothing that may be compared with either, so that no sum and no comparison goes wrong.
    """
    document, language = gold.document_text, gold.language
    told = f"{gold.question} {gold.answer}"
    others = document_facts("number", gold.answer, document, language)
    texts = [document[part.start : part.end] for part in parts_of(document)]
    for fact in answer_facts("number", gold.answer, document, gold.question, language):
        alike = [
            other.text
            for other in others
            if (other.form, other.unit) == (fact.form, fact.unit)
            and (fact.unit or "%" in fact.form or fact.form[0] in "$€£¥")
            and fact.unit not in _TIMES
            and min(len(digits_of(text)) for text in (fact.text, other.text)) >= 2
            and digits_of(other.text) != digits_of(fact.text)
            and not occurs(other.text, told)
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


def _names(gold: Sample, rng: Random) -> Iterator[tuple[str, str, Changes]]:
    """A name of the answer or the question that changes places with another one of its kind."""
    document, language = gold.document_text, gold.language
    if language != "en":  # what is found in Chinese is too often half a name, or an office
        return
    names = {fact.text: fact for fact in document_facts("entity", gold.answer, document, language)}
    told = f"{gold.question}\n{gold.answer}"
    mine = [
        fact
        for fact in names.values()
        if fact.form.startswith("person")
        and occurs(fact.text, gold.answer)
        and not occurs(fact.text, gold.question)
    ]
    rng.shuffle(mine)
    for fact in mine:
        others = [
            other
            for other in names.values()
            if _alike(fact, other, document)
            and not _parts(other.text) & _parts(told)
            and not listed_together(fact.text, other.text, document)
            and is_whole_name(other.text, document)
        ]
        rng.shuffle(others)
        if others and is_whole_name(fact.text, document):
            new = others[0].text
            yield fact.text, new, _exchange(fact.text, new, document)


def _alike(one: Fact, two: Fact, document: str) -> bool:
    """May two names change places, and the text stay one that somebody might write?

    Two persons by first and last name; rules are not sure enough of other names. One that stands everywhere
    is the topic, and stays.
    """
    return (
        one.form == two.form == "person-long"
        and {one.unit, two.unit} != {"female", "male"}
        and one.text[:2] != two.text[:2]
        and not (one.text.endswith("s") or two.text.endswith("s"))  # they write their genitive in another way
        and not {*one.text.lower().split(), *two.text.lower().split()} & (_PARTICLES | _DIRECTIONS | GENERIC)
        and len(one.text.split()) == len(two.text.split()) == 2
        and max(document.count(one.text), document.count(two.text)) <= MOST_MENTIONS
        and not any(re.search(rf"{_STATION} {re.escape(name.text)}", document) for name in (one, two))
    )


def _exchange(one: str, two: str, document: str) -> dict[str, str]:
    """What becomes what: both names, and the last words of both where they stand alone too."""
    found = {one: two, two: one}
    last_one, last_two = one.split()[-1], two.split()[-1]
    for short, other in ((last_one, last_two), (last_two, last_one)):
        if occurs(short, document):
            found[short] = other
    return found


def replace_words(text: str, changes: Changes) -> str:
    """Put words in the place of others at every mention, all at once, longer ones first."""
    longest = sorted(changes, key=len, reverse=True)
    pattern = "|".join(
        (r"(?<![\w-])(?<!\d[.,:])" if re.match(r"\w", old) and old.isascii() else r"(?<!\d)")
        + re.escape(old)
        + (r"(?![\w]|[.,:]\d)" if re.search(r"\w$", old) and old.isascii() else "(?!代)")
        for old in longest
    )
    return re.sub(pattern, lambda match: changes[match[0]], text)


def _clean(old: str, new: str, gold: Sample) -> bool:
    """Is the old number or date nowhere any more once it is changed, and no article before it wrong?"""
    changed = replace_words(gold.document_text, {old: new})
    both = f"{gold.document_text} {gold.answer}"
    return not _lingers(old, changed, gold.language) and not re.search(rf"\ban? {re.escape(old)}", both, re.I)


def _lingers(old: str, changed: str, language: Language) -> bool:
    """Is a number or a date still there in another form: its digits, or one of its numbers of two digits?"""
    if occurs(old, changed):
        return True
    numbers = set(re.findall(r"\d[\d.,]*\d|\d\d", old))
    if any(occurs(number, changed) for number in numbers):
        return True
    digits = digits_of(old)
    return bool(digits) and any(digits_of(fact.text) == digits for fact in find_facts(changed, language))


def _parts(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{2,}", text) if word[0].isupper()} - GENERIC
