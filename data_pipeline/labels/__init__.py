"""From samples to rows: which gold answers are supported, who judges them, and what a judge learns from.

``supported`` and ``repeats`` check gold answers; ``judgements`` collects reasonings, by rule, from an
``ensemble`` of teachers or for a ``known_label``; ``rows``, ``sentence_rows`` and ``preferences`` are what
trainers read.
"""
