"""Checks gold answers, collects judgements of samples, and makes rows for trainers.

``supported`` and ``repeats`` check gold answers; ``judgements`` collects reasonings, by rule, from an
``ensemble`` of teachers or for a ``known_label``; ``rows`` and ``preferences`` make the rows.
"""
