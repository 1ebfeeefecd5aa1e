"""The edit type ``role`` in Chinese: who did it and to whom it was done change places."""

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random

from data_pipeline.perturb.edit import Edit, Swap
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.zh.edit import chinese_edit, clauses
from data_pipeline.perturb.zh.facts import chinese_facts, is_translated
from data_pipeline.perturb.zh.segment import plain
from data_pipeline.text.words import either
from judge.types import Language

# What may stand between the two: a verb that both could do to each other, alone or with what leads to it.
_VERB = re.compile(
    rf"[^，。；！？、\n]{{0,6}}?(?:{either('role_verbs_zh')})了?(?:过)?[^，。；！？、\n]{{0,4}}"
    rf"|(?:向|对|给|把|将|比|被|为|替|帮)[^，。；！？、\n]{{0,3}}"
)
_SIDES = ("原告", "被告")
_BOTH = re.compile(r"[和与跟同及、]|互相|相互|一起|共同|双方|之间|结婚|离婚|会面|合作")
_ALIKE = ("person", "foreign", "anonymous")


def role(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Let two names, or plaintiff and defendant, change places around what one does to the other."""
    pairs = [*_pairs(answer, document), *_sides(answer)]
    rng.shuffle(pairs)
    for one, two in pairs:
        between = plain(answer)[one.end : two.start]
        if _reversed(one.text, two.text, between, document):
            continue
        swaps: list[Swap] = [(one.start, one.end, two.text), (two.start, two.end, one.text)]
        if edit := chinese_edit("role", answer, document, swaps):
            return edit
    return None


def _pairs(answer: str, document: str) -> Iterator[tuple[Fact, Fact]]:
    """Names of one kind with a verb between them that goes one way."""
    source = answer if is_translated(document) else document
    known = {fact.text: fact.form for fact in chinese_facts("entity", source)}
    names = [fact for fact in chinese_facts("entity", answer) if fact.text in known]
    for one, two in pairwise(names):
        if _kind(known[one.text]) != _kind(known[two.text]) or one.text == two.text:
            continue
        between = plain(answer)[one.end : two.start]
        if _VERB.fullmatch(between) and not _BOTH.search(between):
            yield one, two


def _kind(form: str) -> str:
    return "person" if form in _ALIKE else form


def _sides(answer: str) -> Iterator[tuple[Fact, Fact]]:
    """Plaintiff and defendant of one clause that names each of them once."""
    text = plain(answer)
    for match in re.finditer(r"[^，。；！？：\n]+", text):
        spots = [(side, [m.start() + match.start() for m in re.finditer(side, match[0])]) for side in _SIDES]
        if any(len(found) != 1 for _, found in spots):
            continue
        one, two = sorted(
            (Fact("entity", side, found[0], found[0] + 2) for side, found in spots), key=lambda f: f.start
        )
        between = text[one.end : two.start]
        whole = not re.match(r"人|方|席|一|二|[\u4e00-\u9fff]?[某x×\d]", text[one.end :]) and not re.match(
            r"人|方|席|一|二|[\u4e00-\u9fff]?[某x×\d]", text[two.end :]
        )
        if whole and between and _VERB.fullmatch(between) and not _BOTH.search(between):
            yield one, two


def _reversed(one: str, two: str, between: str, document: str) -> bool:
    """Does a clause of the document name the two the other way round, so that both may be so?"""
    pattern = re.compile(
        rf"{re.escape(plain(two))}[^，。；]*{re.escape(between[-3:])}[^，。；]*{re.escape(plain(one))}"
    )
    return any(pattern.search(plain(clause)) for clause in clauses(document))
