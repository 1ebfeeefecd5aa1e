"""Encoder judges: a document's windows are computed once, and each answer looks at them all.

``layout`` says what is read, ``model`` and ``attention`` how, ``checker`` judges, ``examples`` says what is
learned; :mod:`judge.training.encoder` trains.
"""

from judge.pages.checker import EncoderJudge, load_encoder
from judge.pages.layout import Layout

__all__ = ["EncoderJudge", "Layout", "load_encoder"]
