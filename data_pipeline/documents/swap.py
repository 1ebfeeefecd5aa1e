"""The edit ``document_swap``: a fact of the answer becomes another one at every mention in the document."""

import re
from collections.abc import Iterator
from random import Random

from data_pipeline.contrast import Contrast
from data_pipeline.documents.bearing import parts_of
from data_pipeline.perturb.edit import Edit, digits_of, listed_together, occurs
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.facts import document_facts, find_facts
from data_pipeline.perturb.names_en import GENERIC
from data_pipeline.perturb.swap_date import foreign_date
from data_pipeline.perturb.swap_number import foreign_number
from data_pipeline.perturb.words import words
from judge.types import Language, Sample

NEAR = {"number": foreign_number, "date": foreign_date}
"""Edits of a text that put a near number or date, which the document lacks, in the place of a true one."""
_STOP = frozenset(words("stop_words_en"))
MOST_MENTIONS = 6
"""Of a name that changes places."""


def swap(gold: Sample, rng: Random) -> Iterator[Contrast]:
    """Edits of the document after which it contradicts the answer."""
    ways = [*NEAR, "names"]
    rng.shuffle(ways)
    for way in ways:
        found = _names(gold, rng) if way == "names" else _near(gold, way, rng)
        for old, new, changed in found:
            if gold.language == "zh":
                change = f"文档中的“{old}”被改成“{new}”"
            else:
                change = f"the document says '{new}' wherever it said '{old}'"
            yield Contrast(
                edit_type="document_swap",
                change=change,
                replaced=new,
                inserted=old,
                faithful_document=_elsewhere(gold, rng),
                hallucinated_document=changed,
            )


def _near(gold: Sample, kind: str, rng: Random) -> Iterator[tuple[str, str, str]]:
    """A number or a date of the answer that becomes a near one in the document."""
    document = gold.document_text
    edit = NEAR[kind](gold.answer, document, gold.question, gold.language, rng)
    if edit is None or occurs(edit.replaced, gold.question) or not occurs(edit.replaced, document):
        return
    if changed := _changed(edit, gold):
        yield edit.replaced, edit.inserted, changed


def _names(gold: Sample, rng: Random) -> Iterator[tuple[str, str, str]]:
    """A name of the answer that changes places with another one of its kind, all over the document."""
    document, language = gold.document_text, gold.language
    if language != "en":  # what is found in Chinese is too often half a name, or an office
        return
    names = {fact.text: fact for fact in document_facts("entity", gold.answer, document, language)}
    told = f"{gold.question}\n{gold.answer}"
    mine = [
        fact for fact in names.values() if fact.form.startswith("person") and occurs(fact.text, gold.answer)
    ]
    rng.shuffle(mine)
    for fact in mine:
        if occurs(fact.text, gold.question):
            continue
        others = [
            other
            for other in names.values()
            if _alike(fact, other, document)
            and not _parts(other.text) & _parts(told)
            and not listed_together(fact.text, other.text, document)
            and _whole(other, document)
        ]
        rng.shuffle(others)
        if others and _whole(fact, document):
            new = others[0].text
            yield fact.text, new, replace_words(document, _exchange(fact.text, new, document))


def _alike(one: Fact, two: Fact, document: str) -> bool:
    """May two names change places, and the text stay one that somebody might write?

    Two persons by first and last name; rules are not sure enough of other names. One that stands everywhere
    is the topic, and stays.
    """
    return (
        one.form == two.form
        and one.text[:2] != two.text[:2]
        and len(one.text.split()) == len(two.text.split()) == 2
        and max(document.count(one.text), document.count(two.text)) <= MOST_MENTIONS
    )


def _exchange(one: str, two: str, document: str) -> dict[str, str]:
    """What becomes what: both names, and the last words of both where they stand alone too."""
    found = {one: two, two: one}
    last_one, last_two = one.split()[-1], two.split()[-1]
    for short, other in ((last_one, last_two), (last_two, last_one)):
        if occurs(short, document):
            found[short] = other
    return found


def replace_words(text: str, changes: dict[str, str]) -> str:
    """Put words in the place of others at every mention, all at once, longer ones first."""
    longest = sorted(changes, key=len, reverse=True)
    pattern = "|".join(
        (r"(?<![\w])" if re.match(r"\w", old) and old.isascii() else "")
        + re.escape(old)
        + (r"(?![\w]|[.,]\d)" if re.search(r"\w$", old) and old.isascii() else "")
        for old in longest
    )
    return re.sub(pattern, lambda match: changes[match[0]], text)


def _whole(fact: Fact, document: str) -> bool:
    """Does the first word of a name of two never stand without the last?"""
    first, last = fact.text.split()
    return not re.search(rf"(?<!\w){re.escape(first)}(?! {re.escape(last)})(?!\w)", document)


def _changed(edit: Edit, gold: Sample) -> str | None:
    """The document with an edit's number or date changed all over; ``None`` where that is not surely done."""
    if not _can_change(edit, gold.document_text):
        return None
    changed = replace_words(gold.document_text, {edit.replaced: edit.inserted})
    return None if _lingers(edit.replaced, changed, gold.language) else changed


def _lingers(old: str, changed: str, language: Language) -> bool:
    """Is a number or a date still there in another form: its digits, or one of its numbers of two digits?"""
    if occurs(old, changed):
        return True
    numbers = set(re.findall(r"\d[\d.,]*\d|\d\d", old))
    if any(occurs(number, changed) for number in numbers):
        return True
    digits = digits_of(old)
    return bool(digits) and any(digits_of(fact.text) == digits for fact in find_facts(changed, language))


def _can_change(edit: Edit, document: str) -> bool:
    """Has a number two digits at least, and is it never part of a name, as in "Apollo 11" or "7 Wall Street"?

    A small one may be said in words too, or mean other things in other places.
    """
    number, found = edit.replaced, re.escape(edit.replaced)
    before = (match[1] for match in re.finditer(rf"\b([A-Z]\w*) {found}(?!\w)", document))
    after = re.search(rf"(?<!\w){found} [A-Z][a-z]", document)
    named = after is not None or any(word.lower() not in _STOP for word in before)
    return len(digits_of(number)) >= 2 and not named


def _elsewhere(gold: Sample, rng: Random) -> str:
    """The document with a number or date changed that neither question nor answer is about."""
    document = gold.document_text
    parts = list(parts_of(document))
    rng.shuffle(parts)
    for part in parts:
        text = document[part.start : part.end]
        for near in NEAR.values():
            edit = near(text, document, "", gold.language, rng)
            if edit is None or any(occurs(edit.replaced, said) for said in (gold.answer, gold.question)):
                continue
            if changed := _changed(edit, gold):
                return changed
    return document


def _parts(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{2,}", text) if word[0].isupper()} - GENERIC
