"""Encoder judges: a document's windows are computed once, and each answer attends to them all.

``layout`` says what is read, ``model`` and ``attention`` how, ``checker`` judges, ``examples`` says what is
learned; :mod:`judge.training.encoder` trains.
"""

from judge.pages.checker import PagesJudge
from judge.pages.layout import Layout

__all__ = ["Layout", "PagesJudge"]
