"""The edit type ``entity`` in English: another name of the same kind, always from the document."""

import re
from random import Random

from data_pipeline.edits.distractors import may_also_hold
from data_pipeline.edits.edit import Edit, Swap, listed_together, make_edit, occurs
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import document_facts, is_translation
from data_pipeline.text.names_en import GENERIC, is_title
from data_pipeline.text.words import words

_GENDERED = re.compile(
    r"\b(?:he|she|his|her|him|hers|himself|herself|widow|wife|husband|actress|mother"
    r"|father|son|daughter|brother|sister|mrs|ms|mr|miss|lady|sir|king|queen|prince|princess)\b",
    re.I,
)
_STOP = frozenset(words("stop_words_en"))
_SURE = ("person-long", "person-short", "country", "city", "state", "demonym", "virus")
"""Kinds of English names that may be swapped as they are; others need the same head word."""
_BY_HEAD = ("place", "organisation", "thing")


def entity(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Replace every mention of one name of the answer by another of the same kind from the document."""
    if is_translation(answer, document):
        return None
    names = document_facts("entity", answer, document, "en")
    kinds = {name.text: name for name in names}
    options: list[tuple[float, str, str]] = []
    for old, fact in kinds.items():
        spots = _mentions(old, answer)
        if not spots or not _sure(fact):
            continue
        at = Fact("entity", old, spots[0], spots[0] + len(old), fact.form, fact.unit)
        if not _stands_alone(at, answer):
            continue
        for new, other in kinds.items():
            head = fact.unit if fact.form in _BY_HEAD else ""
            if other.form != fact.form or len(new) < 2 or _related(old, new, head):
                continue
            if (
                any(_known(new, text, head) for text in (answer, question))
                or listed_together(old, new, document)
                or _article(answer, spots[0]) != _article(document, other.start)
                or not _alike(fact, other)
                or (_GENDERED.search(answer) and _gender_unlike(fact, other))
                or may_also_hold(at, new, answer, question, document)
            ):
                continue
            gendered = fact.unit == "sure" or other.unit == "sure"
            rank = (1.0 if occurs(old, question) else 0.0) + 0.5 * gendered
            rank += 0.5 * (len(old.split()) != len(new.split()))
            options.append((rank, old, new))
    options.sort()
    rng.shuffle(options)
    for _, old, new in sorted(options, key=lambda item: item[0]):
        swaps: list[Swap] = [(spot, spot + len(old), new) for spot in _mentions(old, answer)]
        edit = make_edit("entity", answer, document, swaps)
        if edit and not any(occurs(part, edit.answer) for part in _parts(old) - _parts(new)):
            return edit
    return None


def _stands_alone(fact: Fact, answer: str) -> bool:
    """Is a place named without a larger or smaller place next to it, and not as part of another name?"""
    if fact.form not in ("country", "city", "state", "place"):
        return True
    before, after = answer[max(0, fact.start - 30) : fact.start], answer[fact.end : fact.end + 30]
    if re.search(r"[A-ZÀ-Þ][\w’'-]*(?:,| in| of)? (?:the )?\(?$", before) and not re.search(
        r"(?:^|[.!?] )\w+ $", before
    ):
        return False
    return not re.match(r",? ?\(?[A-ZÀ-Þ]|-| (?:disease|virus|fever|variant|strain|University)\b", after)


def _sure(fact: Fact) -> bool:
    """Is it certain what sort of thing an English name stands for?"""
    return fact.form in _SURE or (fact.form in _BY_HEAD and fact.unit != "")


def _alike(one: Fact, two: Fact) -> bool:
    """Can two English names of a kind replace each other?"""
    return one.unit == two.unit or one.form.startswith("person")


def _mentions(name: str, text: str) -> list[int]:
    """Where the name occurs in the text without being part of a longer name."""
    if name not in text:  # a pattern costs far more
        return []
    pattern = rf"(?<![\w-])(?<![A-Za-z]\. ){re.escape(name)}(?!\w|-\w| [A-Z]|\.\w|[’'](?!s))"
    found = [match.start() for match in re.finditer(pattern, text)]
    return [at for at in found if not _goes_before(text[:at])]


def _goes_before(before: str) -> bool:
    """Do these words begin a name: is the last one capitalised and not an ordinary first word or a title?"""
    last = re.search(r"([A-ZÀ-Þ][\w’'-]*\.?) (?:(?:of|de|van|von|and) )?$", before)
    return last is not None and not (last[1].lower().rstrip(".") in _STOP or is_title(last[1]))


def _known(name: str, text: str, head: str) -> bool:
    """Does the text name this already, even if only by a part of the name other than its head word?"""
    return any(occurs(part, text) for part in _parts(name) - {head})


def _related(one: str, two: str, head: str) -> bool:
    """May the two be names of one thing? A shared head word does not make them one."""
    first, second = _parts(one) - {head}, _parts(two) - {head}
    if not first or not second or first & second:
        return True
    return any(a[:4] == b[:4] for a in first for b in second if len(a) > 4 and len(b) > 4)  # Egypt, Egyptian


def _parts(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w{2,}", name)} - GENERIC


def _gender_unlike(one: Fact, two: Fact) -> bool:
    """May two persons differ in gender? True unless both are known to have the same."""
    return one.form.startswith("person") and (one.unit != two.unit or one.unit == "sure")


def _article(text: str, start: int) -> bool:
    return text[max(0, start - 4) : start].lower() == "the "
