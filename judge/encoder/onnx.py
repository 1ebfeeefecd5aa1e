"""Runs an exported encoder judge in ONNX Runtime, with NumPy and tokenizers, without torch.

The graph (:mod:`judge.exports.onnx_file`) takes tokens, mask and segments, ``(rows, tokens)``, and returns
the logits of pairs and, if the judge has a token head, the log-odds of tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from judge.encoder.heads import Head, read_outputs
from judge.encoder.rows import Row, padded
from judge.models.runtimes import EXPORT, ONNX_RUNTIME, export_file, onnx_session

INPUTS = ("ids", "mask", "types")


@dataclass(frozen=True)
class OnnxNetwork:
    """The graph, used in place of :class:`judge.encoder.network.EncoderNetwork`."""

    backend: ClassVar[str] = ONNX_RUNTIME
    device: ClassVar[str] = "cpu"

    session: Any
    head: Head
    pad_id: int
    marks_tokens: bool
    size: int

    @classmethod
    def open(cls, folder: Path, identity: Mapping[str, Any], head: Head) -> "OnnxNetwork":
        """The network of a folder that ``judge export --to onnx`` wrote.

        Raises:
            InputError: if ONNX Runtime is not installed, or the file is missing.
            JudgeError: if it cannot be run.
        """
        session = onnx_session(export_file(folder, identity))
        export = identity[EXPORT]
        marks = head.kind == "tokens" or len(session.get_outputs()) > 1
        return cls(session, head, export["pad_id"], marks, export["parameters"])

    def probabilities(
        self, rows: Sequence[Row], precision: str = "float32"
    ) -> tuple[list[float], list[list[float]] | None]:
        """p(FAIL) of each pair, and of each of its answer tokens if the graph scores them.

        ``precision`` is ignored: the file decides.
        """
        wanted = {one.name for one in self.session.get_inputs()}
        batch = {name: table for name, table in padded(rows, self.pad_id).items() if name in wanted}
        logits, *by_token = self.session.run(None, batch)
        return read_outputs(self.head, logits, by_token[0] if by_token else None, [row.own for row in rows])
