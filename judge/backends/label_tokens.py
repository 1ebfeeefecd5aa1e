"""Where two label words part: the tokens that a conversation leads up to, and those of each word after it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from judge.backends.base import LabelRequest
from judge.prompting.rendering import Renderer, common_prefix

Tokens = tuple[int, ...]


def stem_and_tails(renderer: Renderer, request: LabelRequest) -> tuple[Tokens, tuple[Tokens, Tokens]]:
    """Split a request's two words, each in its place, into what they share and what remains of each.

    Words may take several tokens and begin with the same ones, which then belong to the stem. Where one
    word begins the other, the end of turn decides between them, so both get it.

    Returns:
        Token ids of the prompt up to where the words part, and the two tails, neither of them empty.
    """
    first, second = (renderer.reply_ids(request.messages, request.prefix + word) for word in request.words)
    shared = common_prefix([first, second])
    if shared in (len(first), len(second)):
        end = renderer.end_of_turn()
        first, second = first + end, second + end
    return tuple(first[:shared]), (tuple(first[shared:]), tuple(second[shared:]))


@dataclass(slots=True)
class Row:
    """Tokens to compute, the place from which on they are read, and the continuations that are read there."""

    tokens: Tokens
    first: int
    read: list[int] = field(default_factory=list)


def rows_to_read(continuations: Sequence[tuple[Tokens, Tokens]]) -> list[Row]:
    """The fewest rows of which each tail after its stem can be read.

    A tail's last token is only predicted, so words of one token leave the prompt as it is: one row is read
    for both. So it is wherever a row begins another, and for requests that are asked twice.

    Args:
        continuations: stems and tails, as of :func:`stem_and_tails`.
    """
    rows: list[Row] = []
    computed = [(*stem, *tail[:-1]) for stem, tail in continuations]
    # Backwards in their order, a row comes right after those that it begins.
    for index in sorted(range(len(computed)), key=lambda index: computed[index], reverse=True):
        tokens, first = computed[index], len(continuations[index][0]) - 1
        if not rows or rows[-1].tokens[: len(tokens)] != tokens:
            rows.append(Row(tokens, first))
        rows[-1].first = min(rows[-1].first, first)
        rows[-1].read.append(index)
    return rows
