"""A judge that says for every sentence of an answer how likely it is wrong, and which passage supports it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from judge.calibration.curve import unreadable
from judge.checker import Checker
from judge.claims.passages import nearest, passages
from judge.claims.rule import FIELD, ClaimsCalibration, combine
from judge.errors import warn
from judge.prompting.sentences import claim_spans
from judge.types import Claim, Label, Mode, Sample, Span, Unsupported, Verdict

ANSWERS = 8
"""Chunks are this many times smaller than the judge's, to leave space for the answers' sentences."""


DOUBTED = 0.5
"""In a ``FAIL``, sentences with at least this probability are named as unsupported."""


@dataclass(frozen=True)
class ClaimsJudge(Checker):
    """Adds claims to another judge's verdicts.

    With a calibration, the answer's probability is combined from its sentences and the answer as a whole, see
    :mod:`judge.claims.rule`; without one it is the judge's for the whole answer, and the sentences'
    probabilities are hints.

    Args:
        judge: judges answers and sentences.
        calibration: fitted to this judge; replaces the judge's own calibration of whole answers.
        threshold: with a calibration, an answer is ``FAIL`` at or above this ``p_fail``.
    """

    judge: Checker
    calibration: ClaimsCalibration | None = None
    threshold: float = 0.5

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

    @property
    def rule(self) -> str:
        """How the answer's verdict follows from its sentences, for people."""
        if self.calibration is None:
            return "hints: the verdict is on the answer as a whole"
        return "the answer's p(FAIL) combines these with a score for the whole answer"

    def describe(self) -> dict[str, Any]:
        """The judge, and the curves behind its claims."""
        curves = None if self.calibration is None else self.calibration.model_dump(include=_CURVES)
        return {**self._asked.describe(), "claims": {"calibration": curves, "threshold": self.threshold}}

    def check_chunk(self, samples: Sequence[Sample]) -> Iterator[Verdict]:
        """Judge some answers with their sentences."""
        spans = [claim_spans(sample.answer) for sample in samples]
        judged = self._asked.check_sentences(samples, spans)
        for sample, sentences, (whole, parts) in zip(samples, spans, judged, strict=True):
            yield self._told(sample, sentences, whole, parts)

    @property
    def _asked(self) -> Checker:
        """The judge that is asked: without its own calibrations if there is one of claims."""
        if self.calibration is None or not hasattr(self.judge, "calibrations"):
            return self.judge
        return replace(self.judge, calibrations={})  # type: ignore[type-var]

    def _told(
        self, sample: Sample, sentences: Sequence[Span], whole: Verdict, parts: Sequence[Verdict]
    ) -> Verdict:
        document = sample.document_text
        windows = passages(document)
        texts = [sample.answer[span.start : span.end] for span in sentences]
        places = nearest(document, windows, texts, sample.language)
        claims = tuple(map(self._claim, sentences, places, parts))
        answer = self._answer(sample.answer, whole, claims)
        if self.calibration is not None and len(claims) == 1:  # the sentence is the answer
            claims = (replace(claims[0], p_fail=answer.p_fail),)
        return replace(answer, windows=windows, claims=claims)

    def _claim(self, span: Span, window: int, found: Verdict) -> Claim:
        p_fail = found.chance
        if p_fail is not None and self.calibration is not None:
            p_fail = self.calibration.sentences(p_fail)
        return Claim(span, window, p_fail)

    def _answer(self, answer: str, whole: Verdict, claims: Sequence[Claim]) -> Verdict:
        """The answer's verdict, by the rule if there is a calibration.

        Sentences without a probability are left out; if none has one, the answer counts as a sentence.
        """
        if self.calibration is None or whole.p_fail is None or not claims:
            return whole
        known = [claim.p_fail for claim in claims if claim.p_fail is not None]
        known = known or [self.calibration.sentences(whole.p_fail)]
        p_fail = self.calibration.answers(combine(known, whole.p_fail))
        if p_fail < self.threshold:
            return replace(whole, p_fail=p_fail, label=Label.PASS, unsupported=())
        doubted = [claim for claim in claims if claim.p_fail is not None and claim.p_fail >= DOUBTED]
        words = tuple(
            one
            for one in whole.unsupported
            if any(claim.span.overlaps(one.start, one.end) for claim in doubted)
        )
        failed = tuple(Unsupported.of(answer, claim.span, claim.p_fail) for claim in doubted)
        return replace(
            whole, p_fail=p_fail, label=Label.FAIL, unsupported=words or failed or whole.unsupported
        )


_CURVES = {"sentences", "answers", "data_sha256"}


def with_claims(
    judge: Checker, identity: Mapping[str, Any], model: str, threshold: float | None = None
) -> ClaimsJudge:
    """Add claims to a judge.

    Args:
        judge: a judge with probabilities.
        identity: its ``judge.json``; empty if it has none.
        model: its name, for messages.
        threshold: see :class:`ClaimsJudge`; by default the judge's.

    Raises:
        InputError: if the calibration of claims in ``judge.json`` is not valid.
    """
    if threshold is None:
        threshold = getattr(judge, "threshold", None)
    calibration = read_claims(identity, model)
    if calibration is not None and (judge.mode != "verdict" or calibration.misfit(judge.describe())):
        warn(
            f"{model}: its calibration of claims is set aside, because it was fitted to another mode, prompt "
            "or quantization; judge calibrate --claims fits another"
        )
        calibration = None
    return ClaimsJudge(judge, calibration, 0.5 if threshold is None else threshold)


def read_claims(identity: Mapping[str, Any], model: str) -> ClaimsCalibration | None:
    """The calibration of claims in a ``judge.json``, if any; raises ``InputError`` if it is not valid."""
    if FIELD not in identity:
        return None
    try:
        return ClaimsCalibration.model_validate(identity[FIELD])
    except ValidationError as error:
        raise unreadable(error, model, FIELD, " of claims", " --claims") from None
