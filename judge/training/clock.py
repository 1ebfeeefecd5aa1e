"""A training that ends by the clock: it stops in time, and its learning rate falls in time too."""

import time
from collections.abc import Callable
from typing import Any

import torch
from transformers import TrainerCallback


class TimeLimit(TrainerCallback):
    """Ends training at the first step after ``minutes``, counted from its beginning.

    ``seconds`` of them were spent before, where a run is resumed.

    The scheduler goes by the share of time or of steps that is gone, whichever is larger. So a slow machine,
    which makes fewer steps, still ends at the rate that its schedule ends at. The main process reads the
    clock for all processes: they have to stop at the same step, and step at the same rate.
    """

    def __init__(self, minutes: float, seconds: float = 0.0):
        self.minutes, self.seconds = minutes, seconds
        self.gone = seconds / (60 * minutes)
        """Share of the time that was gone at the end of the last step."""
        self._start = time.monotonic() - seconds

    def on_train_begin(self, args: Any, state: Any, control: Any, **found: Any) -> None:
        """Start the clock, and let the scheduler see it."""
        self._start = time.monotonic() - self.seconds
        scheduler = found.get("lr_scheduler")
        scheduler = getattr(scheduler, "scheduler", scheduler)  # within accelerate's
        if isinstance(scheduler, torch.optim.lr_scheduler.LambdaLR):
            scheduler.lr_lambdas = [self._hurried(rate, state.max_steps) for rate in scheduler.lr_lambdas]

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Read the clock; stop when the time is over."""
        self.gone = _of_main_process((time.monotonic() - self._start) / (60 * self.minutes), args.device)
        control.should_training_stop |= self.gone >= 1
        return control

    def _hurried(self, rate: Callable[[int], float], steps: int) -> Callable[[int], float]:
        return lambda step: rate(max(step, min(steps, int(self.gone * steps))))


def _of_main_process(value: float, device: torch.device) -> float:
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return value
    shared = torch.tensor(value, dtype=torch.float32, device=device)
    torch.distributed.broadcast(shared, 0)
    return float(shared)
