"""Turns the model's output into a final verdict: calibrated probability, label by threshold, quotes."""

import math
from collections.abc import Callable
from dataclasses import replace

from judge.prompting.evidence import cite
from judge.types import Label, Mode, Sample, Unsupported, Verdict

NO_NUMBER = "the model gave no number"
NOTHING_READ = "the judge can read nothing of the answer"


def finish(
    verdict: Verdict,
    sample: Sample,
    mode: Mode,
    curve: Callable[[float], float] | None = None,
    threshold: float | None = None,
) -> Verdict:
    """The final verdict of a judge.

    Args:
        verdict: what the model said about the sample.
        sample: what was judged.
        mode: how the judge answers.
        curve: maps a raw to a calibrated probability of FAIL.
        threshold: the label is ``FAIL`` at or above this probability. By default 0.5 in verdict mode; in
            reason mode the label stays as written, since the reasoning would contradict another one.
    """
    label, p_fail = verdict.label, verdict.p_fail
    if p_fail is not None and math.isnan(p_fail):
        return replace(verdict, label=None, p_fail=None, error=NO_NUMBER)
    if p_fail is not None:
        p_fail = p_fail if curve is None else curve(p_fail)
        if threshold is not None or mode == "verdict":
            label = Label.FAIL if p_fail >= (0.5 if threshold is None else threshold) else Label.PASS
    evidence, quoted = cite(sample.document_text, sample.answer, label, verdict.reasoning)
    unsupported = tuple(Unsupported.of(sample.answer, span) for span in quoted)
    return replace(verdict, label=label, p_fail=p_fail, evidence=evidence, unsupported=unsupported)
