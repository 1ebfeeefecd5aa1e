"""Proper names in English text: runs of capitals, with a vote on what kind of thing each one names."""

import re
from collections import Counter
from collections.abc import Iterator

from data_pipeline.perturb.dates import MONTHS, WEEKDAYS
from data_pipeline.perturb.fact import Fact
from data_pipeline.perturb.words import either, words

_STOP = frozenset(words("stop_words_en")) | {name.lower() for name in (*MONTHS, *WEEKDAYS)}
_THING = frozenset(words("thing_words_en"))
_PLACE_OPENERS = frozenset(words("place_openers_en"))
_LINKS = ("of", "the", "de", "and", "for", "st", "saint", "new", "old", "north", "south")
GENERIC = frozenset({*words("organisation_words_en"), *words("place_words_en"), *_LINKS})
"""Words that two names may share and still be two names."""
_ORGANISATION = frozenset({*words("organisation_words_en"), *words("organisation_words_telling_en")})
_PLACE = frozenset({*words("place_words_en"), *words("place_words_telling_en")})
_CAP = r"[A-ZÀ-Ý]\w*(?:[-’'][A-ZÀ-Ý]?\w{2,})*"
_RUN = re.compile(rf"(?:[A-Z]\. ?)*{_CAP}(?: (?:(?:of|of the|de|del|la|van|von|der) )?(?:[A-Z]\. )?{_CAP})*")
_TITLE = re.compile(rf"\b(?:{either('titles_en')})\.? $")
_DEMONYM = re.compile(r"\w+(?:ish|ese|[^aeiou]ian|ean|can)$|French|Dutch|Greek|German$")
# Votes for a kind of name by the text right before it.
_BEFORE = (
    ("person", 6, _TITLE),
    ("person", 1, re.compile(r"\b(?:by|with) $")),
    (
        "person",
        2,
        re.compile(r"\b(?:brother|sister|wife|husband|son|daughter|colleague|coach|aunt|uncle),? $"),
    ),
    ("person", 2, re.compile(r"\b[a-z]+(?:er|or|ist|ian|man|woman|ant|oach|end|ess) $")),
    ("place", 2, re.compile(r"\b(?:in|near|at|from|into|around|outside|towns? of|city of|to) $")),
)
# Votes for a person by the text right after the name.
_AFTER = (
    re.compile(r" (?:said|wrote|was born|told|who|joined|argued|explained|died|became)\b"),
    re.compile(r", (?:who|aged|her|his)\b"),
)
_POSSESSIVE = re.compile(r"[’']s [A-Z]")


def english_names(text: str) -> list[Fact]:
    """The names of an English text; one spelling has one kind, its likeliest, throughout the text."""
    runs = list(_runs(text))
    surnames = {run for run, _, _ in runs if " " not in run}
    votes: dict[str, Counter[str]] = {}
    for run, start, end in runs:
        _vote(votes.setdefault(run, Counter()), run, text[max(0, start - 16) : start], text[end : end + 16])
        votes[run]["person"] += 2 * (run.count(" ") == 1 and run.split()[1] in surnames)
    people = {word for run, vote in votes.items() if _kind(run, vote) == "person" for word in run.split()}
    found = []
    for run, start, end in runs:
        kind = "person" if run in people else _kind(run, votes[run])
        sure = "sure" if votes[run]["person"] > 0 else ""
        shape = "long" if " " in run else "short"
        found.append(Fact("entity", run, start, end, f"{kind}-{shape}" if kind == "person" else kind, sure))
    return found


def _vote(vote: Counter[str], run: str, before: str, after: str) -> None:
    """Add what one mention says about the kind of a name: its own words, and what stands around it."""
    own = run.split()
    tail, head = own[-1].lower(), own[0].lower()
    if tail in _ORGANISATION or (" of " in run and head in _ORGANISATION):
        vote["organisation"] += 9
    elif tail in _PLACE or (len(own) > 1 and head in _PLACE | _PLACE_OPENERS):
        vote["place"] += 9
    elif len(own) > 1 and (tail in _THING or tail.rstrip("s") in _THING):
        vote["other"] += 9
    elif len(own) == 1 and _DEMONYM.match(run):
        vote["demonym"] += 9
    elif run.isupper():
        vote["acronym" if run.isalpha() else "code"] += 5
    for kind, weight, pattern in _BEFORE:
        vote[kind] += weight * bool(pattern.search(before))
    vote["person"] += sum(bool(pattern.match(after)) for pattern in _AFTER)


def _kind(run: str, vote: Counter[str]) -> str:
    """The kind with most votes; without any, two plain capitals are a person."""
    best = vote.most_common(1)
    if best and best[0][1] > 0:
        return best[0][0]
    two = re.fullmatch(rf"{_CAP} (?:[A-Z]\.? )?{_CAP}", run)
    return "person" if two and not run.endswith("s") else "other"


def _runs(text: str) -> Iterator[tuple[str, int, int]]:
    """Runs of capitals that are names, with start and end; ordinary words at their front are cut off."""
    lower = set(re.findall(r"\b[a-zà-ÿ]\w*", text))
    inner = {m.group() for m in re.finditer(_CAP, text) if not _initial(text, m.start())}
    for match in _RUN.finditer(text):
        start, run = match.start(), match.group().rstrip(".")
        while run:
            head = run.split(" ", 1)[0]
            ordinary = (
                head.lower().rstrip(".") in _STOP
                or (" " in run and _TITLE.search(head + " ") is not None)
                or (
                    _initial(text, start)
                    and (head.lower() in lower or (" " not in run and head not in inner))
                )
            )
            if not ordinary:
                break
            start += len(head) + 1
            run = run[len(head) + 1 :]
            joint = re.match(r"(?:of|the|de|del|la|van|von|der)(?: the)? ", run)
            if joint:
                start, run = start + joint.end(), run[joint.end() :]
        if _POSSESSIVE.match(text, start + len(run)) or re.search(r"[A-Z]\w+[’']s $", text[:start]):
            continue
        if (
            len(run) > (2 if run.isupper() else 1)
            and run.lower() not in _STOP
            and not re.fullmatch(r"[IVX]+|\w+ly", run)
        ):
            yield run, start, start + len(run)


def _initial(text: str, start: int) -> bool:
    """Does a sentence or a line start here, so that a capital says nothing?"""
    return not text[:start].rstrip(" \t\"“‘'(").endswith(
        tuple("abcdefghijklmnopqrstuvwxyz,;0123456789)")
    ) or bool(re.search(r"\n\s*[\"“(]?$", text[:start]))
