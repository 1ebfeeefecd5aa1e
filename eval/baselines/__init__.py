"""Methods from the literature that judge with a general model, through the interface of every judge.

``selfcheck:MODEL``, ``selfcheck-nli:MODEL`` and ``selfcheck-ngram:MODEL`` sample answers and look whether
they agree; ``ragas:MODEL`` counts supported claims.
"""
