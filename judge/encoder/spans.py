"""Turns doubted tokens of an answer into unsupported words: whole words, with neighbours joined."""

import re
from collections.abc import Iterable

from judge.types import Label, Span, Unsupported, Verdict

_WORD = re.compile(r"[^\W_]+(?:[-'’.,:/][^\W_]+)*[%°]?|[$€£¥]")
_BETWEEN = re.compile(r"[\s\-–—,'’\"()*_]*")
"""What may separate two doubted words of one span."""
DOUBT = 0.5
"""Words and sentences at or above this probability are unsupported."""
WORST = 3
"""Number of most doubted tokens to average for a sentence: a single one may be a slip."""


def sentence_verdict(doubts: Iterable[tuple[tuple[int, int], float]], span: Span) -> Verdict:
    """The verdict on a sentence, from the mean of its :data:`WORST` most doubted tokens.

    Args:
        doubts: place and probability of each token of the answer that was read.
        span: the sentence's place in the answer.
    """
    own = sorted(doubt for (start, end), doubt in doubts if span.overlaps(start, end))
    if not own:
        return Verdict(None, error="this sentence holds nothing that the judge can read")
    return labelled(sum(own[-WORST:]) / len(own[-WORST:]))


def labelled(p_fail: float) -> Verdict:
    """The verdict on a part of an answer with this probability of FAIL."""
    return Verdict(Label.FAIL if p_fail >= DOUBT else Label.PASS, p_fail)


def unsupported_words(
    answer: str, doubts: Iterable[tuple[tuple[int, int], float]]
) -> tuple[Unsupported, ...]:
    """The words of an answer that the document does not support.

    A word's probability is that of its most doubted token; a span's is that of its most doubted word.
    Chinese and Japanese have no spaces between words, so there tokens take the place of words.

    Args:
        answer: the text of the answer.
        doubts: place and probability of each token that was read.
    """
    known = sorted(doubts)
    found: list[Unsupported] = []
    at = 0
    for start, end in _words(answer, known):
        while at < len(known) and known[at][0][1] <= start:
            at += 1
        p, place = 0.0, at
        while place < len(known) and known[place][0][0] < end:
            p, place = max(p, known[place][1]), place + 1
        if p < DOUBT:
            continue
        last = found[-1] if found else None
        if last is not None and _BETWEEN.fullmatch(answer, last.end, start):
            found[-1] = Unsupported(answer[last.start : end], last.start, end, max(last.p or 0.0, p))
        else:
            found.append(Unsupported(answer[start:end], start, end, p))
    return tuple(found)


def _words(answer: str, tokens: list[tuple[tuple[int, int], float]]) -> Iterable[tuple[int, int]]:
    """Places of the words of a text, or of its tokens in scripts without spaces between words."""
    for match in _WORD.finditer(answer):
        if match.group().isascii() or not _unspaced(match.group()):
            yield match.span()
            continue
        last = match.start()
        for (start, end), _ in tokens:
            if last <= start and end <= match.end():
                yield start, end
                last = end


def _unspaced(word: str) -> bool:
    return any("\u3040" <= letter <= "\u30ff" or "\u4e00" <= letter <= "\u9fff" for letter in word)
