"""A decoder judge in ONNX Runtime: verdicts from one pass.

The graph (:mod:`judge.exports.onnx_file`) takes rows of tokens, padded behind their ends, and the places to
read; it gives the logits of the next token there. It keeps nothing between calls, so it writes no replies.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.backends.base import Decoding, Generation, LabelRequest
from judge.backends.label_tokens import rows_to_read, stem_and_tails
from judge.errors import InputError
from judge.models.batching import CPU_PADDING, by_length
from judge.models.identity import read_identity
from judge.models.runtimes import EXPORT, export_file, onnx_session
from judge.models.weights import load_tokenizer
from judge.prompting.rendering import Renderer
from judge.types import Message

BATCH_TOKENS = 2048
"""Padded tokens of one batch."""


class OnnxBackend:
    """Runs what ``judge export --to onnx`` made of a decoder.

    Args:
        folder: of the export.
        max_length: upper bound on the context; the model's own by default.
        batch_tokens: padded tokens that run in one batch, at most.

    Raises:
        InputError: the folder holds no such export, or ONNX Runtime is not installed.
    """

    concurrent = True
    takes_patterns = False

    def __init__(self, folder: Path, max_length: int | None = None, batch_tokens: int | None = None):
        identity = read_identity(str(folder))
        self.folder = folder
        self.export = identity[EXPORT]
        self.session = onnx_session(export_file(folder, identity))
        self.renderer = Renderer(load_tokenizer(str(folder)))
        self.context_length = min(self.export["context_length"], max_length or self.export["context_length"])
        self.batch_tokens = batch_tokens or BATCH_TOKENS

    def count_tokens(self, messages: Sequence[Message]) -> int:
        """Tokens of a prompt, generation prompt included."""
        return self.renderer.count(messages)

    def describe(self) -> dict[str, Any]:
        """Model, number format, context length."""
        return {
            "backend": "onnxruntime",
            "model": str(self.folder),
            "revision": None,
            "dtype": self.export["type"],
            "device": "cpu",
            "context_length": self.context_length,
        }

    def generate(self, conversations: Sequence[Sequence[Message]], decoding: Decoding) -> list[Generation]:
        """Not here. Raises ``InputError``."""
        raise InputError(
            f"{self.folder}: an ONNX export writes no replies; use verdict mode, or a GGUF export"
        )

    def label_logprobs(self, requests: Sequence[LabelRequest]) -> list[tuple[float, float]]:
        """Log-probabilities of the two words of each request, from one pass."""
        split = [stem_and_tails(self.renderer, request) for request in requests]
        continuations = [(stem, tail) for stem, tails in split for tail in tails]
        rows = rows_to_read(continuations)
        scores = [0.0] * len(continuations)
        for batch in by_length([len(row.tokens) for row in rows], self.batch_tokens, CPU_PADDING):
            steps = [
                (line, len(continuations[index][0]) - 1 + at, token, index)
                for line, number in enumerate(batch)
                for index in rows[number].read
                for at, token in enumerate(continuations[index][1])
            ]
            found = self._read([rows[number].tokens for number in batch], [step[:3] for step in steps])
            for step, score in zip(steps, found, strict=True):
                scores[step[3]] += score
        return [(scores[2 * index], scores[2 * index + 1]) for index in range(len(requests))]

    def _read(self, rows: Sequence[Sequence[int]], steps: Sequence[tuple[int, int, int]]) -> list[float]:
        """Log-probability of each token that is named by the row and the place before it."""
        import numpy as np

        ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        for line, row in enumerate(rows):
            ids[line, : len(row)] = row
        places, order = np.unique([step[:2] for step in steps], axis=0, return_inverse=True)
        [logits] = self.session.run(None, {"ids": ids, "places": places.astype(np.int64)})
        logits = logits.astype(np.float64)
        top = logits.max(-1)
        totals = top + np.log(np.exp(logits - top[:, None]).sum(-1))
        order = order.reshape(-1)
        tokens = [step[2] for step in steps]
        found: list[float] = (logits[order, tokens] - totals[order]).tolist()
        return found
