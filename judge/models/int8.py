"""Linear layers in whole numbers of 8 bits, for CPUs that multiply them (VNNI).

Weights are rounded once, each output channel to its own scale; what comes in is rounded in every pass, each
token to its own (LLM.int8(), arXiv 2208.07339, section 2.1, without its outliers in 16 bits). The products
are exact, so what a layer makes of a token does not depend, to the last bit, on the tokens beside it. What
is computed in float32 between the layers does, by its last bit, and a rounding may make that a step.
"""

from typing import Any

import torch
from torch import nn

LARGEST = 127
TINY = 1e-12
"""Smallest largest value of a row: one of zeros alone has a scale, too."""


class Int8Linear(nn.Module):
    """A linear layer on rounded weights and inputs; the sums are made float32, and given as what came in.

    Args:
        linear: the layer; its weights are copied.
    """

    def __init__(self, linear: nn.Linear):
        super().__init__()
        whole, scale = rounded(linear.weight.detach().float())
        self.weight = nn.Parameter(whole, requires_grad=False)
        bias = torch.zeros_like(scale) if linear.bias is None else linear.bias.detach().float()
        self.register_buffer("scale", scale.squeeze(1))
        self.register_buffer("bias", bias.view(-1))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """``(..., inputs)`` to ``(..., outputs)``."""
        whole, scale = rounded(hidden.reshape(-1, hidden.shape[-1]).float())
        found = torch._int_mm(whole, self.weight.t()).float().mul_(scale)
        found = torch.addcmul(self.bias, found, self.scale, out=found)
        return found.view(*hidden.shape[:-1], -1).to(hidden.dtype)


def rounded(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows in whole numbers from -127 to 127, and the scale ``(rows, 1)`` of each."""
    low, high = rows.aminmax(dim=1, keepdim=True)
    scale = torch.maximum(high, -low).clamp_(min=TINY).div_(LARGEST)
    return (rows / scale).round_().to(torch.int8), scale


def to_int8(model: nn.Module, but: Any = None) -> None:
    """Turn a model's linear layers into :class:`Int8Linear`, one after the other, all ``but`` one."""
    for name, part in model.named_children():
        if isinstance(part, nn.Linear):
            if part is not but:
                setattr(model, name, Int8Linear(part))
        else:
            to_int8(part, but)
