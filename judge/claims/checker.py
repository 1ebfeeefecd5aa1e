"""A judge that says for every sentence of an answer how likely it is wrong, and which passage supports it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from judge.calibration.curve import unreadable
from judge.checker import Checker
from judge.claims.calibration import FIELD, ClaimsCalibration
from judge.claims.passages import nearest, passages
from judge.errors import warn
from judge.prompting.sentences import claim_spans
from judge.types import Claim, Label, Mode, Sample, Span, Unsupported, Verdict

ANSWERS = 8
"""Chunks are this many times smaller than the judge's, to leave space for the answers' sentences."""


DOUBTED = 0.5
"""In a ``FAIL``, sentences with at least this probability are named as unsupported."""


@dataclass(frozen=True)
class ClaimsJudge(Checker):
    """Adds claims to another judge's verdicts, whose labels and probabilities stay as they are.

    Args:
        judge: judges answers and sentences.
        calibration: of the sentences' probabilities; without one they are the judge's scores.
    """

    judge: Checker
    calibration: ClaimsCalibration | None = None

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
        """The judge, and the curve of its claims."""
        curve = None if self.calibration is None else self.calibration.model_dump(include=_CURVE)
        return {**self.judge.describe(), "claims": curve}

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some answers with their sentences."""
        spans = [claim_spans(sample.answer) for sample in samples]
        judged = self.judge.check_sentences(samples, spans)
        for sample, sentences, (whole, parts) in zip(samples, spans, judged, strict=True):
            yield self._told(sample, sentences, whole, parts)

    def _told(
        self, sample: Sample, sentences: Sequence[Span], whole: Verdict, parts: Sequence[Verdict]
    ) -> Verdict:
        document = sample.document_text
        windows = passages(document)
        texts = [sample.answer[span.start : span.end] for span in sentences]
        places = nearest(document, windows, texts, sample.language)
        claims = tuple(map(self._claim, sentences, places, parts))
        if len(claims) == 1:  # the sentence is the answer
            claims = (replace(claims[0], p_fail=whole.p_fail),)
        return replace(self._marked(sample.answer, whole, claims), windows=windows, claims=claims)

    def _claim(self, span: Span, window: int, found: Verdict) -> Claim:
        p_fail = found.chance
        if p_fail is not None and self.calibration is not None:
            p_fail = self.calibration.sentences(p_fail)
        return Claim(span, window, p_fail)

    def _marked(self, answer: str, whole: Verdict, claims: Sequence[Claim]) -> Verdict:
        """The verdict with no unsupported words in sentences that are probably right.

        If no words are left, the sentences that are probably wrong take their place.
        """
        if self.calibration is None or whole.label is not Label.FAIL:
            return whole
        doubted = [claim for claim in claims if claim.p_fail is not None and claim.p_fail >= DOUBTED]
        words = tuple(
            one
            for one in whole.unsupported
            if any(claim.span.overlaps(one.start, one.end) for claim in doubted)
        )
        failed = tuple(Unsupported.of(answer, claim.span, claim.p_fail) for claim in doubted)
        return replace(whole, unsupported=words or failed or whole.unsupported)


_CURVE = {"sentences", "data_sha256"}


def with_claims(judge: Checker, identity: Mapping[str, Any], model: str) -> ClaimsJudge:
    """Add claims to a judge.

    Args:
        judge: a judge with probabilities.
        identity: its ``judge.json``; empty if it has none.
        model: its name, for messages.

    Raises:
        InputError: if the calibration of claims in ``judge.json`` is not valid.
    """
    calibration = read_claims(identity, model)
    if calibration is not None and (judge.mode != "verdict" or calibration.misfit(judge.describe())):
        warn(
            f"{model}: its calibration of claims is set aside, because it was fitted to another mode, prompt "
            "or quantization; judge calibrate --claims fits another"
        )
        calibration = None
    return ClaimsJudge(judge, calibration)


def read_claims(identity: Mapping[str, Any], model: str) -> ClaimsCalibration | None:
    """The calibration of claims in a ``judge.json``, if any; raises ``InputError`` if it is not valid."""
    if FIELD not in identity:
        return None
    try:
        return ClaimsCalibration.model_validate(identity[FIELD])
    except ValidationError as error:
        raise unreadable(error, model, FIELD, " of claims", " --claims") from None
