"""A document in short passages, and which of them holds most of a sentence's words."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from judge.baselines.overlap import units
from judge.prompting.sentences import sentence_spans
from judge.types import Language, Span

JOINED = 160
"""Neighbouring sentences are one passage up to this many characters: a short one says little alone."""
LONGEST = 400
"""Characters of a passage at most; a longer sentence is cut."""


def passages(document: str) -> tuple[Span, ...]:
    """Passages of a document, in order: neighbouring sentences together, a longer sentence in parts.

    They hold the whole text but for the white space between them; none is longer than :data:`LONGEST`.
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
    """A sentence, cut between words where it is too long for a passage, or within one that has no end."""
    start, found = sentence.start, []
    while sentence.end - start > LONGEST:
        spaces = (at for at in range(start + LONGEST, start, -1) if text[at].isspace())
        end = next(spaces, start + LONGEST)
        found.append(Span(start, start + len(text[start:end].rstrip())))
        start = end + len(text[end : sentence.end]) - len(text[end : sentence.end].lstrip())
    return [*found, Span(start, sentence.end)]


def nearest(document: str, parts: Sequence[Span], sentences: Sequence[str], language: Language) -> list[int]:
    """The passage that speaks most for each sentence: the one that holds most of its words.

    Words that few passages hold count more (by the logarithm, as in BM25), of Chinese pairs of characters. Of
    equals the first one is taken.

    Args:
        document: the text.
        parts: its passages, at least one.
        sentences: what is looked for.
        language: of both.

    Returns:
        The number of a passage, from 0, for each sentence.
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
