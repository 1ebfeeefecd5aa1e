"""Answers sentence by sentence: each with its own probability and the passage that speaks for it most.

passages.py  a document in short passages, and the nearest of them
rule.py      from the sentences' probabilities to the answer's
checker.py   a judge that tells its claims: ``load_judge(..., claims=True)``
fit.py       the rule's curves from samples whose wrong spans are known: ``judge calibrate --claims``
"""
