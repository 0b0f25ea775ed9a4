"""Deadlines in wall time."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import joblib

from racer._checks import check_jobs, is_real
from racer.core.budget import Budget
from racer.errors import BudgetError

if TYPE_CHECKING:
    from racer.evaluate.engines import Cluster

_clock = time.monotonic


class Deadline:
    """A time limit in seconds of wall time, from now; None: no limit."""

    def __init__(self, seconds: float | None = None) -> None:
        self.at = math.inf if seconds is None else _clock() + check_deadline(seconds)

    def has_passed(self) -> bool:
        """Return True once no evaluation may begin."""
        return self.at < math.inf and _clock() >= self.at

    def left(self) -> float:
        """Return the seconds left."""
        return max(self.at - _clock(), 0.0) if self.at < math.inf else math.inf


def check_deadline(seconds: float) -> float:
    """Return the seconds of a deadline; BudgetError unless finite and > 0."""
    if not is_real(seconds) or not 0.0 < seconds < math.inf:
        raise BudgetError(f"deadline={seconds!r}: give seconds of wall time, a number > 0")
    return float(seconds)


def budget_within(
    budget: Any, deadline: float | None, n_jobs: int, executor: Cluster | None
) -> Any:
    """Return the budget; without one, a budget of the workers' seconds until the deadline."""
    if budget is not None:
        return budget
    if deadline is None:
        raise BudgetError(
            "no budget: give budget= (evaluations) or deadline= (seconds of wall time)"
        )
    if executor is not None:
        raise BudgetError(
            "deadline= with executor= needs budget=, too: the number of workers is unknown"
        )
    workers = joblib.effective_n_jobs(check_jobs(n_jobs))
    # workers are busy with evaluations for so much of the time
    return Budget(seconds=0.9 * workers * check_deadline(deadline))
