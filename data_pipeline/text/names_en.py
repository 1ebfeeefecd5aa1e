"""Proper names in English text: runs of capitalised words, with their kind if the text or a list tells it.

A name of unknown kind is ``other``: it is still a name, but no edit may swap it.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from data_pipeline.text.dates import MONTHS, WEEKDAYS
from data_pipeline.text.fact import Fact, is_free
from data_pipeline.text.words import either, words

_STOP = frozenset(words("stop_words_en")) | {name.lower() for name in (*MONTHS, *WEEKDAYS)}
_THING = frozenset(words("thing_words_en"))
_LINKS = ("of", "the", "de", "and", "for", "st", "saint", "new", "old", "north", "south")
GENERIC = frozenset({*words("organisation_words_en"), *words("place_words_en"), *_LINKS})
"""Words that names of two different things may share."""
_ORGANISATION = frozenset({*words("organisation_words_en"), *words("organisation_words_telling_en")})
_PLACE = frozenset({*words("place_words_en"), *words("place_words_telling_en")})
_FIRST_HEADS = frozenset(
    ("fort", "hurricane", "typhoon", "operation", "camp", "project", "lake", "mount", "cape")
)
_OPENERS = frozenset(words("place_openers_en"))
_LISTED = {
    name: kind
    for kind, table in (
        ("city", "cities_en"),
        ("state", "states_en"),
        ("country", "countries_en"),
        ("demonym", "demonyms_en"),
    )
    for name in words(table)
}
_CAP = r"(?<![\w])[A-ZÀ-Þ]\w*(?:[-’'][A-ZÀ-Þ]?\w{2,})*"
_RUN = re.compile(
    rf"(?<!\w)(?:[A-Z]\. ?)*{_CAP}(?: (?:(?:of|of the|de|del|la|van|von|der) )?(?:[A-Z]\. )?{_CAP})*"
)
# Viruses, whose names no run of capitalised words matches completely.
_VIRUS = re.compile(
    r"(?<![\w-])(?:(?:SARS|MERS|H|HCoV|[αβ])?-?CoV(?:-(?:2|229E|OC43|NL63|HKU1))?|H\d{1,2}N\d{1,2})(?![\w-])"
)
_ROLES = frozenset(words("roles_en"))
_TITLE = re.compile(rf"\b(?:{either('titles_en')})\.? $")
_ROLE = re.compile(rf"\b(?:{either('roles_en')}),? $")
_ROLE_AFTER = re.compile(rf",? (?:an?|the|his|her|their) (?:\w+ ){{0,2}}(?:{either('roles_en')})\b")
_PERSON_AFTER = re.compile(
    r" (?:was born|died|married|retired|wrote|himself|herself)\b|, who (?:was|had|is|has) "
    r"|[’']s (?:wife|husband|father|mother|son|daughter|brother|sister)\b| \((?:born|b\.)"
)
_PLACE_BEFORE = re.compile(r"\b(?:cit(?:y|ies)|towns?|villages?|suburbs?|capital|municipality) (?:of )?$")
_COUNTRY_BEFORE = re.compile(r"\bcountr(?:y|ies) (?:of )?$")
_POSSESSIVE = re.compile(r"[’']s [A-Z]")
_LOCALES = (
    "en_US en_GB de_DE fr_FR es_ES it_IT nl_NL sv_SE pl_PL pt_BR da_DK fi_FI no_NO hu_HU cs_CZ ro_RO en_IN"
)
_CELL = re.compile(r"^([^|\n]+?) \| (\w+) \| \"?([^|\n]+?)\"?$", re.M)
# Predicates of triples that tell the kind of the object; others tell too little.
_OBJECTS = {
    kind: re.compile(pattern, re.I)
    for kind, pattern in (
        ("country", r"country|nation$"),
        ("city", r"^(?:city|capital|cityServed|headquarter|largestCity|countySeat)$|(?:birth|death)Place$"),
        (
            "person",
            r"^(?:leader|leaderName|author|creators?|director|manager|coach|architect|spouse|editor|mayor"
            r"|chairman|president|dean|successor|predecessor|monarch|chancellor)$",
        ),
        ("demonym", r"^(?:demonym|language|spokenIn|officialLanguage|ethnicGroup)$"),
    )
}


def english_names(text: str) -> list[Fact]:
    """The names of an English text; one spelling has one kind in ``form`` throughout the text.

    ``unit`` is ``female`` or ``male`` for a person (``sure`` if it is a person of unknown gender), and the
    head word of a place, an organisation or another thing ("river", "university", "treaty").
    """
    found = list(_runs(text))
    votes: dict[str, Counter[str]] = {}
    for run, start, end in found:
        vote = votes.setdefault(run, Counter())
        _vote(vote, run, text[max(0, start - 24) : start], text[end : end + 40])
    cells = _cells(text)
    kinds = {run: cells.get(run) or _kind(run, vote) for run, vote in votes.items()}
    people = {
        word: _gender(run) or "sure"
        for run, (kind, _) in kinds.items()
        if kind == "person"
        for word in run.split()[1:] or [run]
        if word not in _LISTED
    }
    facts = []
    for run, start, end in found:
        kind, unit = kinds[run]
        if kind in ("other", "person") and run in people:
            kind, unit = "person", people[run]
        if kind == "person":
            kind, unit = f"person-{'long' if ' ' in run else 'short'}", unit or people.get(run, "sure")
        elif run in people:
            kind = "other"  # "Washington": the person or the place
        facts.append(Fact("entity", run, start, end, kind, unit))
    return facts


def is_title(word: str) -> bool:
    """Is this a title before a name, like Dr or President?"""
    return _TITLE.search(word.rstrip(".") + " ") is not None


def _cells(text: str) -> dict[str, tuple[str, str]]:
    """The kinds that triples ("subject | predicate | object") give to their objects, where they agree."""
    kinds: dict[str, set[str]] = {}
    for _, predicate, name in _CELL.findall(text):
        types = {kind for kind, pattern in _OBJECTS.items() if pattern.search(predicate)}
        if types and name not in _LISTED:
            kinds.setdefault(name, set()).update(types)
    return {name: (next(iter(kind)), "") for name, kind in kinds.items() if len(kind) == 1}


def _vote(vote: Counter[str], run: str, before: str, after: str) -> None:
    """Count what the words around one mention say about the kind of a name."""
    long = " " in run
    vote["person"] += bool(_TITLE.search(before)) + bool(_ROLE.search(before) and not run.isupper())
    vote["person"] += long and bool(_ROLE_AFTER.match(after) or _PERSON_AFTER.match(after))
    vote["city"] += bool(_PLACE_BEFORE.search(before))
    vote["country"] += bool(_COUNTRY_BEFORE.search(before))


def _kind(run: str, vote: Counter[str]) -> tuple[str, str]:
    """The kind and unit of a name: by its own words first, then by the words around its mentions."""
    own = run.split()
    tail, head = own[-1].lower(), own[0].lower()
    if _VIRUS.fullmatch(run):
        return "virus", "influenza" if "N" in run and "CoV" not in run else "corona"
    if run in _LISTED:
        return ("other", "") if vote["person"] else (_LISTED[run], "")
    if len(own) > 1 and (tail in _ORGANISATION or (" of " in run and head in _ORGANISATION)):
        return "organisation", tail if tail in _ORGANISATION else head
    if len(own) > 1 and (tail in _PLACE or head in ("lake", "mount", "cape")):
        return "place", tail if tail in _PLACE else head
    if run.isupper():
        return ("acronym" if run.isalpha() else "code"), ""
    if len(own) > 1 and (tail in _THING or tail.rstrip("s") in _THING or head in _OPENERS | _FIRST_HEADS):
        return _thing(run)
    if len(own) > 1 and (own[0] == own[-1] or any(word.isupper() and len(word) > 1 for word in own)):
        return _thing(run)
    two = len(own) == 2 or (len(own) == 3 and (len(own[1]) <= 2 or own[1] in _first_names()))
    if two and " of " not in run and (gender := _gender(run)):
        return "person", gender
    if len(own) == 2 and own[1] in _last_names() and own[0] not in _LISTED:
        return "person", "sure"
    voted = [kind for kind in vote if vote[kind] > 0]
    if len(voted) == 1:
        return voted[0], ""
    return _thing(run)


def _thing(run: str) -> tuple[str, str]:
    """A name of several words without another kind is a thing; its head word says what sort."""
    own = run.split()
    if len(own) < 2 or is_title(own[0]) or own[0].lower() in _ROLES:
        return "other", ""
    if own[0].lower() in _FIRST_HEADS or " of " in run:
        return "thing", own[0].lower()
    return "thing", own[-1].lower()


@cache
def _first_names() -> dict[str, str]:
    """First names of Europe, America and India with their gender; ``sure`` if it can be either."""
    found: dict[str, str] = {}
    for locale in _LOCALES.split():
        names = import_module(f"faker.providers.person.{locale}").Provider
        for gender in ("female", "male"):
            for name in getattr(names, f"first_names_{gender}", ()):
                found[name] = gender if found.get(name, gender) == gender else "sure"
    return found


@cache
def _last_names() -> frozenset[str]:
    """The commonest last names of English-speaking countries."""
    found: set[str] = set()
    for locale in ("en_US", "en_GB"):
        found.update(import_module(f"faker.providers.person.{locale}").Provider.last_names)
    return frozenset(name for name in found if name.lower() not in _THING | _PLACE | _ORGANISATION)


def _gender(run: str) -> str:
    """The gender of the first name in a name of several words; empty if that is not known."""
    first = run.split()[0]
    return _first_names().get(first, "") if " " in run and first not in _LISTED else ""


def _runs(text: str) -> Iterator[tuple[str, int, int]]:
    """Runs of capitalised words that are names, with start and end, without ordinary words at the front."""
    taken = [match.span() for match in _VIRUS.finditer(text)]
    yield from ((text[start:end], start, end) for start, end in taken)
    lower = set(re.findall(r"\b[a-zà-ÿ]\w*", text))
    inner = {m.group() for m in re.finditer(_CAP, text) if not _initial(text, m.start())}
    for match in _RUN.finditer(text):
        start, run = match.start(), match.group().rstrip(".")
        while run:
            head = run.split(" ", 1)[0]
            ordinary = (
                head.lower().rstrip(".") in _STOP
                or (" " in run and (is_title(head) or head.lower().removeprefix("co-") in _ROLES))
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
        if _POSSESSIVE.match(text, start + len(run)) or re.search(
            r"[A-Z]\w+[’']s $", text[max(0, start - 40) : start]
        ):
            continue
        if (
            len(run) > (2 if run.isupper() else 1)
            and run.lower() not in _STOP
            and not re.fullmatch(r"[IVX]+|\w+ly", run)
            and is_free(taken, start, start + len(run))
        ):
            yield run, start, start + len(run)


def _initial(text: str, start: int) -> bool:
    """Does a sentence or a line start here, so that a capital means nothing?"""
    before = text[max(0, start - 60) : start]
    return not before.rstrip(" \t\"“‘'(").endswith(tuple("abcdefghijklmnopqrstuvwxyz,;|0123456789)")) or bool(
        re.search(r"\n\s*[\"“(]?$", before)
    )
