"""Methods from the literature that judge with a general model, through the interface of every judge.

``selfcheck:MODEL`` and its like (:mod:`eval.baselines.selfcheck`, :mod:`eval.baselines.by_encoder`) sample
answers and look whether they agree; ``ragas:MODEL`` counts supported claims.
"""
