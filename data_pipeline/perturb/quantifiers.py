"""The edit type ``quantifier``: how many or how often, where the document says it otherwise."""

import re
from collections.abc import Iterator
from functools import cache
from random import Random

from data_pipeline.perturb.edit import Edit, same_case
from data_pipeline.perturb.facts import is_translation
from data_pipeline.perturb.support import Candidate, any_of, bearing, first_made, sentence_at
from data_pipeline.perturb.words import words
from judge.types import Language

_COUNT = r"(?=[$£€]?\d|(?:a|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|half|twice|all)\b)"
# What must stand right before and right after a quantifier, where it can mean something else.
_NEEDS: dict[str, tuple[str, str]] = {
    "all": (r"(?<!at )(?<!not )(?<!of )(?<!and )(?<!over )(?<!nearly )(?<!almost )$", r"(?!of\b|over\b|the\b|these\b|those\b|such\b|other\b|my\b|its\b|their\b|you\b|that\b|this\b|\d|in\b|be\b|your\b|our\b|his\b"
        r"|her\b|three\b|two\b|four\b|five\b|sides\b|day\b|night\b|along\b|kinds\b|sorts\b|ages\b|times\b|costs\b|things\b|surfaces\b)(?:[a-z-]+ ){0,2}[a-z-]+s\b|(?=people\b|children\b|staff\b)"),
    "most": (r"(?<!the )(?<!at )(?<!\w[’']s )(?<!are )(?<!is )(?<!was )(?<!were )(?<!be )(?<!its )(?<!their )$", r"(?!of\b|likely\b|often\b|\w+ly\b|recent\b|important\b|common\b|other\b|notabl\w+|effective\b)(?:[a-z]+ )?[a-z]+s\b|(?=people\b|children\b)"),
    "some": (r"(?<!probably )(?<!and )$", r"(?!of\b|more\b|other\b|time\b|extent\b|degree\b|sort\b|kind\b|\d|way\b|point\b|evidence\b|common\b|key\b|tips\b|general\b|examples\b|additional\b|important\b|basic\b)(?:[a-z-]+ )?[a-z-]+s\b|(?=people\b|children\b)"),
    "many": (r"(?<!how )(?<!as )(?<!so )(?<!too )(?<!the )(?<!not )$", r"(?!of\b|other\b|more\b|different\b|years\b|times\b|ways\b|such\b)(?:[a-z-]+ )?[a-z-]+s\b|(?=people\b|children\b)"),
    "several": (r"(?<!the )$", r"(?!of\b|other\b|more\b|hundred\b|thousand\b|million\b|times\b|years\b|days\b|weeks\b|months\b|hours\b|minutes\b|ways\b|different\b|factors\b|key\b)(?:[a-z-]+ )?[a-z-]+s\b"),
    "all of": ("$", r"(?!the above|this|it\b|them \()\w+"),
    "a minority of": (r"(?<!only )$", r"\w"),
    "over": (r"(?<!aged )(?<!people )(?<!patients )(?<!age )(?<!those )(?<!adults )(?<!all )$", r"(?=[$£€]?\d)"),
    **dict.fromkeys(("nearly", "almost", "more than", "as many as", "as much as"), (r"$", _COUNT)),
    **dict.fromkeys(("up to", "at least", "a minimum of"), (r"^(?!.*\b(?:from|starting|going|goes|rang\w+|between|and|or) (?:[^.\n]{0,30} )?$)(?s:.*)$", r"(?=[$£€]?\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|half)\b)")),
    **dict.fromkeys(("fully", "completely", "entirely"), (r"(?<!not )(?<!n[’']t )(?<!be )(?<!until )$", r"(?!different\b|new\b|cool|dry|sure)\w+")),
    "often": (r"(?<!more )(?<!less )(?<!most )(?<!how )(?<!as )(?<!so )(?<!too )(?<!very )$", r"\w"),
    "always": (r"(?<!not )(?<!n[’']t )$", r"\w"),
    **dict.fromkeys(("commonly", "frequently", "generally", "typically", "usually"), (r"(?<!more )(?<!less )(?<!most )(?<!very )(?<!not )(?<!n[’']t )(?<!too )$", r"(?!recogni[sz]ed as safe|speaking)\w")),
}  # fmt: skip
# Words of one strength: a document that uses one of them bears an answer that uses another.
_ALIKE: tuple[tuple[str, ...], ...] = (
    ("all", "all of", "every", "each", "each of", "both", "entire", "whole", "any"),
    ("most", "most of", "majority", "the majority of", "a majority of", "mainly", "mostly", "usually", "generally", "typically",
     "commonly", "frequently", "often", "normally", "tend", "tends", "widely"),
    ("some", "some of", "many", "several", "a number of", "few", "certain", "various", "may", "can", "sometimes", "occasionally"),
    ("always", "all", "every", "never"),
    ("nearly", "almost", "close to", "approximately", "about", "around", "just under", "less than"),
    ("over", "more than", "above", "exceeded", "at least", "greater than"),
    ("up to", "as many as", "as much as", "maximum", "at most", "no more than", "not more than", "within"),
    ("at least", "a minimum of", "minimum", "no less than", "no fewer than", "or more"),
    ("partly", "partially", "part", "some"),
    ("completely", "fully", "entirely", "whole", "total"),
    ("rarely", "seldom", "rare", "uncommon"),
)  # fmt: skip

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
    group = {word, *(other for line in _ALIKE if word in line for other in line)}
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
    """Does a Chinese document quantify once, and in this way? Sentences of a translation cannot be found in it."""
    found = [name for name, pattern in _IN_CHINESE.items() if pattern.search(document)]
    return len(found) == 1 and old in found[0].split("|") and new not in found[0].split("|")


def _bears(old: str, text: str, right: str) -> bool:
    """Does a sentence of the document quantify likewise, close to the word that follows in the answer?"""
    following = re.findall(r"[A-Za-z\d]\w*", right)[:4]
    return any(
        any(word.lower() in text[found.start() : found.end() + 60].lower() for word in following if len(word) > 3 or word[0].isdigit())
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
