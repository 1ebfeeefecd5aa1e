"""Where two label words diverge: the tokens before that point, and the rest of each word."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from judge.backends.base import LabelRequest
from judge.prompting.rendering import Renderer, common_prefix

Tokens = tuple[int, ...]


def stem_and_tails(renderer: Renderer, request: LabelRequest) -> tuple[Tokens, tuple[Tokens, Tokens]]:
    """Split a request's two words, each after prompt and prefix, into a common stem and two tails.

    Words may take several tokens and begin with the same ones, which then belong to the stem. If one word is
    a prefix of the other, the end of turn decides between them, so it is appended to both.

    Returns:
        Token ids of the prompt up to where the words diverge, and the two tails, neither of them empty.
    """
    first, second = (renderer.reply_ids(request.messages, request.prefix + word) for word in request.words)
    shared = common_prefix([first, second])
    if shared in (len(first), len(second)):
        end = renderer.end_of_turn()
        first, second = first + end, second + end
    return tuple(first[:shared]), (tuple(first[shared:]), tuple(second[shared:]))


@dataclass(slots=True)
class Row:
    """Tokens to compute, the first position that is read, and the indices of the continuations read there."""

    tokens: Tokens
    first: int
    read: list[int] = field(default_factory=list)


def rows_to_read(continuations: Sequence[tuple[Tokens, Tokens]]) -> list[Row]:
    """The fewest rows from which each tail after its stem can be scored.

    A tail's last token is only predicted, not read, so two words of one token each need the same row. Rows
    that are a prefix of another row, and repeated requests, are merged in the same way.

    Args:
        continuations: pairs of a stem and a tail, see :func:`stem_and_tails`.
    """
    rows: list[Row] = []
    computed = [(*stem, *tail[:-1]) for stem, tail in continuations]
    # In reverse order, a row comes right after those that it is a prefix of.
    for index in sorted(range(len(computed)), key=lambda index: computed[index], reverse=True):
        tokens, first = computed[index], len(continuations[index][0]) - 1
        if not rows or rows[-1].tokens[: len(tokens)] != tokens:
            rows.append(Row(tokens, first))
        rows[-1].first = min(rows[-1].first, first)
        rows[-1].read.append(index)
    return rows
