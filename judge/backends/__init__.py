"""Engines that run a model: each takes chat messages, generates replies, and scores label words.

``load`` makes one by its name: transformers, vLLM in this process, or a server with OpenAI's API.
"""

from judge.backends.base import Backend, Decoding, Generation, LabelRequest
from judge.backends.load import Engine, load_backend

__all__ = ["Backend", "Decoding", "Engine", "Generation", "LabelRequest", "load_backend"]
