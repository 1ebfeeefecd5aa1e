"""Where two label words part: the tokens that a conversation leads up to, and those of each word after it."""

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
