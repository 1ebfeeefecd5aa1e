"""Cuts an article to a window of whole sentences around an answer, at most 1,500 tokens by default.

An article of COVID-QA has 6,000 tokens, more than fit in a training row, and a trainer that truncates it may
cut off the evidence. Windows begin at fixed places of the article, so that questions about the same part of
it share a document.
"""

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

from judge.prompting.sentences import sentence_spans
from judge.types import Span

WINDOW_TOKENS = 1500
"""Default size of a window in tokens, as :func:`count_tokens` counts them."""

# Words longer than five letters, as in scientific articles, are several tokens.
_TOKEN = re.compile(r"[^\W\d_\u3040-\u9fff]{1,5}|\d|[\u3040-\u9fff]|[^\w\s]|_")


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer: one for every five letters of a word (rounded up),
    and one for each digit, mark and Chinese character."""
    return len(_TOKEN.findall(text))


def window(article: str, start: int, end: int, tokens: int) -> str:
    """The window of an article that suits a span best; the whole article if it is short enough.

    Windows are whole sentences of at most ``tokens`` tokens; each overlaps the one before by about half. Of
    the windows that contain the span, the one is taken in which it is farthest from the edges. A span that
    no window contains gets its own, from its first sentence to its last.

    Args:
        article: the whole text.
        start: start of the span, in characters.
        end: end of the span, exclusive.
        tokens: the size of a window, as :func:`count_tokens` counts.
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
    """The sentences of an article and its windows; no windows if the article is short enough."""
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
