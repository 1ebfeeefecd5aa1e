"""Scoring an answer: the benchmark's own labels, and those of rules that understand numbers.

The strict score follows the benchmark's description in five steps: placeholders and instructions are not
graded; reference and answer are normalized; they are equal, or the first line of the answer contains the
reference, or contains a short reference as a separate word. The extended score compares words and values
instead of characters. It is reported next to the strict one and never replaces it.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

from eval.open_factual.citations import Citation, check_citation, without_citations
from eval.open_factual.refusals import StressLabel, denies, guesses, refuses, stress_label
from eval.open_factual.tasks import FactualTask, Kind
from eval.open_factual.tokens import contains, tokenize

SCORING_VERSION = "2"
TOLERANCE = 1e-3
LONGEST_REFERENCE = 80

Label = Literal["correct", "incorrect"] | StressLabel
Reply = Literal["claim", "uncertain", "refusal", "empty"]
"""What an answer does: states, guesses and says so, says that it has no answer, or is empty."""


@dataclass(frozen=True, slots=True)
class Score:
    """The labels of one answer; ``None`` for a task that is neither graded nor a stress test."""

    strict: Label | None
    extended: Label | None
    reply: Reply
    citation: Citation | None


def score(task: FactualTask, answer: str, tolerance: float = TOLERANCE) -> Score:
    """Label an answer.

    Args:
        task: the task that was answered.
        answer: the model's whole reply.
        tolerance: relative error allowed for references with decimals in the extended score.
    """
    cited = first_line(answer)
    if task.passages:
        answer = without_citations(answer)
    line = first_line(answer)
    reply: Reply = "claim"
    if not line:
        reply = "empty"
    elif guesses(line, task.question):
        reply = "uncertain"
    elif refuses(line, task.question) or denies(line):
        reply = "refusal"

    strict: Label | None = None
    extended: Label | None = None
    if task.kind == Kind.STRESS:
        strict = stress_label(task.question, line)
        extended = "refusal_or_correction" if reply == "refusal" else strict
    elif is_graded(task.reference):
        strict = "correct" if holds(task.reference, answer) else "incorrect"
        extended = "correct" if same_in_value(task.reference, line, tolerance) else "incorrect"
    citation = check_citation(task.question, cited, task.passages) if task.passages and line else None
    return Score(strict, extended, reply, citation)


def is_graded(reference: str) -> bool:
    """Step 1: not a placeholder in brackets, nor an instruction (more than 80 characters)."""
    text = reference.strip()
    return len(text) <= LONGEST_REFERENCE and not (text.startswith("[") and text.endswith("]"))


def normalize(text: str) -> str:
    """Step 2: NFKD, lower case, single spaces, no leading article."""
    spaced = " ".join(unicodedata.normalize("NFKD", text).lower().split())
    return re.sub(r"^(?:the|an|a) ", "", spaced)


def first_line(answer: str) -> str:
    """The first non-blank line of an answer; empty if there is none."""
    return next((line.strip() for line in answer.splitlines() if line.strip()), "")


def holds(reference: str, answer: str) -> bool:
    """Steps 3 to 5: the answer is the reference, or its first line contains it.

    The fifth step, a short reference as a separate word, accepts nothing that the fourth does not: such a
    word is also a substring of the line, as is the 2 in 256.
    """
    wanted = normalize(reference)
    return normalize(answer) == wanted or wanted in normalize(first_line(answer))


def same_in_value(reference: str, line: str, tolerance: float) -> bool:
    """The extended match: the line contains all of the reference's words and values, in order."""
    wanted = tokenize(normalize(reference))
    if not wanted:  # only symbols
        return normalize(reference) == normalize(line)
    return contains(tokenize(line), wanted, tolerance)
