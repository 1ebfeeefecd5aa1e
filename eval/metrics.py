"""How good verdicts are. ``FAIL`` is the positive class; shares are from 0 to 1; missing values are ``None``.

Unparsed verdicts are treated in three ways: *strict* counts them as wrong (on a FAIL sample a miss, on a
PASS sample an error but not a predicted FAIL); *answered-only* leaves them out; *coverage* is the share of
verdicts that could be parsed. Intervals are 95 % percentile intervals of a bootstrap over groups, see
:mod:`eval.resampling`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval.calibration import scored
from eval.resampling import Interval, Outcomes, interval
from judge.calibration.reliability import calibration_error
from judge.errors import InputError, JudgeError, counted
from judge.types import Label, Sample, Verdict

INTERVALS = ("accuracy", "balanced_accuracy", "f1", "auroc")


@dataclass(frozen=True, slots=True)
class Metrics:
    """One row of figures. ``precision``, ``recall`` and ``f1`` are those of FAIL.

    ``accuracy``, ``balanced_accuracy`` and ``f1`` are strict, ``*_answered`` are answered-only. ``auroc`` and
    ``ece`` (see :mod:`eval.calibration`) are over the ``scored`` samples, those with a probability.
    ``truncated`` counts outputs that hit their length limit, ``cut`` documents that were shortened to fit.
    ``prompt_tokens`` and ``completion_tokens`` are totals over all verdicts. ``*_ci`` are (low, high).
    """

    n: int
    n_pass: int
    n_fail: int
    parsed: int
    scored: int
    truncated: int
    cut: int
    coverage: float
    accuracy: float
    balanced_accuracy: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    auroc: float | None
    accuracy_ci: Interval | None = None
    balanced_accuracy_ci: Interval | None = None
    f1_ci: Interval | None = None
    auroc_ci: Interval | None = None
    accuracy_answered: float | None = None
    balanced_accuracy_answered: float | None = None
    f1_answered: float | None = None
    ece: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


def check_labelled(samples: Sequence[Sample]) -> list[Label]:
    """The gold labels of samples.

    Raises:
        InputError: if there are no samples, or one has no gold label.
    """
    if not samples:
        raise InputError("there is no sample to measure on")
    labels = [sample.label for sample in samples if sample.label is not None]
    if len(labels) < len(samples):
        missing = next(sample.id for sample in samples if sample.label is None)
        raise InputError(f"sample {missing!r} has no gold label; measuring needs one for each sample")
    return labels


def score(
    samples: Sequence[Sample], verdicts: Sequence[Verdict], *, bootstrap: int = 1000, seed: int = 0
) -> Metrics:
    """Measure verdicts against gold labels.

    Args:
        samples: labelled; those of one ``group`` are resampled together.
        verdicts: one for each sample, in order.
        bootstrap: number of resamples; 0 for no intervals. A single group gets none either.
        seed: of the resamples; use the same for every judge, so that intervals are comparable.

    Raises:
        InputError: if there are no samples, or one has no gold label.
        JudgeError: if the numbers of samples and verdicts differ.
    """
    if len(samples) != len(verdicts):
        raise JudgeError(
            f"{counted(len(verdicts), 'verdict')} for {counted(len(samples), 'sample')}; expected one each"
        )
    labels = check_labelled(samples)
    outcomes = Outcomes(labels, [sample.unit for sample in samples], verdicts)
    answered = outcomes.figures_of_parsed()
    values: dict[str, Any] = outcomes.figures()
    values |= {f"{name}_answered": answered[name] for name in ("accuracy", "balanced_accuracy", "f1")}
    if drawn := outcomes.resampled(bootstrap, seed):
        values |= {f"{name}_ci": interval(drawn[name]) for name in INTERVALS}
    parsed = int(outcomes.parsed.sum())
    return Metrics(
        n=len(samples),
        n_pass=labels.count(Label.PASS),
        n_fail=labels.count(Label.FAIL),
        parsed=parsed,
        scored=int(outcomes.scored.sum()),
        truncated=sum(verdict.truncated for verdict in verdicts),
        cut=sum(verdict.cut_chars > 0 for verdict in verdicts),
        coverage=parsed / len(samples),
        ece=calibration_error(*scored(labels, verdicts)),
        prompt_tokens=sum(verdict.usage.prompt_tokens for verdict in verdicts),
        completion_tokens=sum(verdict.usage.completion_tokens for verdict in verdicts),
        **values,
    )
