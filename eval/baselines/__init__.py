"""Methods from the literature that judge with a general model, behind the interface of all judges.

``selfcheck:MODEL`` and its variants (:mod:`eval.baselines.selfcheck`, :mod:`eval.baselines.by_encoder`)
sample answers and check whether they agree; ``ragas:MODEL`` counts supported claims.
"""
