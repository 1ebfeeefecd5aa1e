"""Fitting the curves of claims to answers whose wrong spans are known; see :mod:`judge.claims.rule`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.calibration.fit import cross_fitted, fit_curve
from judge.calibration.reliability import calibration_error
from judge.claims.rule import ClaimsCalibration, any_wrong, combine
from judge.errors import InputError
from judge.formats.spans import wrong_spans
from judge.prompting.sentences import claim_spans
from judge.types import Label, Sample, Verdict


@dataclass
class Labelled:
    """Answers with raw probabilities of their sentences and of the whole, and the truth about them.

    ``wrong`` says for each sentence of an answer whether a marked span touches it; ``None`` if an answer is
    FAIL without marked spans.
    """

    groups: list[str] = field(default_factory=list)
    fails: list[bool] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    parts: list[list[float]] = field(default_factory=list)
    wrong: list[list[bool] | None] = field(default_factory=list)

    def add(self, sample: Sample, verdict: Verdict) -> bool:
        """Take an answer that :class:`~judge.claims.checker.ClaimsJudge` judged without a calibration.

        Returns:
            Whether it has all probabilities and so was taken.
        """
        found = [claim.p_fail for claim in verdict.claims if claim.p_fail is not None]
        if verdict.p_fail is None or not found or len(found) < len(verdict.claims):
            return False
        self.groups.append(sample.unit)
        self.fails.append(sample.label is Label.FAIL)
        self.whole.append(verdict.p_fail)
        self.parts.append(found)
        self.wrong.append(wrong_sentences(sample))
        return True

    def sentences(self) -> tuple[list[float], list[bool], list[str]]:
        """Probability, truth and document of every sentence whose truth is known."""
        rows = [
            (p, wrong, group)
            for group, parts, marks in zip(self.groups, self.parts, self.wrong, strict=True)
            for p, wrong in zip(parts, marks or (), strict=False)
        ]
        return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


UNMARKED = (
    "no sample says where its answer is wrong; claims are calibrated with samples whose 'meta' holds "
    "'spans', a list of {start, end} in the answer (RAGTruth's have them)"
)


def wrong_sentences(sample: Sample) -> list[bool] | None:
    """For each sentence of a sample's answer, whether a marked span touches it; ``None`` if not known."""
    wrong = [] if sample.label is Label.PASS else wrong_spans(sample)
    if wrong is None:
        return None
    return [any(span.overlaps(start, end) for start, end in wrong) for span in claim_spans(sample.answer)]


def fit_claims(data: Labelled, **of: Any) -> ClaimsCalibration:
    """Fit both curves (Platt).

    Args:
        data: answers and their sentences.
        of: what they are fitted for, see :func:`judge.calibration.curve.fitted_for`.

    Raises:
        InputError: if no span is marked, or either label occurs in too few documents.
    """
    p_wrong, wrong, groups = data.sentences()
    if not any(wrong):
        raise InputError(UNMARKED)
    told = cross_fitted("platt", p_wrong, wrong, groups)
    sentences = fit_curve("platt", p_wrong, wrong)
    raw = _combined(data, [[sentences(p) for p in parts] for parts in data.parts])
    held_out = cross_fitted("platt", raw, data.fails, data.groups)
    return ClaimsCalibration(
        sentences=sentences,
        answers=fit_curve("platt", raw, data.fails),
        **of,
        samples=len(data.fails),
        fail=sum(data.fails),
        groups=len(set(data.groups)),
        marked_sentences=len(wrong),
        wrong_sentences=sum(wrong),
        ece_sentences=calibration_error(told, wrong) or 0.0,
        ece_answers=calibration_error(held_out, data.fails) or 0.0,
        auroc_sentences=_auroc(wrong, p_wrong),
        auroc_answers=_auroc(data.fails, raw),
    )


def compare(data: Labelled, calibration: ClaimsCalibration) -> dict[str, float]:
    """How well answers are ranked (AUROC) by the whole alone, by their sentences alone, and by both."""
    parts = [[calibration.sentences(p) for p in some] for some in data.parts]
    return {
        "whole": _auroc(data.fails, data.whole),
        "sentences": _auroc(data.fails, [any_wrong(some) for some in parts]),
        "both": _auroc(data.fails, _combined(data, parts)),
    }


def _combined(data: Labelled, parts: Sequence[Sequence[float]]) -> list[float]:
    return [combine(some, whole) for some, whole in zip(parts, data.whole, strict=True)]


def _auroc(truth: Sequence[bool], scores: Sequence[float]) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(truth, scores))
