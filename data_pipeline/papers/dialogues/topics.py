"""What dialogues are about: a topic, its domain, and what the user's side is to try the other one's."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from judge.errors import InputError, unknown
from judge.formats.records import read_lines

Domain = Literal["knowledge", "task", "chit-chat", "reasoning"]
"""The four of DiaHalu, section 3.2."""
Probe = Literal["factual", "faithful"]
"""``factual``: A asks for facts that can be false. ``faithful``: A goes back to what was said, changes it and
asks what cannot be known, so that B may contradict, digress or rely on it too much (DiaHalu, section 3.3)."""

DOMAINS: tuple[Domain, ...] = get_args(Domain)
PROBES: Mapping[Domain, Probe] = {
    "knowledge": "factual",
    "task": "faithful",
    "chit-chat": "faithful",
    "reasoning": "factual",
}
"""What is tried where a topic does not say."""
STARTER = Path(__file__).parent / "topics.jsonl"
FIELDS = ("domain", "topic", "source", "probe", "persona_a", "persona_b")


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic; ``id`` is its domain and its place among the file's topics of that domain, from 1.

    ``source`` says where it comes from. Personas belong to chit-chat.
    """

    id: str
    domain: Domain
    text: str
    source: str
    probe: Probe
    persona_a: str = ""
    persona_b: str = ""

    @property
    def setting(self) -> str:
        """What those who annotate a dialogue are shown as its document."""
        parts = [f"Topic: {self.text}"]
        parts += [f"A: {self.persona_a}", f"B: {self.persona_b}"] if self.persona_a else []
        return "\n".join(parts)


def read_topics(path: Path = STARTER) -> list[Topic]:
    """The topics of a file: JSON Lines with ``domain``, ``topic`` and, if wanted, ``source`` and ``probe``;
    in chit-chat with ``persona_a`` and ``persona_b``.

    Raises:
        InputError: a row is wrong, or there is none.
    """
    topics: list[Topic] = []
    counts = dict.fromkeys(DOMAINS, 0)
    for row in read_lines(path):
        for name in row.values:
            if name not in FIELDS:
                raise row.wrong(name, unknown("field", name, FIELDS))
        domain = row.text("domain")
        if domain not in DOMAINS:
            raise row.wrong("domain", unknown("domain", domain, DOMAINS))
        probe = row.values.get("probe", PROBES[domain])
        if probe not in get_args(Probe):
            raise row.wrong("probe", unknown("probe", probe, get_args(Probe)))
        counts[domain] += 1
        personas = [row.text(f"persona_{side}") if domain == "chit-chat" else "" for side in "ab"]
        source = row.text("source") if "source" in row.values else ""
        topics.append(
            Topic(f"{domain}-{counts[domain]}", domain, row.text("topic"), source, probe, *personas)
        )
    if not topics:
        raise InputError("holds no topic", file=path)
    return topics


def choose(topics: Sequence[Topic], domains: Mapping[Domain, int], seed: int) -> list[Topic]:
    """So many topics of each domain, drawn by the seed, in the order of the file.

    Raises:
        InputError: there are not so many.
    """
    chosen: set[str] = set()
    for domain, count in domains.items():
        there = [topic.id for topic in topics if topic.domain == domain]
        if count > len(there):
            raise InputError(
                f"wants {count} dialogues and there are {len(there)} topics; ask for fewer, or name a file "
                "with more (topics)",
                field=f"domains.{domain}",
            )
        chosen.update(random.Random(f"{seed} {domain}").sample(there, count))
    return [topic for topic in topics if topic.id in chosen]
