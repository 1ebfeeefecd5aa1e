"""A dialogue as it grows, turn by turn, and what is wrong with a turn of the user's side."""

import re
from dataclasses import dataclass, field
from typing import Any

from data_pipeline.papers.dialogues.topics import Topic
from judge.types import Sample, Task

REPAIRED_DOMAINS = ("knowledge", "task")
"""Where A plays a person who asks a machine; elsewhere both are free (DiaHalu, section 4.2)."""

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
    """A turn of A that no person would say, as it was first said; ``number`` counts from 1.

    ``by`` tells who put another one in its place: ``model``, ``person`` or ``nobody``. Of a turn by a person,
    ``text`` is that person's.
    """

    number: int
    text: str
    fault: str
    by: str


@dataclass(slots=True)
class Dialogue:
    """One dialogue. ``turns`` are A's and B's by turns; ``problem`` says why it ended early."""

    topic: Topic
    rounds: int
    turns: list[str] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    problem: str | None = None

    @property
    def id(self) -> str:
        """The name of the dialogue in all files."""
        return f"dialogue-{self.topic.id}"

    @property
    def text(self) -> str:
        """All turns, one a line: ``A1: ...``, ``B1: ...``, ``A2: ...``."""
        return "\n".join(
            f"{'AB'[place % 2]}{place // 2 + 1}: {turn}" for place, turn in enumerate(self.turns)
        )

    @property
    def stands_still(self) -> bool:
        """Whether in the last round both sides said again, word by word, what they had said before."""
        said = [_plain(turn) for turn in self.turns]
        return len(said) > 2 and all(said[side] in said[side - 2 :: -2] for side in (-1, -2))

    def sample(self, user: str, assistant: str) -> Sample:
        """The whole dialogue as what is judged; the setting is its document.

        Args:
            user: the model that was A.
            assistant: the model that was B.
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
    """A reply as one turn: on one line, without a speaker's name, and without turns that follow it."""
    turn = " ".join(_NAME.sub("", _OTHER.split(text.strip())[0]).split())
    return _QUOTED.sub(r"\1", turn).strip()


def fault_of(dialogue: Dialogue, turn: str, words: int) -> str | None:
    """Why a turn of A is none that a person would say to a machine; goes on after "it ...".

    ``None`` where it is, and in domains where A is free.
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
