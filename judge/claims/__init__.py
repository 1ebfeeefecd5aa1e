"""Judges answers sentence by sentence: each with its own probability and the passage that supports it best.

passages.py  splits a document into short passages, and finds the nearest
checker.py   a judge with claims (``load_judge(..., claims=True)``)

The verdict on the answer is that of the judge without claims.
"""
