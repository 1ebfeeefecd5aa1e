"""Splits a document into short passages, and finds the one with most of a sentence's words."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from judge.baselines.overlap import units
from judge.prompting.sentences import sentence_spans
from judge.types import Language, Span

JOINED = 160
"""Neighbouring sentences are joined to passages of up to this many characters: one alone says little."""
LONGEST = 400
"""Longest passage, in characters; a longer sentence is cut."""


def passages(document: str) -> tuple[Span, ...]:
    """Passages of a document, in order: neighbouring sentences together, a longer sentence in parts.

    They cover the whole text except white space between them; none is longer than :data:`LONGEST`.
    """
    found: list[Span] = []
    for sentence in sentence_spans(document):
        for part in _parts(document, sentence):
            if found and part.end - found[-1].start <= JOINED:
                found[-1] = Span(found[-1].start, part.end)
            else:
                found.append(part)
    return tuple(found) or (Span(0, len(document)),)


def _parts(text: str, sentence: Span) -> list[Span]:
    """A sentence; if too long for a passage, cut between words, or within a very long word."""
    start, found = sentence.start, []
    while sentence.end - start > LONGEST:
        spaces = (at for at in range(start + LONGEST, start, -1) if text[at].isspace())
        end = next(spaces, start + LONGEST)
        found.append(Span(start, start + len(text[start:end].rstrip())))
        start = end + len(text[end : sentence.end]) - len(text[end : sentence.end].lstrip())
    return [*found, Span(start, sentence.end)]


def nearest(document: str, parts: Sequence[Span], sentences: Sequence[str], language: Language) -> list[int]:
    """The passage that best supports each sentence: the one with most of its words.

    Words in few passages count more (logarithmically, as in BM25); in Chinese, pairs of characters are used.
    In a tie the first passage wins.

    Args:
        document: the text.
        parts: its passages, at least one.
        sentences: the sentences to look up.
        language: of both.

    Returns:
        The index of a passage, from 0, for each sentence.
    """
    held = [_words(document[part.start : part.end], language) for part in parts]
    among = Counter(word for words in held for word in words)
    weight = {word: math.log(1 + len(parts) / count) for word, count in among.items()}
    found = []
    for sentence in sentences:
        wanted = _words(sentence, language) & weight.keys()
        scores = [sum(weight[word] for word in sorted(wanted & words)) for words in held]
        found.append(scores.index(max(scores)))
    return found


def _words(text: str, language: Language) -> set[str]:
    running = units(text, language)
    return set(running) if language == "en" or len(running) < 2 else {a + b for a, b in pairwise(running)}
