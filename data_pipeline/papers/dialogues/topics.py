"""What dialogues are about: a topic, its domain, and how the user's side probes the other."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from judge.errors import InputError, unknown
from judge.formats.records import read_lines
from judge.rows import read_rows

Domain = Literal["knowledge", "task", "chit-chat", "reasoning"]
"""The four of DiaHalu, section 3.2."""
Probe = Literal["factual", "faithful"]
"""``factual``: A asks for facts that can be false. ``faithful``: A returns to what was said, changes it and
asks what B cannot know, so that B may contradict, digress or rely on it too much (DiaHalu, section 3.3)."""

DOMAINS: tuple[Domain, ...] = get_args(Domain)
PROBES: Mapping[Domain, Probe] = {
    "knowledge": "factual",
    "task": "faithful",
    "chit-chat": "faithful",
    "reasoning": "factual",
}
"""The default probe of topics that name none."""
STARTER = Path(__file__).parent / "topics.jsonl"
FIELDS = ("domain", "topic", "source", "probe", "persona_a", "persona_b")
CHAT = "Get to know each other in an open conversation"
"""What two personas talk about."""
SETS: Mapping[str, tuple[Domain, tuple[str, ...]]] = {
    "truthfulqa": ("knowledge", ("Question", "question")),
    "commonsense_qa": ("knowledge", ("question.stem", "question")),
    "cwq": ("knowledge", ("question",)),
    "multiwoz": ("task", ("goal.message",)),
    "personas": ("chit-chat", ("user 1 personas", "user 2 personas")),
    "gsm8k": ("reasoning", ("question",)),
    "mathqa": ("reasoning", ("Problem",)),
}
"""The public sets of DiaHalu, section 4.1: their domain, and the fields that hold the topic.

DSTC 1 has no reader: its logs hold turns and dialogue acts, and the paper does not say which of these became
topics. The topics of the other two sources, GPT-4 and social media, are not public.
"""
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic; ``id`` is the domain (or public set) and the topic's number in it, from 1.

    ``source`` says where the topic comes from. Only chit-chat has personas.
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
        """The document that annotators see next to a dialogue."""
        parts = [f"Topic: {self.text}"]
        parts += [f"A: {self.persona_a}", f"B: {self.persona_b}"] if self.persona_a else []
        return "\n".join(parts)


def read_topics(path: Path = STARTER) -> list[Topic]:
    """The topics of a file: JSON Lines with ``domain``, ``topic`` and, optionally, ``source`` and ``probe``;
    for chit-chat also ``persona_a`` and ``persona_b``.

    Raises:
        InputError: if a row is wrong, or there is none.
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


def read_set(name: str, path: Path) -> Iterator[Topic]:
    """The topics of one of the :data:`SETS` in its public form, without duplicates.

    Raises:
        InputError: if the set is unknown, or a row lacks its fields.
    """
    if name not in SETS:
        raise InputError(unknown("set", name, SETS), field="topics")
    domain, fields = SETS[name]
    seen: dict[tuple[str, ...], None] = {}
    for number, values in _rows(path):
        found = [text for field in fields if (text := _text(values, field))]
        if not found or (domain == "chit-chat" and len(found) < 2):
            has = f"{', '.join(values):.200}"
            raise InputError(f"has no {' or '.join(fields)} (it has: {has})", file=path, line=number)
        seen[tuple(found) if domain == "chit-chat" else (found[0],)] = None
    for number, texts in enumerate(seen, start=1):
        personas = texts if domain == "chit-chat" else ("", "")
        topic = CHAT if domain == "chit-chat" else texts[0]
        yield Topic(f"{name}-{number}", domain, topic, name, PROBES[domain], *personas)


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a file; MultiWOZ' ``data.json`` is one object of dialogues by name."""
    if path.name != "data.json":
        return iter(read_rows(path))
    try:
        return enumerate(json.loads(path.read_text(encoding="utf-8")).values(), start=1)
    except (OSError, ValueError, AttributeError) as error:
        raise InputError(f"is not MultiWOZ' data.json ({error})", file=path) from None


def _text(values: Any, field: str) -> str:
    """The text under a dotted name, on one line and without tags; empty if there is none."""
    for key in field.split("."):
        values = values.get(key) if isinstance(values, Mapping) else None
    parts = values if isinstance(values, list) else [values]
    return " ".join(_TAG.sub("", " ".join(part for part in parts if isinstance(part, str))).split())


def choose(topics: Sequence[Topic], domains: Mapping[Domain, int], seed: int) -> list[Topic]:
    """Draw the wanted number of topics of each domain by the seed; returns them in file order.

    Raises:
        InputError: if a domain has too few topics.
    """
    chosen: set[str] = set()
    for domain, count in domains.items():
        there = [topic.id for topic in topics if topic.domain == domain]
        if count > len(there):
            raise InputError(
                f"needs {count} topics, found {len(there)}; ask for fewer, or name a file with more (topics)",
                field=f"domains.{domain}",
            )
        chosen.update(random.Random(f"{seed} {domain}").sample(there, count))
    return [topic for topic in topics if topic.id in chosen]
