"""The edit type ``attribution``: what is true of one thing is said of another one of its kind.

"She was born in Tarrow and died in Kessel" becomes "She was born in Kessel and died in Tarrow".
"""

import itertools
import re
from collections.abc import Iterator
from random import Random

from data_pipeline.edits.edit import Edit, listed_together, occurs
from data_pipeline.edits.support import (
    Candidate,
    exchanged,
    first_made,
    sentence_at,
    sentences,
)
from data_pipeline.edits.triples import Triple, place_of, triples
from data_pipeline.text.content import keys
from data_pipeline.text.fact import Fact
from data_pipeline.text.facts import document_facts, find_facts, is_translation

_LIST = re.compile(
    r"(?<![\w.-])(?P<one>[~≈∼]?\d+(?:[.,]\d+)*(?: ?%)?),? and "
    r"(?P<two>[~≈∼]?\d+(?:[.,]\d+)*(?: ?%)?)(?![\w.-])"
    r"(?P<rest>[^.;:()]{0,120}?),? respectively"
)
# Where numbers of one sentence depend on each other, so that exchanging them contradicts itself.
_BOUND = re.compile(
    r"\b(?:than|only|of which|out of|from|between|rising|rose|fell|increas\w+|decreas\w+"
    r"|reduc\w+|up|down|to|per|times|total|both"
    r"|respectively|[Oo]f the|as much as|far|rare|high|low|required"
    r"|daily|large|small|limit|ceiling|another|more|less"
    r"|most|least|\w{3,}est|majority|minority|but|although|however|remaining|rest|CI|vs|versus|range|p)\b",
)
_MOST = re.compile(r"\b(?:\w{4,}est|most|least)\b(?<!west)(?<!forest)(?<!harvest)")
_CLAUSE = re.compile(r"(?:,? (?:and|while|whereas)|[,;]|\.) ")
# Relations whose objects are of one kind, so that a sentence stays sensible when they change places.
_ALIKE: tuple[tuple[str, ...], ...] = (
    ("birthPlace", "deathPlace", "residence", "placeOfBirth", "placeOfDeath"),
    ("predecessor", "successor", "precededBy", "followedBy"),
    ("club", "youthclub", "formerTeam", "debutTeam", "currentclub", "draftTeam"),
    ("architect", "developer", "owner", "builder", "tenant", "significantBuilding"),
    ("starring", "director", "writer", "producer", "composer", "author", "editor", "creator", "voice"),
    ("stylisticOrigin", "derivative", "musicSubgenre", "musicFusionGenre", "genre"),
    ("operatingOrganisation", "operator", "owner", "hubAirport"),
    ("leaderName", "leader", "president", "dean", "mayor", "commander", "governor", "chairman", "keyPerson"),
    ("manufacturer", "designer", "owner", "operator", "builder"),
    ("attackAircraft", "transportAircraft", "aircraftFighter", "aircraftHelicopter"),
    ("has to its west", "has to its north", "has to its east", "has to its south", "has to its southeast"),
    ("has to its northwest", "has to its northeast", "has to its southwest", "has to its southeast"),
    ("numberOfPostgraduateStudents", "numberOfUndergraduateStudents"),
    ("areaOfLand", "areaOfWater"),
    ("backup pilot", "was a crew member of", "crewMembers"),
    ("language", "officialLanguage", "spokenIn"),
    ("champions", "season", "league"),
)
_IN_A_NAME = re.compile(r"[A-Z]\w+, $")
"""What stands before a place that is part of a longer one: "Manchester, England"."""


def attribution(answer: str, document: str, question: str, rng: Random) -> Edit | None:
    """Exchange two facts of one kind that belong to different things, or say a thing of another name.

    The document must not hold of a thing what the new answer says of it: the two facts are of different
    sentences or clauses, are not listed together, and are not the same.
    """
    if stated := triples(document):
        return first_made("attribution", answer, document, rng, _objects(answer, stated))
    found = [*_listed(answer), *_numbers(answer, document)]
    if not is_translation(answer, document):  # the kinds of names are told by the document
        found += _names(answer, document)
    return first_made("attribution", answer, document, rng, found)


def _objects(answer: str, stated: list[Triple]) -> Iterator[Candidate | None]:
    """Objects of two triples, of the same relation of two things or of two relations of like objects."""
    for number, (subject, relation, target) in enumerate(stated):
        for other_subject, other_relation, other in stated[number + 1 :]:
            if target == other or not _interchangeable((subject, relation), (other_subject, other_relation)):
                continue
            if (subject, relation, other) in stated or (other_subject, other_relation, target) in stated:
                continue
            if {subject, other_subject} & {target, other} or occurs(target, other) or occurs(other, target):
                continue
            one, two = place_of(target, answer), place_of(other, answer)
            if one is None or two is None or "." in (target[-1], other[-1]):
                continue
            parts = [
                _IN_A_NAME.search(answer[:start]) or re.match(r", [A-Z]", answer[end:])
                for start, end in (one, two)
            ]
            if not any(parts) and not _side_by_side(answer, one, two):
                yield exchanged(answer, one, two)


def _interchangeable(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """May what the one relation says of its subject be said by the other of its own?"""
    if one[1] == other[1]:
        return one[0] != other[0] and one[1] not in ("country", "leaderTitle", "established")
    return any(one[1] in group and other[1] in group for group in _ALIKE)


def _side_by_side(answer: str, one: tuple[int, int], two: tuple[int, int]) -> bool:
    """Do two names stand in a list, so that their order says nothing?"""
    first, second = sorted((one, two))
    return re.fullmatch(r",?(?: and| or|,| &)? (?:the )?|,", answer[first[1] : second[0]]) is not None


def _listed(answer: str) -> Iterator[Candidate | None]:
    """ "12% and 15%, respectively"."""
    for match in _LIST.finditer(answer):
        yield exchanged(answer, match.span("one"), match.span("two"))


def _numbers(answer: str, document: str) -> Iterator[Candidate | None]:
    """Two numbers of one unit, each of a clause of its own."""
    for part in sentences(answer):
        text = answer[part.start : part.end]
        facts = [fact for fact in find_facts(text, "en") if fact.kind == "number"]
        for one, two in itertools.pairwise(facts):
            if (one.form, one.unit) != (two.form, two.unit) or one.text == two.text or not one.unit:
                continue
            between = text[one.end : two.start]
            around = text[max(0, one.start - 25) : one.start] + between + text[two.end : two.end + 25]
            if (
                _MOST.search(text)
                or not _CLAUSE.search(between)
                or len(between) < 18
                or _BOUND.search(around)
            ):
                continue
            if occurs(one.text, document) and occurs(two.text, document):
                found = exchanged(text, (one.start, one.end), (two.start, two.end))
                yield (found[0] + part.start, found[1] + part.start, found[2]) if found else None


_PRONOUN = re.compile(r"\b(?:he|she|his|her|him|hers|himself|herself)\b", re.I)


def _names(answer: str, document: str) -> Iterator[Candidate | None]:
    """Two names of one kind, each the subject of a clause or sentence of its own."""
    kinds: dict[str, Fact] = {fact.text: fact for fact in document_facts("entity", answer, document, "en")}
    subjects = []
    for name, fact in kinds.items():
        if name not in answer:  # a pattern costs far more
            continue
        spots = [
            m.span() for m in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-]| [A-Z\d]|[’']s)", answer)
        ]
        if len(spots) != 1 or fact.form in ("demonym", "code", "other"):
            continue
        start, end = spots[0]
        opens = re.search(
            r"(?:^|[.;!?]\s|,? (?:and|while|whereas"
            r"|but) |\n)(?:the )?$",
            answer[:start],
            re.I,
        )
        if opens and re.match(
            r" (?:is|was|are|were|has|had|have|will|[a-z]+ed"
            r"|[a-z]+s|won|took|led|made|said)\b",
            answer[end:],
        ):
            subjects.append((start, end, name, fact))
    for one in subjects:
        for two in subjects:
            if one[0] >= two[0] or one[3].form.split("-")[0] != two[3].form.split("-")[0]:
                continue
            if listed_together(one[2], two[2], document) or set(one[2].split()) & set(two[2].split()):
                continue
            whole = answer[one[0] : sentence_at(answer, two[0]).end]
            if (
                _PRONOUN.search(whole)
                or _true_of(two[2], one, answer, document)
                or _true_of(one[2], two, answer, document)
            ):
                continue
            yield exchanged(answer, (one[0], one[1]), (two[0], two[1]))


def _true_of(name: str, place: tuple[int, int, str, Fact], answer: str, document: str) -> bool:
    """Does the document say of ``name`` what the answer says of the name at a place?"""
    clause = _CLAUSE.split(answer[place[1] : sentence_at(answer, place[0]).end])[0]
    wanted = keys(clause)
    return not wanted or any(
        name in text and place[2] not in text and len(wanted & keys(text)) >= 0.5 * len(wanted)
        for text in (document[part.start : part.end] for part in sentences(document))
    )
