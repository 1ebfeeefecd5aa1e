"""Contrast pairs: one faithful and one hallucinated sample, made from a gold answer.

``make`` makes them with the ``makers`` of all kinds: ``added``, ``long``, ``refusal``,
``foreign`` and ``documents``; edits come from :mod:`data_pipeline.edits` or a chat model. ``contrast`` says
what a maker returns.
"""
