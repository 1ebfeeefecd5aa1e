"""Methods from the literature that judge with a general model, through the interface of every judge.

``selfcheck:MODEL`` samples answers and looks whether they agree; ``ragas:MODEL`` counts supported claims.
"""
