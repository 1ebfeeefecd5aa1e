"""Where an English statement begins and ends, as needed to negate it or add to it."""

import re

from judge.prompting.sentences import sentence_spans
from judge.types import Span

_SUBORDINATE = re.compile(
    r"\b(?:before|after|because|since|while|until|when|as|although|though|if|unless|that|so|than|once)\b",
    re.I,
)


def clause(answer: str, start: int) -> tuple[str, str]:
    """The words of the clause before and after position ``start``."""
    left = re.split(
        r"[.!?;:,]\s|\n| (?:and|but|because|while|although|since|so|when|after|before|until) ", answer[:start]
    )[-1]
    return left, re.split(r"[.!?;]|\n", answer[start:])[0]


def dependent(answer: str, start: int) -> bool:
    """Is the position in a clause of cause or time, where a negation would sound odd?"""
    return bool(_SUBORDINATE.search(re.split(r"[.!?;,]\s|\n", answer[:start])[-1]))


_TIES = re.compile(
    r"\b(?:although|though|but|however|despite|which suggests?|suggesting|due to|because|therefore|thus|hence"
    r"|particularly if|especially if|not only|as (?:it|they|he|she|the) |even after|even when|lack of)\b",
    re.I,
)
_GOES_ON = re.compile(
    r"(?:However|Therefore|Thus|Hence|But|This|These|Such|Consequently|Nevertheless|Instead)\b"
)


def is_tied(answer: str, start: int) -> bool:
    """Does other text depend on the statement at ``start``: a "because" in it, a "However" after it?

    Reversing such a statement would contradict the rest of the answer.
    """
    left = re.split(r"[.!?]\s", answer[:start])[-1]
    right = re.split(r"(?<=[.!?])\s", answer[start:], maxsplit=1)
    goes_on = len(right) > 1 and _GOES_ON.match(right[1]) is not None
    return goes_on or _TIES.search(left + right[0]) is not None


def sentence_at(text: str, place: int) -> Span:
    """The sentence that contains a position of the text; the whole text if none does."""
    return next((part for part in sentence_spans(text) if part.start <= place < part.end), Span(0, len(text)))
