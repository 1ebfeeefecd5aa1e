"""How busy the GPU is while something runs, and how fast it multiplies at best."""

import threading
import time
from types import TracebackType

PERIOD = 0.1
"""Seconds between two looks."""


class Utilization:
    """Within the block, the share of time in which a kernel ran, as the driver tells it, is sampled.

    ``mean`` is that in per cent; ``None`` where the driver does not tell (no pynvml, or no GPU).
    """

    def __init__(self) -> None:
        self.samples: list[int] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _look(self) -> None:
        import torch

        while not self._end.wait(PERIOD):
            try:
                self.samples.append(torch.cuda.utilization())
            except Exception:  # torch has another error for each thing that may be missing
                return

    def __enter__(self) -> "Utilization":
        import torch

        if torch.cuda.is_available():
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def mean(self) -> float | None:
        """Per cent of the time."""
        return sum(self.samples) / len(self.samples) if self.samples else None


def product_rate(precision: str, width: int = 8192, repeats: int = 20) -> float:
    """Operations a second of a large square matrix product: what this device does at best."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    factor = torch.randn(width, width, device=device).to(getattr(torch, precision))

    def run(times: int) -> float:
        start = time.perf_counter()
        for _ in range(times):
            factor @ factor
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start

    run(1)
    return repeats * 2 * width**3 / run(repeats)
