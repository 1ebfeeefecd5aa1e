"""Document-only fitting: only the document is ever shortened, and what was cut is counted.

Truncating a prompt at its end would remove the answer and the question about it, and a judge would
be asked about nothing. The document loses its tail instead, at a word boundary.
"""

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
        limit: tokens that the messages may take.

    Returns:
        The messages, and how many characters of the document were cut.

    Raises:
        TooLong: question, answer and instructions alone take more than ``limit`` tokens.
    """
    messages = build(document)
    if count(messages) <= limit:
        return messages, 0
    bare = count(build(ELLIPSIS))
    if bare > limit:
        raise TooLong(
            f"question, answer and instructions alone take {bare} tokens of {limit}; "
            "shorten the answer or use a longer context"
        )
    low, high = 0, len(document)  # `low` characters fit, `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        if count(build(document[:middle] + ELLIPSIS)) <= limit:
            low = middle
        else:
            high = middle
    for kept in (_at_boundary(document[:low]), document[:low]):
        messages = build(kept + ELLIPSIS)
        if count(messages) <= limit:  # a shorter text may, in odd vocabularies, take more tokens
            break
    return messages, len(document) - len(kept)


def _at_boundary(text: str) -> str:
    """Drop a word that was cut in two; scripts without white space are cut where they are."""
    shortened = text.rsplit(maxsplit=1)[0] if text.strip() else ""
    return shortened if len(text) - len(shortened) <= 30 else text.rstrip()
