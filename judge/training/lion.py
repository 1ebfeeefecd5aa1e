"""Lion in plain torch operations, which work on tensors sharded by DeepSpeed or FSDP as on whole ones.

The Lion of bitsandbytes runs kernels on raw memory, which FSDP2's sharded tensors do not expose.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch


class Lion(torch.optim.Optimizer):
    """Moves every weight by the learning rate, in the direction of the sign of its mean gradient.

    With gradient g, running mean m and weight decay d (decoupled, as in AdamW)::

        weight -= rate * (sign(beta1 * m + (1 - beta1) * g) + d * weight)
        m = beta2 * m + (1 - beta2) * g

    Source: Symbolic Discovery of Optimization Algorithms (arXiv 2302.06675), algorithm 2.

    Args:
        params: tensors, or parameter groups with their own settings.
        lr: learning rate; the paper's rule of thumb is a third to a tenth of Adam's.
        betas: beta1 and beta2.
        weight_decay: d; with the smaller rate, use three to ten times Adam's.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Take one step on the parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            rate, (beta1, beta2) = group["lr"], group["betas"]
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["exp_avg"] = torch.zeros_like(weight)
                mean = state["exp_avg"]
                gradient = weight.grad.to(mean.dtype)
                weight.mul_(1 - rate * group["weight_decay"])
                weight.add_(mean.lerp(gradient, 1 - beta1).sign_(), alpha=-rate)
                mean.lerp_(gradient, 1 - beta2)
        return loss
