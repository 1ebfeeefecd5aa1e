"""ONNX files of encoder judges.

A graph reads pairs (:func:`judge.encoder.rows.padded`) or pages and returns their logits and, if the judge
has a token head, the log-odds that each token is unsupported.
"""

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from judge.encoder.onnx import INPUTS
from judge.errors import InputError
from judge.pages.layout import INPUTS as PAGE_INPUTS
from judge.pages.layout import PADDING
from judge.pages.model import BARRED, compared, dense_mask

if TYPE_CHECKING:
    from judge.encoder.network import EncoderNetwork
    from judge.pages.model import PagesNetwork

OPSET = 20
ROOM = 3 * 2**29
"""Weights larger than this are in a file next to the graph, since a protobuf file has at most 2 GiB."""


class PairGraph(nn.Module):
    """An encoder judge's network over pairs: logits, and token log-odds if it has a token head."""

    def __init__(self, network: "EncoderNetwork"):
        super().__init__()
        self.network = network

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """``(rows, classes)`` and ``(rows, tokens)``; for a token classifier ``(rows, tokens, classes)``."""
        logits, by_token = self.network(ids, mask, types)
        return (logits,) if by_token is None else (logits, by_token)


class PageGraph(nn.Module):
    """An encoder judge's network over pages, with the attention mask made from the tokens' parts."""

    def __init__(self, network: "PagesNetwork"):
        super().__init__()
        self.network = network

    def forward(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        kinds: torch.Tensor,
        levels: torch.Tensor,
        parts: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-odds ``(pages, tokens)``: of FAIL, and of a token that the document does not support."""
        more = self.network.levels(levels) * kinds[..., None]
        hidden = self.network.backbone(ids, positions, kinds, more, dense_mask(kinds, parts))
        by_answer = self.network.answer(hidden)
        if self.network.compare is not None:
            window = (kinds == 0) & (parts != PADDING)
            unseen = torch.where(window, 0.0, BARRED)[:, None, :]
            tokens = compared(hidden, hidden, unseen)
            own = (parts[:, :, None] == parts[:, None, :]).float()
            by_answer = by_answer + self.network.compare(own @ tokens / own.sum(-1, keepdim=True))
        return by_answer.squeeze(-1), self.network.token(hidden).squeeze(-1)


def write_encoder(network: "EncoderNetwork", file: Path) -> None:
    """Write an encoder judge's graph."""
    tokens = 16
    example = {name: torch.ones(2, tokens, dtype=torch.long) for name in INPUTS}
    example["types"][:, : tokens // 2] = 0
    rows, width = torch.export.Dim("rows", min=1), torch.export.Dim("tokens", min=2)
    axes = {name: {0: rows, 1: width} for name in INPUTS}
    network.model.set_attn_implementation("eager")  # the exporter traces plain matrix products
    outputs = ("logits", "tokens") if network.token_head is not None else ("logits",)
    _write(PairGraph(network), example, axes, outputs, file)


def write_pages(network: "PagesNetwork", file: Path) -> None:
    """Write the graph of an encoder judge that reads pages."""
    tokens = 16
    example = {name: torch.zeros(2, tokens, dtype=torch.long) for name in PAGE_INPUTS}
    example["positions"] = torch.arange(tokens).repeat(2, 1)
    example["kinds"][:, tokens // 2 :] = 1
    example["parts"] = example["kinds"].clone()
    pages, width = torch.export.Dim("pages", min=1), torch.export.Dim("tokens", min=2)
    axes = {name: {0: pages, 1: width} for name in PAGE_INPUTS}
    _write(PageGraph(network), example, axes, ("answers", "tokens"), file)


def _write(
    graph: nn.Module,
    example: Mapping[str, torch.Tensor],
    axes: Mapping[str, Mapping[int, Any]],
    outputs: tuple[str, ...],
    file: Path,
) -> None:
    graph = graph.eval().requires_grad_(False)
    size = sum(value.nbytes for value in (*graph.parameters(), *graph.buffers()))
    with _quietly():
        program = torch.onnx.export(
            graph,
            tuple(example.values()),
            dynamo=True,
            input_names=list(example),
            output_names=list(outputs),
            dynamic_shapes=dict(axes),
            opset_version=OPSET,
            verbose=False,
        )
        if program is None:  # with dynamo there always is one
            raise InputError("nothing was exported", file=file)
        program.save(str(file), external_data=size > ROOM)


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress the exporter's own messages."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
