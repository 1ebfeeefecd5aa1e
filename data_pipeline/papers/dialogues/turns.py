"""A dialogue as it grows, turn by turn, and faults of the user side's turns."""

import re
from dataclasses import dataclass, field
from typing import Any

from data_pipeline.papers.dialogues.topics import Topic
from judge.types import Sample, Task

REPAIRED_DOMAINS = ("knowledge", "task")
"""Domains in which A plays a person who asks a machine; in others both are free (DiaHalu, section 4.2)."""

_SPEAKER = r"(?:A|B|User|Human|Person|Customer|Assistant|Partner)\**\s*\d*\**\s*:"
_OTHER = re.compile(rf"\n\s*\**{_SPEAKER}", re.IGNORECASE)
_NAME = re.compile(rf"^\W*{_SPEAKER}[\s*]*", re.IGNORECASE)
_QUOTED = re.compile(r'^["“]([^"“”]*)["”]$')
_MACHINE = re.compile(
    r"\bas an? (?:ai|artificial|language model|assistant)\b|\b(?:ai|language) model\b"
    r"|\bhow (?:can|may) i (?:help|assist)\b|\bi(?:'m| am) here to (?:help|assist)\b"
    r"|\b(?:happy|glad) to (?:help|assist)\b|\b(?:feel free|don't hesitate) to ask\b"
    r"|\blet me know if (?:you|there)\b|\banything else (?:i can|you(?:'d| would))\b"
    r"|\bi can (?:help|assist) you\b",
    re.IGNORECASE,
)


STANDS_STILL = "both sides say again what they said"


@dataclass(slots=True)
class Repair:
    """A turn of A that no person would say; ``number`` counts from 1.

    ``by`` tells who replaced it: ``model``, ``person`` or ``nobody``. ``text`` is A's first version if by
    ``model``, the new text if by ``person``, and the last attempt if by ``nobody``.
    """

    number: int
    text: str
    fault: str
    by: str


@dataclass(slots=True)
class Dialogue:
    """One dialogue. ``turns`` alternate between A and B; ``problem`` says why it ended early."""

    topic: Topic
    rounds: int
    turns: list[str] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    problem: str | None = None

    @property
    def id(self) -> str:
        """The dialogue's name in all files."""
        return f"dialogue-{self.topic.id}"

    @property
    def text(self) -> str:
        """All turns, one per line: ``A1: ...``, ``B1: ...``, ``A2: ...``."""
        return "\n".join(
            f"{'AB'[place % 2]}{place // 2 + 1}: {turn}" for place, turn in enumerate(self.turns)
        )

    @property
    def stands_still(self) -> bool:
        """Whether both sides' last turns repeat, word for word, earlier turns of theirs."""
        said = [_plain(turn) for turn in self.turns]
        return len(said) > 2 and all(said[side] in said[side - 2 :: -2] for side in (-1, -2))

    def sample(self, user: str, assistant: str) -> Sample:
        """The dialogue as a sample: all turns are the answer, the setting is the document.

        Args:
            user: the model that played A.
            assistant: the model that played B.
        """
        meta: dict[str, Any] = {
            "domain": self.topic.domain,
            "probe": self.topic.probe,
            "topic_source": self.topic.source,
            "model": assistant,
            "user_model": user,
            "repaired": [{"turn": repair.number, "by": repair.by} for repair in self.repairs],
        }
        return Sample(
            id=self.id,
            document=self.topic.setting,
            answer=self.text,
            task=Task.DIALOGUE,
            source=f"self_dialogue_{self.topic.domain}",
            group=self.id,
            meta=meta,
        )


def clean(text: str) -> str:
    """A reply as one turn: on one line, without a speaker's name or further turns."""
    turn = " ".join(_NAME.sub("", _OTHER.split(text.strip())[0]).split())
    return _QUOTED.sub(r"\1", turn).strip()


def fault_of(dialogue: Dialogue, turn: str, words: int) -> str | None:
    """Why a person would not say a turn of A to a machine, in words that continue "it ...".

    ``None`` if the turn is fine, and in domains where A is free.
    """
    if dialogue.topic.domain not in REPAIRED_DOMAINS:
        return None
    if _MACHINE.search(turn):
        return "speaks as an assistant would"
    if len(turn.split()) > words:
        return f"has more than {words} words"
    known = {_plain(said) for said in dialogue.turns}
    if _plain(turn) in known:
        return "repeats what was said before"
    return None


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
