"""The edit type ``quantifier``: how many or how often, where the document says it otherwise."""

import re
from collections.abc import Iterator
from functools import cache
from random import Random

from data_pipeline.perturb.edit import Edit, same_case
from data_pipeline.perturb.facts import is_translation
from data_pipeline.perturb.meaning.support import Candidate, any_of, bearing, first_made, sentence_at
from data_pipeline.perturb.words import words
from judge.types import Language

_NUMBER = r"(?=[$£€]?\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|half)\b)"
_COUNT = rf"(?:{_NUMBER}|(?=(?:an?|twice)\b))"
_THINGS = r"(?:[a-z-]+ ){0,1}[a-z-]+s\b|(?=people\b|children\b|staff\b)"
_MORE = ("more", "less", "most", "very", "not", "too", "so", "as", "how")


def _no(*before: str) -> str:
    """What comes before a place is none of some words."""
    return "".join(rf"(?<!\b{word} )" for word in before) + "$"


def _but(refused: str, wanted: str) -> str:
    """What comes next is wanted, and none of some words."""
    return rf"(?!(?:{'|'.join(refused.split())})\b)(?:{wanted})"


# What must stand right before and right after a quantifier, where it can mean something else.
_NEEDS: dict[str, tuple[str, str]] = {
    "all": (
        _no("at", "not", "of", "and", "over", "nearly", "almost"),
        _but(
            "of over the these those such other my its their your our his her you that this in be two three"
            " four five sides day night along kinds sorts ages times costs things surfaces",
            _THINGS,
        ),
    ),
    "all of": ("$", _but(r"the\sabove this it them", r"\w+")),
    "most": (
        _no("the", "at", "are", "is", "was", "were", "be", "its", "their") + r"(?<![’']s )",
        _but(r"of likely often \w+ly recent important common other notabl\w+ effective", _THINGS),
    ),
    "some": (
        _no("probably", "and"),
        _but(
            r"of more other time extent degree sort kind \d+ way point evidence common key tips general"
            " examples additional important basic people",
            _THINGS,
        ),
    ),
    "many": (
        _no("how", "as", "so", "too", "the", "not"),
        _but("of other more different years times ways such", _THINGS),
    ),
    "several": (
        _no("the"),
        _but(
            "of other more hundred thousand million times years days weeks months hours minutes ways"
            " different factors key",
            _THINGS,
        ),
    ),
    "a minority of": (_no("only"), r"\w"),
    "over": (_no("aged", "people", "patients", "age", "those", "adults", "all"), r"(?=[$£€]?\d)"),
    "always": (r"(?<!not )(?<!n[’']t )$", r"\w"),
    **dict.fromkeys(("nearly", "almost", "more than", "as many as", "as much as"), ("$", _COUNT)),
    **dict.fromkeys(
        ("up to", "at least", "a minimum of"),
        (
            r"^(?!.*\b(?:from|starting|going|goes|rang\w+|between|and|or) (?:[^.\n]{0,30} )?$)(?s:.*)$",
            _NUMBER,
        ),
    ),
    **dict.fromkeys(
        ("often", "commonly", "frequently", "generally", "typically", "usually"),
        (_no(*_MORE), r"(?!recogni[sz]ed as safe|speaking)\w"),
    ),
}


_IN_CHINESE: dict[str, re.Pattern[str]] = {
    "all|all of": re.compile(r"所有|全部|全体|一切"),
    "most|most of|the majority of|a majority of|mostly": re.compile(r"大多|多数|大部分"),
    "some|some of|several": re.compile(r"一些|部分|有的|有些"),
    "usually|often|generally|typically|frequently|commonly": re.compile(r"经常|通常|往往|常常|一般"),
    "always": re.compile(r"总是|一直|始终"),
    "nearly|almost": re.compile(r"近\d|将近|接近|近[一二三四五六七八九十百千万]"),
    "over|more than": re.compile(r"超过|逾|多[万亿个名人家]|余|以上"),
    "up to|as many as|as much as": re.compile(r"最多|高达|多达|最高"),
    "at least|a minimum of": re.compile(r"至少|不少于|起码"),
}


@cache
def _table() -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for line in words("quantifiers_en"):
        old, new, share = line.split(" / ")
        found.setdefault(old, []).append((new, float(share)))
    return found


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])({any_of(tuple(_table()))})(?![\w-])", re.I)


@cache
def _said_alike(word: str) -> re.Pattern[str]:
    lines = [line.split(" / ") for line in words("quantifiers_alike_en")]
    group = {word, *(other for line in lines if word in line for other in line)}
    return re.compile(rf"(?<![\w-])(?:{any_of(sorted(group))})(?![\w-])", re.I)


def quantifier(answer: str, document: str, question: str, language: Language, rng: Random) -> Edit | None:
    """Say "all" where the document says "most", "up to 30" where it says "at least 30".

    A sentence of the document that bears the answer's must quantify in the same way, and none that bears it
    may have the new word.
    """
    if language != "en":
        return None
    return first_made("quantifier", answer, document, rng, _candidates(answer, document, rng))


def _candidates(answer: str, document: str, rng: Random) -> Iterator[Candidate]:
    for match in _pattern().finditer(answer):
        old = match[0].lower()
        before, after = _NEEDS.get(old, ("$", r"\w"))
        left, right = answer[: match.start()], answer[match.end() :]
        if not re.search(before, left, re.I) or not re.match(rf" (?:{after})", right):
            continue
        if match[0][0].isupper() and re.search(r"[a-z,] $", left):
            continue
        new = _drawn(old, rng)
        part = sentence_at(answer, match.start())
        if new is None:
            continue
        if is_translation(answer, document):
            if _said_in_chinese(old, new, document):
                yield match.start(), match.end(), same_case(match[0], new)
            continue
        said = bearing(answer[part.start : part.end], document)
        if not any(_bears(old, text, right) for text in said):
            continue
        if any(re.search(rf"(?<![\w-]){re.escape(new)}(?![\w-])", text, re.I) for text in said):
            continue
        yield match.start(), match.end(), same_case(match[0], new)


def _said_in_chinese(old: str, new: str, document: str) -> bool:
    """Does a Chinese document quantify once, and in this way? What bears a translation is not known."""
    found = [name for name, pattern in _IN_CHINESE.items() if pattern.search(document)]
    return len(found) == 1 and old in found[0].split("|") and new not in found[0].split("|")


def _bears(old: str, text: str, right: str) -> bool:
    """Does a sentence of the document quantify likewise, close to the word that follows in the answer?"""
    following = re.findall(r"[A-Za-z\d]\w*", right)[:4]
    return any(
        any(
            word.lower() in text[found.start() : found.end() + 60].lower()
            for word in following
            if len(word) > 3 or word[0].isdigit()
        )
        for found in _said_alike(old).finditer(text)
    )


def _drawn(old: str, rng: Random) -> str | None:
    """What a quantifier becomes; nothing in the share of places where it is left as it is."""
    chance = rng.random()
    for new, share in _table()[old]:
        if chance < share:
            return new
        chance -= share
    return None
