"""Judges answers sentence by sentence: each with its own probability and the passage that supports it best.

passages.py  splits a document into short passages, and finds the nearest
rule.py      from the sentences' probabilities to the answer's
checker.py   a judge with claims (``load_judge(..., claims=True)``), by the rule in ``judge.json``
fit.py       fits the rule to samples whose wrong spans are known: ``judge calibrate --claims``
"""

from judge.claims.checker import ClaimsJudge, with_claims
from judge.claims.passages import nearest, passages
from judge.claims.rule import ClaimsCalibration, combine

__all__ = ["ClaimsCalibration", "ClaimsJudge", "combine", "nearest", "passages", "with_claims"]
