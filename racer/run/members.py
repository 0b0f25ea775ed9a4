"""Members of a portfolio: what one costs beside those before it, and the table of them all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.core.blocks import Place
from racer.core.budget import Budget
from racer.errors import BudgetError
from racer.evaluate.objective import USELESS, Misbehaved, judge, without_spend
from racer.evaluate.workers import outcomes_of, workers_for
from racer.results.oracle import best_of_each, failures_behind
from racer.seeding import seed_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.evaluate.objective import Objective

_LEAST = 10  # evaluations of a tuning


@dataclass(frozen=True)
class Complement:
    """The cost of a configuration beside the members so far: what the better of them costs."""

    evaluate: Any
    instances: tuple[Any, ...]
    known: tuple[float, ...]  # of the members, per instance
    maximize: bool

    @classmethod
    def of(
        cls,
        evaluate: Any,
        instances: tuple[Any, ...],
        table: NDArray[np.float64],
        *,
        maximize: bool,
    ) -> Complement:
        """Return that beside members with this table, (instances, members, times)."""
        known = failures_behind(table, maximize=maximize)
        best = best_of_each(known, maximize=maximize)
        return cls(evaluate, instances, tuple(best.tolist()), maximize)

    def __call__(self, config: Any, instance: int, seed: int) -> float:
        """Return that of the better one; that of the members if the configuration fails.

        One that is rejected is rejected here, too, and a wrong `evaluate` is as wrong.
        """
        known = self.known[instance]
        try:
            answer = self.evaluate(config, self.instances[instance], seed)
        except Exception as error:
            if isinstance(error, Misbehaved) and error.status == "rejected":
                raise
            return known
        if isinstance(answer, Mapping):
            answer, _ = without_spend(answer, None)
        _, value, message = judge(answer)
        if message.startswith(USELESS):
            raise Misbehaved("invalid", message)
        better = max if self.maximize else min
        return known if value is None else better(value, known)


def share_of_member(budget: Any, size: int, n_instances: int, times: int) -> int:
    """Return the evaluations of each tuning; BudgetError if members and table need more."""
    evaluations, tested = Budget.counted(budget, "a portfolio"), n_instances * times
    each = evaluations // size - tested
    if each < _LEAST:
        members = f"{size} member{'s' * (size != 1)}"
        places = f"{n_instances} instance{'s' * (n_instances != 1)}"
        often = "once" if times == 1 else f"{times} times"
        raise BudgetError(
            f"budget of {evaluations} evaluations: {members} on {places}, {often} each, "
            f"take{'s' * (size == 1)} {size * tested} evaluations: give "
            f"{size * (tested + _LEAST)} or more"
        )
    return each


def member_table(
    evaluate: Objective,
    members: Sequence[Any],
    instances: Sequence[Any],
    times: int,
    seed: int,
    how: dict[str, Any],
) -> NDArray[np.float64]:
    """Return what each member costs on each instance, (instances, members, times); NaN if it failed."""
    table = np.full((len(instances), len(members), times), np.nan)
    cells = [
        cell
        for place in range(len(instances))
        for time in range(times)
        for cell in Place(place, seed_for(seed, "table", place, time)).cells(
            place * times + time, range(len(members)), members.__getitem__, instances
        )
    ]
    with workers_for(evaluate, members, instances, **how) as workers:
        for cell, outcome in outcomes_of(workers, cells):
            if outcome.value is not None:
                table[cell.instance_index, cell.candidate, cell.block % times] = outcome.value
    return table
