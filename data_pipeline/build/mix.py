"""How many samples each kind of each source gives to a mix, from shares of kinds and a cap for sources.

Weighted max-min fairness by progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2): all
kinds grow in proportion to their shares. A kind stops growing when it has no more samples or its sources
reach the cap, and the others go on. Then the sources of each kind grow in the same way, in proportion to
their weights times their samples. Each step is a small linear programme.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from data_pipeline.config import MixConfig

Cell = tuple[str, str]
"""A kind and a source."""
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Allotment:
    """The (fractional) number of samples to draw of each kind and source, and the cap used (``most``)."""

    cells: Mapping[Cell, float]
    most: float

    @property
    def total(self) -> float:
        """Samples in all."""
        return fsum(self.cells.values())


def allot(there: Mapping[Cell, int], config: MixConfig) -> Allotment:
    """Decide how many samples each kind of each source gives.

    Args:
        there: number of samples of each kind and source.
        config: the mix that the recipe asks for.

    Returns:
        As many samples as asked for, or as possible with no source over the cap. If there are too few sources
        for the cap, it is raised to an equal share for each.
    """
    wished = config.kinds
    weights = {
        cell: count * config.sources.get(cell[1], 1.0)
        for cell, count in sorted(there.items())
        if wished is None or wished.get(cell[0], 0) > 0
    }
    weights = {cell: weight for cell, weight in weights.items() if weight > 0}
    cells = list(weights)
    sources = _members(cells, 1)
    most = max(config.max_source, 1 / len(sources)) if sources else config.max_source
    if not cells:
        return Allotment({}, most)
    whole = min(config.samples, sum(there[cell] for cell in cells))
    limits = _Limits([min(1.0, there[cell] / whole) for cell in cells])
    limits.at_most([1.0] * len(cells), 1.0)
    for members in sources.values():
        limits.at_most([float(at in members) - most for at in range(len(cells))], 0.0)
    rows = _members(cells, 0) if wished is not None else {"": list(range(len(cells)))}
    shares = [wished[kind] if wished is not None else 1.0 for kind in rows]
    given = _fill(limits, list(rows.values()), shares)
    for members, sum_ in zip(rows.values(), given, strict=True):
        row = [float(at in members) for at in range(len(cells))]
        limits.at_most(row, sum_)
        limits.at_most([-one for one in row], -sum_ * (1 - NEAR))
    found = _fill(limits, [[at] for at in range(len(cells))], [weights[cell] for cell in cells])
    return Allotment({cell: one * whole for cell, one in zip(cells, found, strict=True)}, most)


def _members(cells: Sequence[Cell], column: int) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for at, cell in enumerate(cells):
        found.setdefault(cell[column], []).append(at)
    return found


class _Limits:
    """Linear limits on what cells give; ``there`` is what each has. All in shares of the samples to draw."""

    def __init__(self, there: Sequence[float]):
        self.there = there
        self.rows: list[list[float]] = []
        self.bounds: list[float] = []

    def at_most(self, row: list[float], bound: float) -> None:
        """Limit a weighted sum of what the cells give."""
        self.rows.append(row)
        self.bounds.append(bound)


def _fill(limits: _Limits, groups: Sequence[Sequence[int]], weights: Sequence[float]) -> list[float]:
    """Grow groups of cells in proportion to their weights, each until a limit stops it."""
    import numpy as np
    from scipy.optimize import linprog

    size, whole = len(limits.there), fsum(weights)
    held = np.zeros((len(groups), size))
    for at, members in enumerate(groups):
        held[at, members] = 1.0
    rates = np.array(weights) / whole
    table = np.hstack([np.array(limits.rows), np.zeros((len(limits.rows), 1))])
    level = np.full(len(groups), np.nan)  # of the groups that have stopped
    while np.isnan(level).any():
        grows = np.isnan(level)
        # A growing group gives its rate times the level (the last variable); the others keep what they gave.
        growth = np.hstack([-held, np.where(grows, rates, 0.0)[:, None]])
        bounds = np.where(grows, 0.0, -np.nan_to_num(level) * (1 - NEAR))
        result: Any = linprog(
            np.append(np.zeros(size), -1.0),
            A_ub=np.vstack([growth, table]),
            b_ub=np.append(bounds, limits.bounds),
            bounds=[*((0.0, most) for most in limits.there), (0.0, None)],
            method="highs-ds",
        )
        # The groups that hold the level down have a nonzero dual price; there is always at least one.
        stopped = grows & (-result.ineqlin.marginals[: len(groups)] > NEAR)
        level[stopped] = rates[stopped] * result.x[-1]
    return [float(one) for one in level]
