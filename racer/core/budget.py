"""What a race may spend."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from racer._checks import is_real, is_whole
from racer.errors import BudgetError

__all__ = ["Budget"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What a race may spend: evaluations, seconds of evaluation, or both.

    Parameters
    ----------
    evaluations : int, optional
        Cells evaluated, failed ones included; retries of a cell are not counted again. Never
        exceeded: a block is begun only if it can be finished.
    seconds : float, optional
        Sum of the wall times of all evaluations as they were recorded (with `runtime`: of run
        times, CPU time where that is measured), so that `n_jobs` does not change what it buys
        (with 4 jobs it is about 4 times the wall time of the race). A
        block is begun only if it is expected to fit at the mean time per evaluation so far.
        With `racer.Race`, give each `Outcome` its seconds, or nothing is ever spent.

    Raises
    ------
    BudgetError
        Nothing given, or a number that is not positive.

    Examples
    --------
    >>> import racer
    >>> budget = racer.Budget(evaluations=200, seconds=60.0)
    >>> racer.race([1, 2], lambda config, instance, seed: config, budget=budget).best
    1
    """

    evaluations: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.evaluations is None and self.seconds is None:
            raise BudgetError("Budget() is empty: give evaluations=, seconds=, or both")
        if self.evaluations is not None and (
            not is_whole(self.evaluations) or self.evaluations < 1
        ):
            raise BudgetError(
                f"budget of {self.evaluations!r} evaluations: give a whole number >= 1"
            )
        if self.seconds is not None and (
            not is_real(self.seconds) or not 0.0 < float(self.seconds) < math.inf
        ):
            raise BudgetError(f"budget of {self.seconds!r} seconds: give a finite number > 0")
        for name, kind in (("evaluations", int), ("seconds", float)):
            if getattr(self, name) is not None:  # as plain numbers, which a store can hold
                object.__setattr__(self, name, kind(getattr(self, name)))

    def __str__(self) -> str:
        evaluations = [] if self.evaluations is None else [f"{self.evaluations} evaluations"]
        seconds = [] if self.seconds is None else [f"{self.seconds:g} s"]
        return " and ".join([*evaluations, *seconds])

    @classmethod
    def of(cls, budget: int | Budget) -> Budget:
        """Return `budget` itself, or a budget of that many evaluations."""
        if isinstance(budget, Budget):
            return budget
        if not is_whole(budget):
            raise BudgetError(
                f"budget={budget!r}: give a whole number of evaluations, or racer.Budget(..)"
            )
        return cls(evaluations=int(budget))

    @classmethod
    def each(cls, given: Any) -> tuple[Budget, ...]:
        """Return one budget, or those of a tuning that goes on from its end, each larger.

        Raises
        ------
        BudgetError
            None at all, or one that is not larger than the one before.
        """
        budgets = tuple(map(cls.of, given if isinstance(given, list | tuple) else [given]))
        if not budgets:
            raise BudgetError("budget=[]: give at least one")
        for one, other in pairwise(budgets):
            if not other.is_larger(one):
                raise BudgetError(f"a budget of {other} after {one}: give a larger one")
        return budgets

    def pays(self, cells: int, *, evaluations: int, seconds: float, extra: float = 0.0) -> bool:
        """Say whether `cells` more, and `extra` seconds, can be paid for after so many of both."""
        if self.evaluations is not None and evaluations + cells > self.evaluations:
            return False
        if self.seconds is None or not evaluations:
            return True
        return seconds + cells * seconds / evaluations + extra <= self.seconds

    def ends_by_time(self, evaluations: int) -> bool:
        """Say whether what ends before so many evaluations was ended by the seconds."""
        return self.seconds is not None and (
            self.evaluations is None or evaluations <= self.evaluations
        )

    def left(self, *, evaluations: int, seconds: float) -> int | None:
        """Return how many evaluations can be paid for; None if their cost is not known yet."""
        counts = []
        if self.evaluations is not None:
            counts.append(max(self.evaluations - evaluations, 0))
        if self.seconds is not None:
            if not evaluations:
                return None
            if seconds > 0.0:
                counts.append(max(int((self.seconds - seconds) / (seconds / evaluations)), 0))
        return min(counts, default=None)

    def is_larger(self, other: Budget) -> bool:
        """Say whether it pays for all that the other does, and for more."""
        pairs = [(self.evaluations, other.evaluations), (self.seconds, other.seconds)]
        return self != other and all(
            new is None or (old is not None and new >= old) for new, old in pairs
        )
