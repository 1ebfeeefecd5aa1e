"""What a model is asked, in the project's own words; not the prompt of the published runs.

It does not hint that a question may rest on something false, since whether a model says so is measured.
"""

import json
from collections.abc import Sequence

from eval.open_factual.tasks import FactualTask
from judge.files import sha256_text
from judge.prompting.prompts import guard, user_turn
from judge.types import Message

PROMPT_VERSION = "1"
CLOSED_BOOK = "Answer the question briefly, in one line, with nothing around the answer."
FROM_PASSAGES = (
    "Answer the question from the numbered passages, briefly and in one line. After the answer, give the "
    "number of the passage that it stands in, in square brackets, such as [1]."
)
QUESTION = "Question:"


def number_passages(passages: Sequence[str]) -> str:
    """The passages as one text, each preceded by its number."""
    return "\n\n".join(f"[{number}] {text.strip()}" for number, text in enumerate(passages, start=1))


def messages(task: FactualTask, document: str) -> list[Message]:
    """One user turn. ``document`` is the text of :func:`number_passages`, or empty without passages."""
    blocks = [CLOSED_BOOK]
    if task.passages:
        blocks = [FROM_PASSAGES, f"<document>\n{guard(document)}\n</document>"]
    blocks.append(f"{QUESTION} {guard(task.question)}")
    return user_turn(*blocks)


def prompt_hash() -> str:
    """A short hash over every text that a prompt can hold."""
    return sha256_text(json.dumps([CLOSED_BOOK, FROM_PASSAGES, QUESTION]))[:16]
