"""Recognizes exported judges, and opens those in ONNX Runtime."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.errors import InputError, JudgeError, brief, require
from judge.models.hardware import cores

EXPORT = "export"
"""In ``judge.json`` of an exported judge: ``to`` (gguf or onnx), ``type``, ``file``, ``parity``."""


ONNX_RUNTIME = "onnxruntime"
"""The backend that results of a judge exported to ONNX name."""


def exported(identity: Mapping[str, Any], to: str) -> bool:
    """Whether a ``judge.json`` belongs to a judge exported to this format."""
    return bool(identity.get(EXPORT, {}).get("to") == to)


def export_file(folder: Path, identity: Mapping[str, Any]) -> Path:
    """The model file of an exported judge. Raises ``InputError`` if it is missing."""
    file = folder / identity[EXPORT]["file"]
    if not file.is_file():
        raise InputError("is missing; judge export makes it", file=file)
    return file


def onnx_session(file: Path) -> Any:
    """An ONNX Runtime session on the CPU.

    Raises:
        InputError: if ONNX Runtime is not installed.
        JudgeError: if the file cannot be run.
    """
    require("an ONNX export", "export", "onnxruntime")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors
    options.intra_op_num_threads = cores()
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no common base class
        raise JudgeError(f"{file}: ONNX Runtime cannot run it ({brief(error, 200)})") from None
