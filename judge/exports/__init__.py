"""Judges for other runtimes: GGUF of language models, ONNX of encoders, held to the original.

``export`` makes a folder that every command takes as ``--model``; ``gguf_file`` and ``gguf_vocabulary`` write
GGUF, ``onnx_file`` ONNX, ``modelfile`` what Ollama needs, ``parity`` compares. What runs them is in
:mod:`judge.backends.llama_cpp`, :mod:`judge.encoder.onnx` and :mod:`judge.pages.onnx`.
"""

from judge.exports.export import export_judge
from judge.exports.parity import Parity

__all__ = ["Parity", "export_judge"]
