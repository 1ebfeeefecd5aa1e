"""Probabilities of two words at a place in a reply, from its tokens and their listed alternatives."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

Token = Mapping[str, Any]
"""A token of a reply in OpenAI's form: ``token``, ``logprob``, ``bytes`` and ``top_logprobs``."""


def read_words(tokens: Sequence[Token], prefix: str, words: tuple[str, str]) -> tuple[float, float] | None:
    """Natural-log probabilities of two words after ``prefix``, with which the reply begins.

    A word gets the sum over all alternatives that are a prefix of it or that it is a prefix of. If the reply
    continued with part of a word, or with a common beginning of both, the next token is read too. This is an
    approximation: an alternative that was not chosen counts in full for the word that it begins, and a word
    that is not listed gets the highest probability it could have had.

    Returns:
        The two log-probabilities; ``None`` if neither word was among the alternatives.
    """
    place, before = _start(tokens, prefix.encode())
    started = bool(before)
    left = {word: before + word.encode() for word in words}  # the rest of each word that is still possible
    found = dict.fromkeys(words, 0.0)
    most = dict.fromkeys(words, 1.0)
    reached = 1.0  # probability of the reply up to this token
    for token in tokens[place:]:
        taken, chances = _bytes(token), _alternatives(token)
        unlisted = min(*chances.values(), max(0.0, 1.0 - sum(chances.values())))
        followed: dict[str, bytes] = {}
        for text, chance in chances.items():
            begun = text if started else text.lstrip()
            fits = [word for word, rest in left.items() if rest.startswith(begun) or begun.startswith(rest)]
            if text == taken and any(len(left[word]) > len(begun) for word in fits):
                followed = {word: left[word][len(begun) :] for word in fits}
            elif len(fits) == 1:
                found[fits[0]] += reached * chance
        for word in left:
            most[word] = min(most[word], reached * unlisted)
        if not followed:
            break
        left, reached, started = followed, reached * chances[taken], started or bool(taken.strip())
    if not any(found.values()):
        return None
    first, second = (math.log(max(found[word] or most[word], 1e-300)) for word in words)
    return first, second


def _start(tokens: Sequence[Token], prefix: bytes) -> tuple[int, bytes]:
    """The token in which the word begins, and the part of the prefix in the same token."""
    position = 0
    for place, token in enumerate(tokens):
        end = position + len(_bytes(token))
        if end > len(prefix):
            return place, prefix[position:]
        position = end
    return len(tokens), b""


def _bytes(token: Token) -> bytes:
    raw = token.get("bytes")
    return bytes(raw) if isinstance(raw, list) else str(token.get("token", "")).encode("utf-8", "replace")


def _alternatives(token: Token) -> dict[bytes, float]:
    """Probabilities of a token and its alternatives by their text."""
    listed = {_bytes(item): math.exp(item["logprob"]) for item in token.get("top_logprobs") or ()}
    return {_bytes(token): math.exp(token["logprob"]), **listed}
