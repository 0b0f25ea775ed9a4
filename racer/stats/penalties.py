"""Penalised costs: one large number for each run that did not do its job."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def penalty(costs: NDArray[np.float64]) -> float | None:
    """Return the cost among costs (n, m) that is a penalty, such as ten times a limit, or None.

    It is the largest finite cost, if several blocks and several candidates have exactly that, and it
    is farther beyond all other costs than these differ. No law of noise has such a gap.
    """
    known = np.isfinite(costs)
    largest = float(np.max(costs, where=known, initial=-np.inf))
    found = costs == largest
    if not (found.any(axis=0).sum() > 1 < found.any(axis=1).sum()):
        return None
    others = costs[known & ~found]
    if not len(others):
        return None
    return largest if _is_beyond(largest, float(others.min()), float(others.max())) else None


def _is_beyond(largest: float, least: float, most: float) -> bool:
    """Return whether the largest cost is farther beyond the others than these differ, if they do."""
    return 0.0 < most - least < largest - most


class Largest:
    """The largest cost of the blocks so far, and what `penalty` asks of it."""

    def __init__(self) -> None:
        self._cost, self._next, self._least = -math.inf, -math.inf, math.inf
        self._blocks, self._candidates = 0, set[int]()

    def add(self, candidates: NDArray[np.intp], costs: NDArray[np.float64]) -> None:
        """Note the costs (m,) of another block, finite or +inf."""
        known = costs[np.isfinite(costs)]
        if not len(known):
            return
        largest = float(known.max())
        if largest > self._cost:
            self._next, self._cost = max(self._next, self._cost), largest
            self._blocks, self._candidates = 0, set()
        if largest == self._cost:
            self._blocks += 1
            self._candidates.update(candidates[costs == largest].tolist())
            known = known[known < largest]
        if len(known):
            self._next = max(self._next, float(known.max()))
            self._least = min(self._least, float(known.min()))

    @property
    def is_penalty(self) -> bool:
        """Whether the largest cost is a penalty."""
        if min(self._blocks, len(self._candidates)) < 2:
            return False
        return _is_beyond(self._cost, min(self._least, self._next), self._next)
