"""Runs an exported encoder judge in ONNX Runtime, with NumPy and tokenizers, without torch.

The graph (:mod:`judge.exports.onnx_file`) takes five integer tables, ``(pages, tokens)``, which
:func:`page_arrays` makes, and returns two tables of log-odds of the same shape.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judge.encoder.heads import sigmoid
from judge.models.batching import CPU_PADDING
from judge.models.runtimes import EXPORT
from judge.pages.checker import PagesJudge, describe_layout
from judge.pages.layout import Page

if TYPE_CHECKING:
    import numpy as np

INPUTS = ("ids", "positions", "kinds", "levels", "parts")
PADDING = -1
"""Part number of padding."""


def page_arrays(pages: Sequence[Page]) -> "dict[str, np.ndarray[Any, Any]]":
    """Some pages as the graph's inputs, padded to the longest.

    Returns:
        ``ids``: tokens. ``positions``: their positions in the window or answer, from 0. ``kinds``: 0 for
        windows and padding, 1 for answers. ``levels``: levels of answer tokens, see
        :func:`judge.pages.layout.runs`. ``parts``: the number of the window or answer, from 0 in each page,
        -1 for padding. A token attends to its own part, and an answer token to all windows as well.
    """
    import numpy as np

    shape = (len(pages), max(map(len, pages)))
    found = {name: np.zeros(shape, dtype=np.int64) for name in INPUTS}
    found["parts"][:] = PADDING
    for row, page in enumerate(pages):
        at = 0
        sequences = [*page.windows, *(answer.ids for answer in page.answers)]
        for part, ids in enumerate(sequences):
            here = (row, slice(at, at + len(ids)))
            found["ids"][here] = ids
            found["positions"][here] = range(len(ids))
            found["parts"][here] = part
            if part >= len(page.windows):
                found["kinds"][here] = 1
                found["levels"][here] = page.answers[part - len(page.windows)].levels
            at += len(ids)
    return found


@dataclass(frozen=True)
class OnnxPagesJudge(PagesJudge):
    """Verdicts of an exported encoder judge.

    Args:
        network: the ONNX Runtime session.
        identity: the export's ``judge.json``.
    """

    network: Any
    identity: Mapping[str, Any] = field(default_factory=dict)

    def reads_with(self) -> dict[str, Any]:
        """The graph, its number format and how samples are read."""
        return {
            "backend": "onnxruntime",
            "model": self.model,
            "parameters": self.identity[EXPORT]["parameters"],
            "dtype": self.precision,
            "device": "cpu",
            **describe_layout(self.layout),
        }

    def _most_padding(self) -> int:
        return CPU_PADDING

    def _scores(self, batch: Sequence[Page]) -> tuple[list[float], list[float]]:
        import numpy as np

        answers, tokens = self.network.run(None, page_arrays(batch))
        by_answer, by_token = [], []
        for row, page in enumerate(batch):
            at = sum(map(len, page.windows))
            for answer in page.answers:
                by_answer.append(answers[row, at])
                by_token.extend(tokens[row, at + answer.own.start : at + answer.own.stop])
                at += len(answer.ids)
        return sigmoid(np.asarray(by_answer)).tolist(), sigmoid(np.asarray(by_token)).tolist()
