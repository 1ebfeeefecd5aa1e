"""The edit type ``attribution``: what is true of one thing is said of another one of its kind.

"She was born in Tarrow and died in Kessel" becomes "She was born in Kessel and died in Tarrow". It is for
answers that put triples into words: of other documents rules are seldom sure of it.
"""

import re
from collections.abc import Iterator, Sequence
from random import Random

from data_pipeline.edits.edit import Edit, Swap, occurs
from data_pipeline.edits.exchange import exchanged, first_made
from data_pipeline.text.triples import Triple, triples_of

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
    """Exchange the objects of two triples; none says of either subject what the new answer does."""
    stated = [triple._replace(value=triple.value.strip('"')) for triple in triples_of(document)]
    return first_made("attribution", answer, document, rng, _objects(answer, stated))


def _objects(answer: str, stated: Sequence[Triple]) -> Iterator[Swap | None]:
    """Objects of two triples, of the same relation of two things or of two relations of like objects."""
    for number, (subject, relation, target) in enumerate(stated):
        for other_subject, other_relation, other in stated[number + 1 :]:
            if target == other or not _interchangeable((subject, relation), (other_subject, other_relation)):
                continue
            if (
                Triple(subject, relation, other) in stated
                or Triple(other_subject, other_relation, target) in stated
            ):
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


def place_of(name: str, answer: str) -> tuple[int, int] | None:
    """Where an answer names a thing, if it does so once; what a bracket adds to a name may be missing."""
    for text in dict.fromkeys((name, re.sub(r" \(.*\)$", "", name), name.split(",")[0])):
        if len(text) < 3 or text not in answer:
            continue
        spots = [m.span() for m in re.finditer(rf"(?<![\w-]){re.escape(text)}(?![\w-]| [A-Z])", answer)]
        if spots:
            return spots[0] if len(spots) == 1 else None
    return None
