"""Runs an exported encoder judge in ONNX Runtime, with NumPy and tokenizers, without torch.

The graph (:mod:`judge.exports.onnx_file`) takes five integer tables, ``(pages, tokens)``, which
:func:`judge.pages.layout.page_arrays` makes, and returns two tables of log-odds of the same shape.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from judge.encoder.heads import sigmoid
from judge.models.runtimes import EXPORT, ONNX_RUNTIME, export_file, onnx_session
from judge.pages.layout import Page, page_arrays


@dataclass(frozen=True, slots=True)
class OnnxPagesNetwork:
    """The graph, used in place of :class:`judge.pages.model.PagesNetwork`."""

    backend: ClassVar[str] = ONNX_RUNTIME
    device: ClassVar[str] = "cpu"

    session: Any
    size: int

    @classmethod
    def open(cls, folder: Path, identity: Mapping[str, Any]) -> "OnnxPagesNetwork":
        """The network of a folder that ``judge export --to onnx`` wrote.

        Raises:
            InputError: if ONNX Runtime is not installed, or the file is missing.
            JudgeError: if it cannot be run.
        """
        return cls(onnx_session(export_file(folder, identity)), identity[EXPORT]["parameters"])

    def probabilities(
        self, pages: Sequence[Page], precision: str = "float32"
    ) -> tuple[list[float], list[float]]:
        """p(FAIL) of each answer of some pages, and of each of their tokens.

        ``precision`` is ignored: the file decides.
        """
        import numpy as np

        answers, tokens = self.session.run(None, page_arrays(pages))
        by_answer, by_token = [], []
        for row, page in enumerate(pages):
            at = sum(map(len, page.windows))
            for answer in page.answers:
                by_answer.append(answers[row, at])
                by_token.extend(tokens[row, at + answer.own.start : at + answer.own.stop])
                at += len(answer.ids)
        return sigmoid(np.asarray(by_answer)).tolist(), sigmoid(np.asarray(by_token)).tolist()
