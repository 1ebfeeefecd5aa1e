"""Document-only fitting: only the document is ever shortened, and the characters cut are counted.

Truncating a prompt at its end would remove the answer and leave nothing to judge. Instead the document loses
its tail, at a word boundary.
"""

import itertools
from collections.abc import Callable, Sequence

from judge.errors import InputError
from judge.types import Message

ELLIPSIS = " …"


class TooLong(InputError):
    """A sample that does not fit even without its document."""


def fit(
    document: str,
    build: Callable[[str], Sequence[Message]],
    count: Callable[[Sequence[Message]], int],
    limit: int,
) -> tuple[Sequence[Message], int]:
    """Build the messages of a sample so that they take at most ``limit`` tokens.

    Args:
        document: the whole document.
        build: makes the messages for a given document text.
        count: counts the tokens of messages, generation prompt included.
        limit: maximum number of tokens.

    Returns:
        The messages, and how many characters of the document were cut.

    Raises:
        TooLong: if question, answer and instructions alone take more than ``limit`` tokens.
    """
    messages = build(document)
    whole = count(messages)
    if whole <= limit:
        return messages, 0
    bare = count(build(ELLIPSIS))
    if bare > limit:
        raise TooLong(
            f"question, answer and instructions alone take {bare} tokens of {limit}; "
            "shorten the answer or use a longer context"
        )
    # `low` characters fit, `high` do not. Counting tokens is slow, so the next guess is where evenly spread
    # tokens would reach the limit (false position, Illinois' rule), and every sixth guess is halfway.
    low, high, room, excess = 0, len(document), limit - bare + 0.5, float(whole - limit)
    fitted = None
    for turn in itertools.count(1):
        if high - low <= 1 or _at_boundary(document[:low]) == _at_boundary(document[: high - 1]):
            break
        guess = low + int((high - low) * room / (room + excess))
        middle = min(max(guess, low + 1), high - 1) if turn % 6 else (low + high) // 2
        tokens = count(build(document[:middle] + ELLIPSIS))
        if tokens <= limit:
            excess /= 2 if fitted is True else 1
            low, room, fitted = middle, limit - tokens + 0.5, True
        else:
            room /= 2 if fitted is False else 1
            high, excess, fitted = middle, float(tokens - limit), False
    for kept in (_at_boundary(document[:low]), document[:low]):
        messages = build(kept + ELLIPSIS)
        if count(messages) <= limit:  # in odd vocabularies a shorter text may take more tokens
            break
    return messages, len(document) - len(kept)


def _at_boundary(text: str) -> str:
    """Drop a word that was cut in two; scripts without white space are left as cut."""
    shortened = text.rsplit(maxsplit=1)[0] if text.strip() else ""
    return shortened if len(text) - len(shortened) <= 30 else text.rstrip()
