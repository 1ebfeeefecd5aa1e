"""ONNX files of encoder judges: the graphs, and their weights in 8 bits.

A graph reads pairs (:func:`judge.encoder.rows.padded`) or pages and gives their logits, and the log-odds of
each token being unsupported where the judge has a token head.
"""

import logging
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from judge.encoder.onnx import INPUTS
from judge.errors import InputError
from judge.models.runtimes import need
from judge.pages.onnx import INPUTS as PAGE_INPUTS

if TYPE_CHECKING:
    from judge.encoder.network import EncoderNetwork
    from judge.pages.model import PagesNetwork

OPSET = 20
ROOM = 3 * 2**29
"""Weights of more bytes are in a file next to the graph: a protobuf file is at most 2 GiB."""
BLOCK = 32
"""Weights that share a scale, as in GGUF's Q8_0."""


class PairGraph(nn.Module):
    """An encoder judge's network over pairs: logits, and log-odds of tokens where it has them."""

    def __init__(self, network: "EncoderNetwork"):
        super().__init__()
        self.network = network

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """``(rows, classes)`` and ``(rows, tokens)``; of a token classifier ``(rows, tokens, classes)``."""
        logits, by_token = self.network(ids, mask, types)
        return (logits,) if by_token is None else (logits, by_token)


class PageGraph(nn.Module):
    """An encoder judge's network over pages, with the mask made of the tokens' parts."""

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
        same = parts[:, :, None] == parts[:, None, :]
        window = (kinds == 0) & (parts >= 0)
        mask = same | ((kinds == 1)[:, :, None] & window[:, None, :])
        more = self.network.levels(levels) * kinds[..., None]
        hidden = self.network.backbone(ids, positions, kinds, more, (), mask[:, None])
        return self.network.answer(hidden).squeeze(-1), self.network.token(hidden).squeeze(-1)


class Product(nn.Module):
    """A linear layer whose matrix is stored as the product reads it, so that it can be quantized."""

    def __init__(self, layer: nn.Linear):
        super().__init__()
        self.register_buffer("matrix", layer.weight.detach().T.contiguous())
        self.bias = layer.bias

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """As the layer."""
        product = hidden @ self.get_buffer("matrix")
        return product if self.bias is None else product + self.bias


class ByteEmbedding(nn.Module):
    """Embeddings in whole numbers from -127 to 127, with a scale for each row."""

    def __init__(self, layer: nn.Embedding):
        super().__init__()
        weight = layer.weight.detach()
        scale = weight.abs().amax(1, keepdim=True) / 127
        self.register_buffer("rows", (weight / scale.clamp(min=1e-12)).round().to(torch.int8))
        self.register_buffer("scale", scale)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """As the layer, but for the rounding."""
        rows = nn.functional.embedding(ids, self.get_buffer("rows")).float()
        return rows * nn.functional.embedding(ids, self.get_buffer("scale"))


def write_encoder(network: "EncoderNetwork", file: Path, kind: str) -> None:
    """Write an encoder judge's graph; ``kind`` is float32 or int8."""
    tokens = 16
    example = {name: torch.ones(2, tokens, dtype=torch.long) for name in INPUTS}
    example["types"][:, : tokens // 2] = 0
    rows, width = torch.export.Dim("rows", min=1), torch.export.Dim("tokens", min=2)
    axes = {name: {0: rows, 1: width} for name in INPUTS}
    network.model.set_attn_implementation("eager")  # the exporter traces plain products
    outputs = ("logits", "tokens") if network.token_head is not None else ("logits",)
    _write(PairGraph(network), example, axes, outputs, file, kind)


def write_pages(network: "PagesNetwork", file: Path, kind: str) -> None:
    """Write the graph of an encoder judge that reads pages; ``kind`` is float32 or int8."""
    tokens = 16
    example = {name: torch.zeros(2, tokens, dtype=torch.long) for name in PAGE_INPUTS}
    example["positions"] = torch.arange(tokens).repeat(2, 1)
    example["kinds"][:, tokens // 2 :] = 1
    example["parts"] = example["kinds"].clone()
    pages, width = torch.export.Dim("pages", min=1), torch.export.Dim("tokens", min=2)
    axes = {name: {0: pages, 1: width} for name in PAGE_INPUTS}
    _write(PageGraph(network), example, axes, ("answers", "tokens"), file, kind)


def _write(
    graph: nn.Module,
    example: Mapping[str, torch.Tensor],
    axes: Mapping[str, Mapping[int, Any]],
    outputs: tuple[str, ...],
    file: Path,
    kind: str,
) -> None:
    for library in ("onnx", "onnxscript", "onnxruntime"):
        need(library, "an ONNX export", "export")
    graph = graph.eval().requires_grad_(False)
    if kind == "int8":
        _prepare(graph)
    size = sum(value.nbytes for value in (*graph.parameters(), *graph.buffers()))
    plain = file if kind == "float32" else file.parent / "float32" / file.name
    plain.parent.mkdir(exist_ok=True)
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
        program.save(str(plain), external_data=size > ROOM)
        if kind == "int8":
            _quantize(plain, file, size)
            shutil.rmtree(plain.parent)


def _prepare(graph: nn.Module) -> None:
    """Put linear layers and large tables of embeddings into the form that becomes 8 bits."""
    for name, layer in list(graph.named_modules()):
        if isinstance(layer, nn.Linear) and layer.out_features > 1:
            graph.set_submodule(name, Product(layer))
        elif isinstance(layer, nn.Embedding) and layer.num_embeddings > 1000:
            graph.set_submodule(name, ByteEmbedding(layer))


def _quantize(plain: Path, file: Path, size: int) -> None:
    """Put the matrices of all products into 8 bits, with a scale for each block."""
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    # The products themselves are of whole numbers too (accuracy level 4), which is what makes them fast.
    quantizer = MatMulNBitsQuantizer(
        str(plain), bits=8, block_size=BLOCK, is_symmetric=True, accuracy_level=4
    )
    quantizer.process()
    quantizer.model.save_model_to_file(str(file), use_external_data_format=size // 3 > ROOM)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without what the exporter and the quantizer tell of themselves."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
