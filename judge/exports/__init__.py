"""Exports judges to other runtimes, language models to GGUF and encoders to ONNX, and checks the parity.

``export`` makes a folder that every command takes as ``--model``; ``gguf_file`` and ``gguf_vocabulary`` write
GGUF, ``onnx_file`` ONNX, ``modelfile`` what Ollama needs, ``parity`` compares. Exports are run by
:mod:`judge.backends.llama_cpp`, :mod:`judge.encoder.onnx` and :mod:`judge.pages.onnx`.
"""

from judge.exports.export import export_judge
from judge.exports.parity import Parity

__all__ = ["Parity", "export_judge"]
