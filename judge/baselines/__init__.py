"""Baselines: trivial rules that judge without understanding (``rules``), and word overlap (``overlap``)."""
