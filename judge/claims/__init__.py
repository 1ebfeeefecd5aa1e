"""Answers sentence by sentence: each with its own probability and the passage that speaks for it most.

sentences.py the sentences of an answer
passages.py  a document in short passages, and the nearest of them
rule.py      from the sentences' probabilities to the answer's
checker.py   a judge that tells its claims (``load_judge(..., claims=True)``), by the rule in ``judge.json``
fit.py       fits it to samples whose wrong spans are known: ``judge calibrate --claims``
"""

from judge.claims.checker import ClaimsJudge, with_claims
from judge.claims.passages import nearest, passages
from judge.claims.rule import ClaimsCalibration, combine

__all__ = ["ClaimsCalibration", "ClaimsJudge", "combine", "nearest", "passages", "with_claims"]
