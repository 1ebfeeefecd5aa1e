"""Encoder judges that read pages: a document's windows are computed once, and each answer attends to all.

``layout`` builds the inputs, ``model`` and ``bert`` score them, ``checker`` judges, ``examples`` makes
labels; :mod:`judge.training.pages` trains.
"""
