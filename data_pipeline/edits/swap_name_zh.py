"""The edit type ``entity`` in Chinese: another name of the same kind, always from the document."""

import re
from collections.abc import Iterator
from functools import lru_cache
from random import Random

from data_pipeline.edits.edit import Edit, Swap
from data_pipeline.edits.edit_zh import also_holds, chinese_edit, context_of, joined, names, same_thing
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts_zh import chinese_facts, is_translated
from data_pipeline.text.people_zh import form_of_person
from data_pipeline.text.segment_zh import is_whole, plain, segment, words_in
from data_pipeline.text.sentences import starts_of

_WHO = re.compile(r"谁|哪位|哪一位|何人|哪个人|什么人")
_PLACE_BEHIND = re.compile(r"的?[\u4e00-\u9fff]{2,5}(?:省|州|市|县|区|部|境内|湖|河|山)")
_OFFICE_BEHIND = re.compile(r"前?(?:总统|总理|首相|国王|女王|皇帝|主席|外长|大陆|本土)")
_PEOPLE = ("person", "foreign", "anonymous")


def chinese_entity(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Replace every mention of one name by another name of the same form."""
    if is_translated(document):
        return None
    options = sorted(_names(answer, document, question), key=lambda option: option[:2])
    rng.shuffle(options)
    for old, new, spots in options:
        swaps: list[Swap] = [(spot, spot + len(old), new) for spot in spots]
        if edit := chinese_edit("entity", answer, document, swaps):
            return edit
    return None


def _names(answer: str, document: str, question: str) -> Iterator[tuple[str, str, list[int]]]:
    kinds = {fact.text: fact.form for fact in chinese_facts("entity", document)}
    asked = _asked_for(answer, document, question)
    for old, form in {**asked, **kinds}.items():
        spots = mentions(old, answer, form)
        if not spots or names(old, question):
            continue
        context = context_of(Fact("entity", old, spots[0], spots[0] + len(old)), answer, question)
        for new, other in kinds.items():
            fits = other == form and may_stand(old, new, form, answer, question, document)
            if fits and not also_holds(old, new, context, document):
                yield old, new, spots


def _asked_for(answer: str, document: str, question: str) -> dict[str, str]:
    """The answer as a person's name if the question asks for a person: known by its surname or its sound."""
    name = answer.strip(" 。")
    if not _WHO.search(plain(question)) or name not in document or not 2 <= len(name) <= 14:
        return {}
    form = form_of_person(plain(name))
    return {name: form} if form else {}


def may_stand(old: str, new: str, form: str, answer: str, question: str, document: str) -> bool:
    """Is the new name for something else, not in answer or question, and not listed with the old one?"""
    one, two = plain(old), plain(new)
    if one in two or two in one or one[:2] == two[:2] or two in plain(answer) + plain(question):
        return False
    parts = [part for part in re.split(r"[·•‧・《》]", one) if len(part) > 1]
    differing = sum(a != b for a, b in zip(one, two, strict=False))
    if any(part in two for part in parts) or (len(one) == len(two) > 2 and differing == 1):
        return False  # parts of one name, or one name spelt in two ways
    if any(name in two or two in name for name in _names_in(answer + "\n" + question) if name != one):
        return False
    if form.startswith("organisation") and _share_core(one, two):
        return False
    if form == "country" and any(fact.form == "continent" for fact in chinese_facts("entity", answer)):
        return False
    if form == "anonymous" and one[0] == two[0]:
        return False
    return not joined(old, new, document) and not same_thing(old, new, document)


@lru_cache(maxsize=64)
def _names_in(text: str) -> tuple[str, ...]:
    return tuple(plain(fact.text) for fact in chinese_facts("entity", text))


def _share_core(one: str, two: str) -> bool:
    """May two organisations be the same: do they share more than places and common words?

    天悦明德公司 is short for 北京天悦明德教育科技有限公司.
    """
    core = "".join(
        word.text if word.tag in ("nr", "nrt", "nz", "x", "g", "ng", "eng", "a", "i") else " "
        for word in segment(one)
    )
    core = core if core.strip() else one[:4]
    return any(core[at : at + 2] in two for at in range(len(core) - 1) if " " not in core[at : at + 2])


def mentions(name: str, text: str, form: str) -> list[int]:
    """Where a name occurs in a text as whole words; empty if any mention may be part of a longer name."""
    wanted, simple = plain(name), plain(text)
    found = list(starts_of(wanted, simple))
    if form.startswith("title") or len(simple.strip(" 。")) == len(wanted):
        return found
    if form in _PEOPLE and len(simple) <= len(wanted) + 3:
        return []  # an answer that is little more than this name is a longer name
    spans = [(start, start + len(wanted)) for start in found]
    if form == "foreign" and any(_qualifies(text, end) for _, end in spans):
        return []
    if form.startswith("organisation"):
        if any(simple[end : end + 1] in tuple("第分") for _, end in spans):
            return []  # a branch of it
        whole = {(fact.start, fact.end) for fact in chinese_facts("entity", text)}
        return found if all(span in whole for span in spans) else []
    if any(not is_whole(text, *span) or _in_longer_name(text, *span) for span in spans):
        return []
    return found


def _qualifies(text: str, end: int) -> bool:
    """Does a noun follow directly, as in 奥斯卡最佳男主角奖?"""
    behind = words_in(text, end, end + 8)[:1]
    return bool(behind) and behind[0].start == end and behind[0].tag[0] in "nab"


def _in_longer_name(text: str, start: int, end: int) -> bool:
    """May a span be part of a longer name, or the office of somebody named after it?"""
    simple = plain(text)
    if _PLACE_BEHIND.match(simple, end) or _OFFICE_BEHIND.match(simple, end):
        return True
    if any(mark in "·•‧・" for mark in simple[max(0, start - 1) : start] + simple[end : end + 1]):
        return True
    if simple[max(0, start - 1) : start] in tuple("新老古前大小"):
        return True
    before, behind = words_in(text, max(0, start - 8), start)[-1:], words_in(text, end, end + 8)
    named = any(word.tag in ("nr", "nrt") for word in behind[:2])
    if behind and behind[0].start == end and len(behind[0].text) == 1 and behind[0].tag[0] not in "pcuxvdfr":
        return True
    touching = [word for word in (*before, *behind[:1]) if word.end == start or word.start == end]
    return named or any(
        word.tag in ("nr", "nrt", "ns", "nt", "nz", "eng", "ng") or word.text in "·•‧・-—"
        for word in touching
    )
