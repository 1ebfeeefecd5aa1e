"""Where an English statement begins and ends, as far as turning it or adding to it needs to know."""

import re

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
    """Is the place in a clause of cause or time, where a negation would sound odd?"""
    return bool(_SUBORDINATE.search(re.split(r"[.!?;,]\s|\n", answer[:start])[-1]))
