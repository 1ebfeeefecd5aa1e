"""Fits the curve of claims to answers whose wrong spans are known."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.calibration.fit import cross_fitted, fit_curve
from judge.calibration.reliability import calibration_error
from judge.checker import Checker, in_chunks
from judge.claims.calibration import ClaimsCalibration
from judge.claims.checker import ClaimsJudge
from judge.errors import InputError
from judge.formats.spans import wrong_spans
from judge.prompting.sentences import claim_spans
from judge.types import Label, Sample, Verdict


@dataclass
class Labelled:
    """Answers with the scores of their sentences, and the truth about them.

    ``wrong`` says for each sentence of an answer whether a marked span touches it; ``None`` if an answer is
    FAIL without marked spans.
    """

    groups: list[str] = field(default_factory=list)
    fails: list[bool] = field(default_factory=list)
    parts: list[list[float | None]] = field(default_factory=list)
    wrong: list[list[bool] | None] = field(default_factory=list)

    def add(self, sample: Sample, sentences: Sequence[Verdict]) -> bool:
        """Take an answer, with the judge's verdicts on its sentences (:func:`sentence_verdicts`).

        Returns:
            Whether any sentence has a score, so that it was taken; others state nothing ("Hello!").
        """
        found = [one.chance for one in sentences]
        if all(score is None for score in found):
            return False
        self.groups.append(sample.unit)
        self.fails.append(sample.label is Label.FAIL)
        self.parts.append(found)
        self.wrong.append(wrong_sentences(sample))
        return True

    def sentences(self) -> tuple[list[float], list[bool], list[str]]:
        """Probability, truth and document of every sentence whose truth is known."""
        rows = [
            (p, wrong, group)
            for group, parts, marks in zip(self.groups, self.parts, self.wrong, strict=True)
            for p, wrong in zip(parts, marks or (), strict=False)
            if p is not None
        ]
        return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def sentence_verdicts(judge: Checker, samples: Iterable[Sample]) -> Iterator[tuple[Verdict, ...]]:
    """The judge's own verdicts on the sentences of each answer."""
    for some in in_chunks(samples, ClaimsJudge(judge).chunk):
        judged = judge.check_sentences(some, [claim_spans(sample.answer) for sample in some])
        yield from (sentences for _, sentences in judged)


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
    """Fit the curve of sentences (Platt).

    Args:
        data: answers and their sentences.
        of: what it is fitted for, see :func:`judge.calibration.curve.fitted_for`.

    Raises:
        InputError: if no span is marked, or either label occurs in too few documents.
    """
    from sklearn.metrics import roc_auc_score

    p_wrong, wrong, groups = data.sentences()
    if not any(wrong):
        raise InputError(UNMARKED)
    told = cross_fitted("platt", p_wrong, wrong, groups)
    return ClaimsCalibration(
        sentences=fit_curve("platt", p_wrong, wrong),
        **of,
        samples=len(data.fails),
        fail=sum(data.fails),
        groups=len(set(data.groups)),
        marked_sentences=len(wrong),
        wrong_sentences=sum(wrong),
        ece_sentences=calibration_error(told, wrong) or 0.0,
        auroc_sentences=float(roc_auc_score(wrong, p_wrong)),
    )
