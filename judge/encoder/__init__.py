"""Encoder judges: cross-encoders that read a window of the document and an answer, and score the pair.

``heads`` says what a checkpoint's classes mean, ``pairs`` what is read, ``network`` how, ``checker`` judges,
``spans`` names the wrong words, ``examples`` says what is learned; :mod:`judge.training.encoder` trains.
"""

from judge.encoder.checker import EncoderJudge
from judge.encoder.load import load_encoder
from judge.encoder.pairs import Form

__all__ = ["EncoderJudge", "Form", "load_encoder"]
