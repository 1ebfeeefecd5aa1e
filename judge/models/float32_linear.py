"""A linear layer that computes in float32 on 16-bit weights, without a full float32 copy of them."""

from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn.functional import linear

CHUNK = {"cpu": 2048, "cuda": 16_384}
"""Weight rows that are converted at once: few on a CPU, so that the copy stays in the cache."""


def float32_linear(
    inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """``inputs @ weight.T + bias`` in float32, whatever their number formats.

    The backward pass converts the weights again, chunk by chunk, but does not recompute the product.

    Args:
        inputs: ``(..., inputs)``.
        weight: ``(outputs, inputs)``.
        bias: ``(outputs,)``.

    Returns:
        Float32, ``(..., outputs)``.
    """
    with torch.autocast(inputs.device.type, enabled=False):
        flat = inputs.float().reshape(-1, inputs.shape[-1])
        output: torch.Tensor = _Linear.apply(flat, weight)
        if bias is not None:
            output = output + bias.float()
        return output.view(*inputs.shape[:-1], len(weight))


def _chunks(weight: torch.Tensor) -> list[slice]:
    rows = CHUNK.get(weight.device.type, CHUNK["cuda"])
    return [slice(start, start + rows) for start in range(0, len(weight), rows)]


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(inputs, weight)
        if weight.dtype == torch.float32:
            return linear(inputs, weight)
        output = inputs.new_empty(len(inputs), len(weight))
        for rows in _chunks(weight):
            output[:, rows] = linear(inputs, weight[rows].float())
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor) -> Any:
        inputs, weight = ctx.saved_tensors
        wants_inputs, wants_weight = ctx.needs_input_grad
        by_inputs = torch.zeros_like(inputs) if wants_inputs else None
        by_weight = torch.empty_like(weight) if wants_weight else None
        for rows in _chunks(weight):
            part = given[:, rows]
            if by_inputs is not None:
                by_inputs += part @ weight[rows].float()
            if by_weight is not None:
                by_weight[rows] = (part.T @ inputs).to(weight.dtype)
        return by_inputs, by_weight
