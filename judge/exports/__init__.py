"""Judges for other runtimes: GGUF for llama.cpp and Ollama, ONNX for ONNX Runtime, each held to the original.

``export`` makes a folder that every command takes as ``--model``; ``gguf_file`` and ``gguf_vocabulary`` write
GGUF, ``onnx_file`` ONNX, ``modelfile`` what Ollama needs, ``parity`` compares. What runs them is in
:mod:`judge.backends` (``llama_cpp``, ``onnx``) and :mod:`judge.encoder.onnx`.
"""

from judge.exports.export import export_judge
from judge.exports.parity import Parity

__all__ = ["Parity", "export_judge"]
