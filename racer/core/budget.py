"""The budget of a race."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from racer._checks import is_count, is_real, suggesting
from racer.core.prices import checked_prices
from racer.errors import BudgetError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Budget"]

_UNITS = {"seconds": "seconds", "wall": "seconds of wall time", "spend": "money"}


@suggesting
@dataclass(frozen=True, kw_only=True)
class Budget:
    """The limits of a race: evaluations, seconds of evaluation, money, or several of these.

    Parameters
    ----------
    evaluations : int, optional
        Cells evaluated, failed ones included; retries of a cell are not counted again. Never
        exceeded: a block is begun only if it can be finished.
    seconds : float, optional
        Sum of the wall times of all evaluations as they were recorded (of run times: CPU
        time where that is measured), so that `n_jobs` does not change its worth
        (with 4 jobs it is about 4 times the wall time of the race). A
        block is begun only if it is expected to fit at the mean time per evaluation so far.
        With `racer.Race`, give each `Outcome` its seconds, or nothing is ever spent.
    wall : float, optional
        Seconds of wall time, for any number of workers, after which no evaluation begins; running
        ones are finished (`racer.Limits` bounds them). What is known by then is the result:
        `ended` is "deadline". Before the first test there is a `RacerWarning` and no `best`, but
        `RaceResult.guess` names a candidate. Alone, the budget is all that the workers can do until
        then. With a store, `racer.resume` goes on from there.
    spend : float, optional
        Money, in any currency: the sum of the "spend" that `evaluate` returns (`Outcome.spend`),
        or of `prices`. A block is begun only if it is paid for at the expected price of each
        evaluation: from `prices`, or else the most that the candidate has cost so far.
        Never exceeded if no evaluation costs more than that. Nothing is prefetched.
    prices : sequence of float, or callable, optional
        The most that an evaluation of each candidate costs in money (or, for each, a list of its
        costs on each instance), or ``prices(config, instance)``, which a tuning needs. Known
        beforehand, the money is never exceeded, and `evaluate` need not return its spend.

    Raises
    ------
    BudgetError
        Nothing given, or a number that is not positive.
    SettingError
        Prices that are neither numbers nor a function.

    Examples
    --------
    >>> import racer
    >>> budget = racer.Budget(evaluations=200, seconds=60.0)
    >>> racer.race([1, 2], lambda c, i, seed: c + seed % 7, budget=budget, seed=1).best
    1
    """

    evaluations: int | None = None
    seconds: float | None = None
    wall: float | None = None
    spend: float | None = None
    prices: Sequence[Any] | Callable[[Any, Any], float] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.wall is None and self.prices is None and self.bare() is None:
            raise BudgetError(
                "Budget() is empty: give evaluations=, seconds=, wall=, spend=, or several of these"
            )
        if self.evaluations is not None:
            if not is_count(self.evaluations) or self.evaluations < 1:
                raise BudgetError(
                    f"budget of {self.evaluations!r} evaluations: give a whole number >= 1"
                )
            object.__setattr__(self, "evaluations", int(self.evaluations))
        object.__setattr__(self, "prices", checked_prices(self.prices))
        for name, unit in _UNITS.items():
            if (value := getattr(self, name)) is not None:
                if not is_real(value) or not 0.0 < float(value) < math.inf:
                    raise BudgetError(f"budget of {value!r} {unit}: give a finite number > 0")
                # as plain numbers, which a store can hold
                object.__setattr__(self, name, float(value))

    def __str__(self) -> str:
        evaluations = [] if self.evaluations is None else [f"{self.evaluations} evaluations"]
        seconds = [] if self.seconds is None else [f"{self.seconds:g} s"]
        wall = [] if self.wall is None else [f"{self.wall:g} s of wall time"]
        spend = [] if self.spend is None else [f"{self.spend:g} in money"]
        return " and ".join([*evaluations, *seconds, *wall, *spend])

    def bare(self) -> Budget | None:
        """Return the limits that a race counts itself, not wall time or prices; None if none."""
        if self.evaluations is None and self.seconds is None and self.spend is None:
            return None
        is_bare = self.wall is None and self.prices is None
        return self if is_bare else replace(self, wall=None, prices=None)

    @classmethod
    def parted(cls, given: Any) -> tuple[Any, float | None, Any]:
        """Return a budget, or several, without wall time and prices; and both, of the last that has."""
        each = given if isinstance(given, list | tuple) else [given]
        walls = [one.wall for one in each if isinstance(one, Budget) and one.wall is not None]
        prices = [one.prices for one in each if isinstance(one, Budget) and one.prices is not None]
        bare = [one.bare() if isinstance(one, Budget) else one for one in each]
        return (
            bare if isinstance(given, list | tuple) else bare[0],
            walls[-1] if walls else None,
            prices[-1] if prices else None,
        )

    @classmethod
    def of(cls, budget: int | Budget) -> Budget:
        """Return `budget` itself, or a budget of that many evaluations."""
        if isinstance(budget, Budget):
            return budget
        if not is_count(budget):
            raise BudgetError(
                f"budget={budget!r}: give a whole number of evaluations, or racer.Budget(..)"
            )
        return cls(evaluations=int(budget))

    @classmethod
    def each(cls, given: Any) -> tuple[Budget, ...]:
        """Return one budget, or the growing budgets of a tuning that goes on from its end.

        Raises
        ------
        BudgetError
            No budget at all, or a budget that is not larger than its predecessor.
        """
        budgets = tuple(map(cls.of, given if isinstance(given, list | tuple) else [given]))
        if not budgets:
            raise BudgetError("budget=[]: give at least one")
        for one, other in pairwise(budgets):
            if not other.is_larger(one):
                raise BudgetError(f"a budget of {other} after {one}: give a larger one")
        return budgets

    def pays(self, cells: int, *, evaluations: int, seconds: float, extra: float = 0.0) -> bool:
        """Return whether `cells` more, and `extra` seconds, can be paid for, after all before."""
        if self.evaluations is not None and evaluations + cells > self.evaluations:
            return False
        if self.seconds is None or not evaluations:
            return True
        return seconds + cells * seconds / evaluations + extra <= self.seconds

    def affords(self, price: float, *, spent: float) -> bool:
        """Return whether the money pays for a price, up to rounding."""
        # a sum of prices is rounded
        return self.spend is None or spent + price <= self.spend * (1.0 + 1e-9)

    @property
    def has_share(self) -> bool:
        """Whether its end is not known in evaluations: it is in seconds or in money, too."""
        return self.seconds is not None or self.spend is not None

    @property
    def is_in_seconds(self) -> bool:
        """Whether seconds are its only limit, as in a budget made of a deadline."""
        return self.seconds is not None and self.evaluations is None and self.spend is None

    def share(self, *, evaluations: int, seconds: float, spent: float) -> float:
        """Return the fraction in [0, 1] that is used: of several limits, of the nearest one."""
        limits = (self.evaluations, self.seconds, self.spend)
        used = zip((evaluations, seconds, spent), limits, strict=True)
        return min(max(at / limit for at, limit in used if limit is not None), 1.0)

    def ends_unforeseen(self, evaluations: int) -> bool:
        """Return whether seconds or money ended a race before this number of evaluations."""
        return self.has_share and (self.evaluations is None or evaluations <= self.evaluations)

    def left(self, *, evaluations: int, seconds: float, spent: float = 0.0) -> int | None:
        """Return how many evaluations can be paid for; None if their cost is not known yet."""
        counts = []
        if self.evaluations is not None:
            counts.append(max(self.evaluations - evaluations, 0))
        for limit, used in ((self.seconds, seconds), (self.spend, spent)):
            if limit is not None:
                if not evaluations:
                    return None
                if (each := used / evaluations) > 0.0:
                    # at most the largest count that a float holds exactly
                    counts.append(max(int(min((limit - used) / each, 2.0**53)), 0))
        return min(counts, default=None)

    def is_larger(self, other: Budget) -> bool:
        """Return whether it pays for all that the other does, and for more."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return self != other and all(
            new is None or (old is not None and new >= old) for new, old in pairs
        )
