"""Citations: answers from passages cite the passage that supports them, as ``[1]``; this checks them."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from eval.open_factual.tokens import added, tokenize

Citation = Literal["supported", "unsupported", "invalid", "missing"]
"""The cited passage contains what the answer says; does not; does not exist; no passage is cited."""

_MARK = re.compile(r"\s*\[(\d{1,4})\]")


def without_citations(answer: str) -> str:
    """The answer without citation marks, whose numbers are not part of its content."""
    return _MARK.sub("", answer)


def check_citation(question: str, line: str, passages: Sequence[str]) -> Citation:
    """Do the passages that a line cites contain what it says?

    All its numbers must occur in them, by value, and at least half of its content words; what the question
    already says is left out. A correct answer that cites the wrong passage is unsupported.
    """
    cited = [int(number) for number in _MARK.findall(line)]
    if not cited:
        return "missing"
    if not all(1 <= number <= len(passages) for number in cited):
        return "invalid"
    held = set(tokenize("\n".join(passages[number - 1] for number in cited)))
    stated = added(without_citations(line), question)
    numbers = [token for token in stated if isinstance(token, Decimal)]
    words = [token for token in stated if not isinstance(token, Decimal)]
    if not stated or not held.issuperset(numbers):
        return "unsupported"
    return "supported" if 2 * sum(word in held for word in words) >= len(words) else "unsupported"
