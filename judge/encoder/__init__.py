"""Encoder judges: cross-encoders that read a window of the document and an answer, and score the pair.

``heads`` interprets a checkpoint's classes, ``pairs`` builds the inputs, ``network`` scores them, ``checker``
judges, ``spans`` finds wrong words, ``examples`` makes labels; :mod:`judge.training.encoder` trains.
"""
