"""Engines that run a model: each takes chat messages, generates, and scores label words."""

from judge.backends.base import Backend, Generation, LabelRequest

__all__ = ["Backend", "Generation", "LabelRequest"]
