"""The encoder judge that reads pages: all answers about a document in one pass, with unsupported words."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from judge.encoder.calibrated import CalibratedEncoder
from judge.encoder.spans import sentence_verdict, unsupported_words
from judge.models.batching import by_length
from judge.pages.layout import QUESTION_TOKENS, RUNS, Layout, pages
from judge.prompting.finishing import NOTHING_READ, finish
from judge.types import Label, Sample, Span, Usage, Verdict

if TYPE_CHECKING:
    from judge.calibration.curve import Curve
    from judge.pages.model import PagesNetwork
    from judge.pages.onnx import OnnxPagesNetwork

    Network = PagesNetwork | OnnxPagesNetwork

LAYOUT_VERSION = 1
PAGE_TOKENS = 1024


def describe_layout(layout: Layout) -> dict[str, Any]:
    """Everything that determines how a sample is read, for ``judge.json`` and reports.

    A calibration stays valid if :meth:`Layout.limit` reduces the windows, so the hash ignores the limit.
    """
    values = [LAYOUT_VERSION, layout.window_tokens, layout.max_windows, QUESTION_TOKENS, *RUNS]
    return {
        "window_tokens": layout.window_tokens,
        "max_windows": layout.read_windows,
        "prompt_version": LAYOUT_VERSION,
        "prompt_hash": sha256(repr(values).encode()).hexdigest()[:12],
    }


@dataclass(frozen=True, slots=True)
class _Read:
    """A verdict, with the place and the doubt of each token of the answer."""

    verdict: Verdict
    doubts: tuple[tuple[tuple[int, int], float], ...] = ()


@dataclass(frozen=True)
class PagesJudge(CalibratedEncoder):
    """Judges whether answers are faithful to their documents, in one pass of an encoder.

    Long questions and answers are read in parts, each part of the answer with each part of the question; an
    answer is as faithful as its least faithful part.

    Args:
        layout: how samples become tokens; for the others see :class:`CalibratedEncoder`.
    """

    network: "Network"
    layout: Layout = field(kw_only=True)

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some samples together; those about one document share its computation."""
        for found in self._read(samples):
            yield found.verdict

    def check_sentences(
        self, samples: Sequence[Sample], sentences: Sequence[Sequence[Span]]
    ) -> Iterator[tuple[Verdict, tuple[Verdict, ...]]]:
        """Judge answers and each of their sentences, reading each answer once.

        A sentence's probability is that of its most doubted tokens
        (:func:`~judge.encoder.spans.sentence_verdict`), read in the context of the answer.
        """
        for found, spans in zip(self._read(samples), sentences, strict=True):
            yield found.verdict, tuple(sentence_verdict(found.doubts, span) for span in spans)

    def _read(self, samples: Sequence[Sample]) -> "list[_Read]":
        """The verdict of each sample, and the doubts of its tokens."""
        places: dict[str, list[int]] = {}
        for place, sample in enumerate(samples):
            if self._foreign(sample.language) is None:
                places.setdefault(sample.document_text, []).append(place)
        documents, cut = [], {}
        for text, about in places.items():
            windows, lost = self.layout.windows(text)
            parts = [(place, part) for place in about for part in self.layout.answers(samples[place])]
            documents.append((windows, parts))
            cut.update(dict.fromkeys(about, lost))
        curve = self.curve()
        chances: dict[int, list[float]] = {}
        usage: dict[int, int] = {}
        doubts: dict[int, dict[tuple[int, int], float]] = {}
        all_pages = list(pages(documents, PAGE_TOKENS))
        for indices in by_length([len(page) for page in all_pages], self.batch_tokens, self._most_padding()):
            batch = [all_pages[index] for index in indices]
            by_answer, by_token = map(iter, self.network.probabilities(batch, self.precision))
            for page in batch:
                for place, answer in zip(page.names, page.answers, strict=True):
                    chances.setdefault(place, []).append(next(by_answer))
                    usage.setdefault(place, sum(map(len, page.windows)))
                    usage[place] += len(answer.ids)
                    known = doubts.setdefault(place, {})
                    for span in answer.spans:
                        known[span] = max(next(by_token), known.get(span, 0.0))
        found = []
        for place, sample in enumerate(samples):
            if place not in chances:
                found.append(_Read(Verdict(None, error=self._foreign(sample.language))))
                continue
            if not doubts[place]:
                found.append(_Read(Verdict(None, error=NOTHING_READ)))
                continue
            token_doubts = chances[place]
            worst = math.nan if any(map(math.isnan, token_doubts)) else max(token_doubts)
            raw = Verdict(None, worst, cut_chars=cut[place], usage=Usage(usage[place]))
            found.append(self._found(sample, raw, doubts[place], curve))
        return found

    def _found(
        self, sample: Sample, raw: Verdict, doubts: Mapping[tuple[int, int], float], curve: "Curve | None"
    ) -> _Read:
        """The verdict of a sample's worst part, with the doubts of all tokens."""
        verdict = finish(raw, sample, self.mode, curve, self.threshold)
        if verdict.label is None:
            return _Read(verdict)
        if verdict.label is Label.FAIL:
            verdict = replace(verdict, unsupported=unsupported_words(sample.answer, doubts.items()))
        return _Read(verdict, tuple(doubts.items()))

    def reads_with(self) -> dict[str, Any]:
        """The network, its number format and how samples are read."""
        return {**super().reads_with(), **describe_layout(self.layout)}
