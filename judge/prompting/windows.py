"""Judges long documents in overlapping windows: each sentence of the answer against each window.

An answer is faithful if each of its sentences is supported by some window. So a sentence gets the verdict of
the window that supports it best, and the answer that of its most doubtful sentence: the answer's probability
of FAIL is the maximum over its sentences of the minimum over the windows. A verdict that could not be read
ranks between PASS and FAIL.

Two limits follow from the rule. A sentence is judged without the ones before it, so a pronoun may lose its
referent. And a statement that needs two windows together is not found supported.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from judge.prompting.sentences import claim_spans, sentence_spans
from judge.types import Claim, Label, Sample, Span, Unsupported, Usage, Verdict

OVERLAP = 0.2
"""Share of a window that the next one repeats, so that text at an edge is whole in one of them."""
SMALLEST = 200
"""Characters of a document that must fit next to question and answer; fewer are too little evidence."""

_DOUBT = {Label.PASS: 0, None: 1, Label.FAIL: 2}


@dataclass(frozen=True, slots=True)
class Parts:
    """A sample with the windows of its document and the sentences of its answer; none if it is not split."""

    sample: Sample
    windows: tuple[Span, ...] = ()
    sentences: tuple[Span, ...] = ()

    def __len__(self) -> int:
        return len(self.windows) * len(self.sentences) or 1

    def samples(self) -> Iterator[Sample]:
        """The samples to judge, window by window, since one window's prompts share their longest part."""
        if not self.windows:
            yield self.sample
        document, answer = self.sample.document_text, self.sample.answer
        for window in self.windows:
            for sentence in self.sentences:
                yield replace(
                    self.sample,
                    document=document[window.start : window.end],
                    answer=answer[sentence.start : sentence.end],
                )

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """One verdict from those on :meth:`samples`, in their order.

        Reasoning and raw text are from the deciding verdict; tokens are added up. ``evidence`` has the
        quotes of the best verdict on each sentence, ``unsupported`` the sentences that failed.
        """
        if not self.windows:
            return verdicts[0]
        width = len(self.sentences)
        claims, best, evidence, failed = [], [], [], []
        for number, span in enumerate(self.sentences):
            column = verdicts[number::width]
            window = min(range(len(column)), key=lambda row: _doubt(column[row]))
            found, start = column[window], self.windows[window].start
            claims.append(Claim(span, window, found.chance))
            if found.label is Label.FAIL:
                failed.append(Unsupported.of(self.sample.answer, span, found.p_fail))
            best.append(found)
            evidence += [Span(start + quote.start, start + quote.end) for quote in found.evidence]
        deciding = max(best, key=_doubt)
        return replace(
            deciding,
            truncated=any(verdict.truncated for verdict in verdicts),
            cut_chars=max(verdict.cut_chars for verdict in verdicts),
            usage=Usage(
                sum(verdict.usage.prompt_tokens for verdict in verdicts),
                sum(verdict.usage.completion_tokens for verdict in verdicts),
            ),
            evidence=tuple(sorted(set(evidence), key=lambda quote: (quote.start, quote.end))),
            unsupported=tuple(failed),
            windows=self.windows,
            claims=tuple(claims),
        )


def _doubt(verdict: Verdict) -> tuple[int, float]:
    """Sort key for verdicts, from a sure PASS over those without a label to a sure FAIL."""
    return _DOUBT[verdict.label], 0.5 if verdict.p_fail is None else verdict.p_fail


def part(sample: Sample, cut: Callable[[Sample], int]) -> Parts:
    """Split a sample whose document does not fit.

    Args:
        sample: the sample.
        cut: how many characters to cut from the end of a sample's document so that it fits next to the
            question and the whole answer; 0 if it fits.

    Returns:
        The parts: windows that cover the whole document, each short enough for any sentence of the answer.
        No windows if the document fits, or if too little of it would fit to be evidence.
    """
    document = sample.document_text
    size = len(document) - cut(sample)
    if size == len(document) or size < SMALLEST:
        return Parts(sample)
    windows: list[Span] = []
    start = end = 0
    while end < len(document):
        # How much fits varies little within a document, and counting the tokens of all the rest is slow.
        ahead = document[start : start + 2 * size]
        kept = max(len(ahead) - cut(replace(sample, document=ahead)), SMALLEST)
        end = min(start + kept, len(document))
        windows.append(Span(start, end))
        start = _next_start(document, start + int(kept * (1 - OVERLAP)), end)
    return Parts(sample, tuple(windows), claim_spans(sample.answer))


def _next_start(document: str, earliest: int, end: int) -> int:
    """The first start of a sentence after ``earliest``, else of a word, but never beyond ``end``."""
    ahead = document[earliest:end]
    sentences = sentence_spans(ahead)
    if len(sentences) > 1:
        return earliest + sentences[1].start
    words = ahead.split(maxsplit=1)
    return end - len(words[1]) if len(words) > 1 else earliest


def check_in_windows(
    samples: Sequence[Sample],
    cut: Callable[[Sample], int],
    check: Callable[[Iterable[Sample]], Iterator[Verdict]],
) -> Iterator[Verdict]:
    """Judge samples, long documents in windows; one verdict each, in their order.

    Args:
        samples: the samples.
        cut: see :func:`part`.
        check: judges a stream of samples whose documents fit.
    """
    parted = [part(sample, cut) for sample in samples]
    verdicts = check(piece for parts in parted for piece in parts.samples())
    for parts in parted:
        yield parts.combine(list(islice(verdicts, len(parts))))
