"""The settings of a race, besides its candidates and instances."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from racer._checks import flag, whole
from racer.core.budget import Budget
from racer.core.objective import Aim
from racer.core.prices import Prices, checked_prices
from racer.core.runtime import Runtime
from racer.deciders.decider import checked_schedule
from racer.deciders.named import as_decider, default_decider, name_of
from racer.errors import BudgetError, ObjectiveError, SettingError
from racer.seeding import check_seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from racer.core.objective import Metric, Objective
    from racer.core.prices import Given
    from racer.core.table import Row
    from racer.deciders.decider import Decider, Goal, Schedule
    from racer.evaluate.outcome import Cell

LEAST_OF_OTHERS = 10
"""So many instances, or groups, stand for others like them."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The settings of a race, besides its candidates and instances; checked.

    Parameters
    ----------
    decider : str or Decider, optional
        None: "bayesian-friedman", or the objective's default ("bayesian-front", "within", ..).
    budget : int, Budget, or list of these
        An int means evaluations. A list of growing budgets: a tuner that goes on
        from the end of each with the next one's additions.
    maximize : bool
        Larger values are better.
    seed : int >= 0, optional
        None: one is drawn when a race is made of these rules.
    deterministic : bool, optional
        The objective ignores its seed: use each instance once, then end. None: not known; where
        instances that are used again bring the same values with another seed, these are set aside,
        and the race continues as with True.
    first_test : int
        Number of blocks before the first test. Blocks in which all cells failed are not counted. A
        deterministic race with fewer instances tests at its end.
    each_test : int or "growing", optional
        Number of blocks between later tests; "growing": whenever there are a quarter more than
        at the test before (5, 6, 8, 10, 13, 16, 20, 25, ..), and at the end. None: as the decider
        asks by its attribute `tests`, when a race is made of these rules.
    min_survivors : int
        End when no more candidates than this are left.
    block_size : int
        Number of consecutive instances that form a group, such as one of every kind. Groups are
        kept together, `first_test` and `each_test` count groups, and no test falls within one.
    runtime : Runtime, or float > 0, optional
        The cost is run time; a number is the limit.
    metrics : mapping of str to "min", "max" or Metric, optional
        Metrics that `evaluate` returns, by name; None: one number.
    objective : str, Pareto, Within or Constrained, optional
        The goal; needed where there are several metrics.
    prices : sequence of float, or callable, optional
        Price of an evaluation of each candidate, or ``prices(config, instance)``.
    generalize : bool, optional
        The claim if instances are used again, with other seeds. True: it is about
        instances like these, of which each is a sample of one, however many its seeds. False: it
        is about these instances. None: True from ten instances (or groups) on.

    Raises
    ------
    SettingError, BudgetError
        A setting that cannot work.
    """

    decider: Decider = None  # type: ignore[assignment]  # until it is checked
    budget: Budget | tuple[Budget, ...]
    maximize: bool = False
    seed: int | None = None
    deterministic: bool | None = None
    first_test: int = 5
    each_test: Schedule | None = None
    min_survivors: int = 1
    block_size: int = 1
    runtime: Runtime | None = None
    metrics: Mapping[str, Metric] | None = field(default=None, hash=False)
    objective: Objective | None = field(default=None, hash=False)
    prices: Given | None = None
    generalize: bool | None = None

    def __post_init__(self) -> None:
        budgets, wall, prices = Budget.parted(Budget.each(self.budget))
        if wall is not None:
            raise BudgetError(f"Budget(wall={wall:g}): only racer.race and racer.tune have a clock")
        aim = Aim.of(self.metrics, self.objective)
        goal = None if aim is None else aim.goal
        given: str | Decider | None = self.decider
        checked: dict[str, Any] = {
            "decider": as_decider(default_decider(goal) if given is None else given),
            "budget": budgets[0] if len(budgets) == 1 else tuple(budgets),
            "maximize": flag(self.maximize, "maximize") if aim is None else aim.maximize,
            "metrics": None if aim is None else aim.metrics,
            "objective": None if aim is None else aim.objective,
            "prices": checked_prices(self.prices if prices is None else prices),
            "seed": None if self.seed is None else check_seed(self.seed),
            "runtime": Runtime.of(self.runtime),
        }
        if self.deterministic is not None:
            checked["deterministic"] = flag(self.deterministic, "deterministic")
        if self.generalize is not None:
            checked["generalize"] = flag(self.generalize, "generalize")
        for name in ("first_test", "min_survivors", "block_size"):
            checked[name] = whole(getattr(self, name), name, least=1)
        checked["each_test"] = None if self.each_test is None else checked_schedule(self.each_test)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self._check_runtime()
        check_goal(self.decider, goal, self.objective)

    def _check_runtime(self) -> None:
        if self.runtime is None:
            return
        if self.is_paid or self.prices is not None:
            raise SettingError(
                "Budget(spend=.., prices=..) with goal=Runtime(..): a run that was capped may be made "
                "again, at a price that is not known; give the budget in seconds or in evaluations"
            )
        self.runtime.check_decider(self.decider)

    @classmethod
    def given(cls, rules: Mapping[str, Any]) -> Rules:
        """Return the rules of arguments, with a seed and a distance of tests."""
        made = cls(**rules)
        if made.each_test is None:
            made = replace(made, each_test=made.decider.tests)
        return made if made.seed is not None else replace(made, seed=check_seed(None))

    @property
    def is_more_better(self) -> bool:
        """Whether larger means are better; of run times, means of scores or utilities."""
        return self.maximize if self.runtime is None else self.runtime.utility is not None

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets of a tuner, one after the other."""
        return (self.budget,) if isinstance(self.budget, Budget) else self.budget

    @property
    def one_budget(self) -> Budget:
        """The budget of a race; BudgetError if there are several."""
        if not isinstance(self.budget, Budget):
            raise BudgetError("budget is a list: a race has one budget; only a tuner goes on")
        return self.budget

    @cached_property
    def is_paid(self) -> bool:
        """Whether the budget is in money, too."""
        return any(budget.spend is not None for budget in self.budgets)

    @cached_property
    def needs_spend(self) -> bool:
        """Whether each outcome must have a spend."""
        return self.is_paid and self.prices is None

    @cached_property
    def aim(self) -> Aim | None:
        """Metrics and objective; None where `evaluate` returns one number."""
        return Aim.of(self.metrics, self.objective)

    @cached_property
    def metric_names(self) -> tuple[str, ...] | None:
        """The metrics that `evaluate` returns, the value's metric first; None: one number."""
        return None if self.aim is None else self.aim.names

    @cached_property
    def goal(self) -> Goal | None:
        """The goal for deciders of several metrics; None where one number decides."""
        return None if self.aim is None else self.aim.goal

    @cached_property
    def is_front(self) -> bool:
        """Whether the goal is a front, of which no candidate is the best."""
        return self.aim is not None and self.aim.is_front

    @cached_property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and the largest value, where the decider asks for them; else None."""
        metric = None if self.aim is None else self.aim.metrics[self.aim.names[0]]
        if self.decider.bounds is None or metric is None or metric.bounds is None:
            return self.decider.bounds
        return metric.bounds

    @property
    def cost_bounds(self) -> tuple[float, float] | None:
        """The same of costs."""
        if self.bounds is None or not self.maximize:
            return self.bounds
        return -self.bounds[1], -self.bounds[0]

    @property
    def is_used_once(self) -> bool:
        """Whether each instance is used once."""
        if self.deterministic is None:
            return self.decider.bounds is not None
        return self.deterministic

    def generalizes(self, n_instances: int | None) -> bool:
        """Return whether claims are about instances like these; SettingError if they cannot be.

        Of instances in groups, the groups count.
        """
        if self.generalize is not None and n_instances is None:
            raise SettingError(f"generalize={self.generalize} without instances: leave it out")
        if self.generalize and n_instances == 1:
            raise SettingError(
                "generalize=True with one instance, or one group: it is no evidence on others; give more, "
                "or leave generalize out"
            )
        if self.generalize is None:
            return n_instances is None or n_instances >= LEAST_OF_OTHERS
        return self.generalize

    def check_bounds(self, cell: Cell, value: float | None) -> None:
        """Raise ObjectiveError for a value outside the bounds that the decider asks for."""
        if self.bounds is None or value is None or self.bounds[0] <= value <= self.bounds[1]:
            return
        index = "" if cell.instance_index is None else f"instance {cell.instance_index}, "
        raise ObjectiveError(
            f"candidate {cell.candidate} has the score {value:g} on {index}"
            f"{reprlib.repr(cell.instance)}, outside the bounds "
            f"{self.bounds}; it is not recorded. Mend evaluate, or give the bounds of the scores: "
            'racer.Metric("max", bounds=(1, 5)), or for example MeanRace(bounds=(1, 5))'
        )

    def costs(self, row: Row) -> NDArray[np.float64]:
        """Return the deciding numbers of a row, as costs, +inf where the cell failed.

        Shape (k,), or (k, d) where d metrics decide.
        """
        if self.aim is None:
            return row.costs(maximize=self.maximize)
        return self.aim.costs(row)

    def settings(self) -> dict[str, Any]:
        """Return the arguments that make these rules again; metrics, prices, generalize only if given."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if not isinstance(self.budget, Budget):
            values["budget"] = list(self.budget)
        if self.prices is None:
            del values["prices"]
        if self.generalize is None:
            del values["generalize"]
        if self.aim is None:
            del values["metrics"], values["objective"]
            return values
        objective = self.aim.objective
        values["metrics"] = {name: metric.plain() for name, metric in self.aim.metrics.items()}
        values["objective"] = objective if isinstance(objective, str) else objective.plain()
        return values | {"maximize": False}

    def expected_prices(
        self, configs: Sequence[Any], instances: Sequence[Any] | None
    ) -> Prices | None:
        """Return the expected price of each evaluation; None where no money is counted."""
        if self.prices is None and not self.is_paid:
            return None
        return Prices(self.prices, configs, instances)

    def least_blocks(self, n_instances: int | None) -> int:
        """Return after how many usable blocks the first test is due."""
        used_once = self.is_used_once and n_instances is not None
        first_test = self.first_test * self.block_size
        return min(first_test, n_instances or 0) if used_once else first_test

    def is_due(self, usable: int, first_test: int, blocks: int) -> bool:
        """Return whether a test is due after this number of blocks, given the usable ones."""
        if usable < first_test:
            return False
        counted = usable if self.block_size == 1 else blocks  # groups have blocks set aside, too
        groups, rest = divmod(counted, self.block_size)
        return not rest and is_due(groups, first_test // self.block_size, self.each_test or 1)

    def is_whole(self, blocks: int) -> bool:
        """Return whether a number of blocks is a whole number of groups."""
        return blocks % self.block_size == 0

    def is_idle(self, blocks: int, tests: int) -> bool:
        """Return whether a race may end after these blocks and tests without an elimination."""
        if isinstance(self.each_test, int):
            return blocks >= self.each_test * self.block_size
        return tests > 0


def check_goal(decider: Decider, goal: Goal | None, objective: object) -> None:
    """Raise SettingError unless a decider is for the objective."""
    kind = "cost" if goal is None else goal.kind
    if kind in decider.objectives:
        return
    name = name_of(decider)
    if goal is None:
        raise SettingError(
            f"the decider {name} is for several metrics: give a goal of several, such as "
            'racer.Pareto({"error": "min", ..})'
        )
    raise SettingError(
        f"the decider {name} does not decide {objective!r}: leave decider out, which is "
        f"{default_decider(goal)!r} then"
    )


def is_due(blocks: int, first_test: int, each_test: Schedule) -> bool:
    """Return whether a test is due after this number of blocks; the first is after `first_test`."""
    if isinstance(each_test, int):
        return blocks >= first_test and (blocks - first_test) % each_test == 0
    return blocks in _growing(first_test)


@lru_cache(maxsize=64)
def _growing(first_test: int) -> frozenset[int]:
    """Return after how many blocks tests are due, each a quarter later than the test before."""
    due = [first_test]
    while due[-1] < 1 << 48:  # more blocks than any race has
        due.append(due[-1] + max(1, (due[-1] + 2) // 4))
    return frozenset(due)
