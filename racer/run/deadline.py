"""Deadlines in wall time."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import joblib

from racer.core.budget import Budget
from racer.errors import BudgetError

if TYPE_CHECKING:
    from racer.evaluate.workers import Workers

BUSY = 0.9  # of the time workers are busy with evaluations
_clock = time.monotonic


class Deadline:
    """A time limit in seconds of wall time, from now; None: no limit."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self.at = _clock() + self.seconds

    def has_passed(self) -> bool:
        """Return True once no evaluation may begin."""
        return self.at < math.inf and _clock() >= self.at

    def left(self) -> float:
        """Return the seconds left."""
        return max(self.at - _clock(), 0.0) if self.at < math.inf else math.inf


def budget_within(wall: float | None, where: Workers, cells: int | None = None) -> Budget:
    """Return a budget of the workers' seconds until a deadline; of all cells if there is none."""
    if wall is None and cells is not None:
        return Budget(evaluations=cells)
    if wall is None:
        raise BudgetError(
            "no budget: give budget=1000 (evaluations) or budget=racer.Budget(wall=3600) (seconds)"
        )
    if where.executor is not None:
        raise BudgetError(
            "Budget(wall=..) with an executor needs evaluations, too: the number of workers is unknown"
        )
    workers = joblib.effective_n_jobs(where.n)
    return Budget(seconds=BUSY * workers * wall)
