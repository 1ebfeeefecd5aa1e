"""Judges answers sentence by sentence: each with its own probability and the passage that supports it best.

passages.py  splits a document into short passages, and finds the nearest
rule.py      from the sentences' probabilities to the answer's
checker.py   a judge with claims (``load_judge(..., claims=True)``), by the rule in ``judge.json``
fit.py       fits the rule to samples whose wrong spans are known: ``judge calibrate --claims``
"""
