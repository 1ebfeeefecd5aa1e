"""A judge that says for every sentence of an answer how much to doubt it, and which passage supports it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from judge.checker import Checker
from judge.claims.passages import nearest, passages
from judge.prompting.sentences import claim_spans
from judge.types import Claim, Mode, Sample, Span, Verdict

ANSWERS = 8
"""Chunks are this many times smaller than the judge's, to leave space for the answers' sentences."""


@dataclass(frozen=True)
class ClaimsJudge(Checker):
    """Adds claims to another judge's verdicts, which stay as they are.

    Args:
        judge: judges answers and sentences.
    """

    judge: Checker

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.judge.name

    @property
    def mode(self) -> Mode:
        """The judge's mode."""
        return self.judge.mode

    @property
    def chunk(self) -> int:
        """How many answers are judged together."""
        return -(-self.judge.chunk // ANSWERS)

    @property
    def at_once(self) -> int:
        """As many callers as the judge serves."""
        return self.judge.at_once

    def describe(self) -> dict[str, Any]:
        """The judge, and that it is asked for claims."""
        return {**self.judge.describe(), "claims": True}

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some answers with their sentences."""
        spans = [claim_spans(sample.answer) for sample in samples]
        judged = self.judge.check_sentences(samples, spans)
        for sample, sentences, (whole, parts) in zip(samples, spans, judged, strict=True):
            yield self._with_claims(sample, sentences, whole, parts)

    def _with_claims(
        self, sample: Sample, sentences: Sequence[Span], whole: Verdict, parts: Sequence[Verdict]
    ) -> Verdict:
        document = sample.document_text
        windows = passages(document)
        texts = [sample.answer[span.start : span.end] for span in sentences]
        places = nearest(document, windows, texts, sample.language)
        claims = tuple(
            Claim(span, window, part.chance)
            for span, window, part in zip(sentences, places, parts, strict=True)
        )
        if len(claims) == 1:  # the sentence is the answer
            claims = (replace(claims[0], p_fail=whole.p_fail),)
        return replace(whole, windows=windows, claims=claims)
