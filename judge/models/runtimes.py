"""Recognizes exported judges, and loads the libraries that run them."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from judge.errors import InputError, JudgeError, brief
from judge.models.hardware import cores

EXPORT = "export"
"""In ``judge.json`` of an exported judge: ``to`` (gguf or onnx), ``type``, ``file``, ``parity``."""


def exported(identity: Mapping[str, Any], to: str) -> bool:
    """Whether a ``judge.json`` belongs to a judge exported to this format."""
    return bool(identity.get(EXPORT, {}).get("to") == to)


def export_file(folder: Path, identity: Mapping[str, Any]) -> Path:
    """The model file of an exported judge. Raises ``InputError`` if it is missing."""
    file = folder / identity[EXPORT]["file"]
    if not file.is_file():
        raise InputError("is missing; judge export makes it", file=file)
    return file


def need(module: str, what: str, extra: str) -> Any:
    """Import a library of an optional extra.

    Args:
        module: its name.
        what: what needs it, for the message.
        extra: the extra that installs it.

    Raises:
        InputError: if it is not installed or cannot be imported.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f'{what} needs {module} ({error}); pip install "hallucination-judge[{extra}]"'
        ) from None


def onnx_session(file: Path) -> Any:
    """An ONNX Runtime session on the CPU.

    Raises:
        InputError: if ONNX Runtime is not installed.
        JudgeError: if the file cannot be run.
    """
    runtime = need("onnxruntime", "an ONNX export", "export")
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors
    options.intra_op_num_threads = cores()
    try:
        return runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no common base class
        raise JudgeError(f"{file}: ONNX Runtime cannot run it ({brief(error, 200)})") from None
