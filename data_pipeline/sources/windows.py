"""The window of an article that holds an answer: whole sentences, some thousand tokens at most.

An article of COVID-QA has 6,000 tokens, more than a training row may hold, and a trainer that shortens it may
cut the evidence away. Windows begin at fixed places of the article, so questions about one part of it share a
document.
"""

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

from judge.prompting.sentences import sentence_spans
from judge.types import Span

WINDOW_TOKENS = 1500
"""Tokens of a window unless a recipe says otherwise, as :func:`count_tokens` counts them."""

# Words longer than five letters, as in scientific articles, are several tokens.
_TOKEN = re.compile(r"[^\W\d_\u3040-\u9fff]{1,5}|\d|[\u3040-\u9fff]|[^\w\s]|_")


def count_tokens(text: str) -> int:
    """About how many tokens a text has, without a tokenizer: one for each five letters of a word (begun ones
    count), for each digit, each mark and each Chinese character."""
    return len(_TOKEN.findall(text))


def window(article: str, start: int, end: int, tokens: int) -> str:
    """The window of an article in which a span stands best; the article itself if it fits.

    Windows are whole sentences, of at most ``tokens`` tokens; a new one begins about every half. Of those
    that hold the span whole, that one is taken in which it stands farthest from an edge. A span that fits no
    window gets one of its own, from its first sentence to its last.

    Args:
        article: the whole text.
        start: first character of the span.
        end: character behind its last.
        tokens: at most this many, as :func:`count_tokens` counts.
    """
    sentences, windows = _cut(article, tokens)
    if not windows:
        return article
    holding = [span for span in windows if span.start <= start and end <= span.end]
    if holding:
        best = max(holding, key=lambda span: min(start - span.start, span.end - end))
        return article[best.start : best.end]
    first = max(bisect_right([span.start for span in sentences], start) - 1, 0)
    last = min(bisect_left([span.end for span in sentences], end), len(sentences) - 1)
    return article[min(sentences[first].start, start) : max(sentences[last].end, end)]


@lru_cache(maxsize=8)  # the questions about an article follow each other
def _cut(article: str, tokens: int) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The sentences of an article and its windows; no windows where it needs none."""
    sentences = sentence_spans(article)
    sizes = [count_tokens(article[span.start : span.end]) for span in sentences]
    if sum(sizes) <= tokens or not sentences:
        return sentences, ()
    windows: list[Span] = []
    first = 0
    while first < len(sentences):
        last, size = first, sizes[first]
        while last + 1 < len(sentences) and size + sizes[last + 1] <= tokens:
            last += 1
            size += sizes[last]
        windows.append(Span(sentences[first].start, sentences[last].end))
        if last == len(sentences) - 1:
            break
        skipped, step = sizes[first], first + 1
        while step <= last and skipped + sizes[step] <= tokens // 2:
            skipped += sizes[step]
            step += 1
        first = step
    return sentences, tuple(windows)
