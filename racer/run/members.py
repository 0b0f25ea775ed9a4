"""Members of a portfolio: what one costs beside those before it, and the table of them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.evaluate.outcome import Cell
from racer.evaluate.workers import outcomes_of, workers_for
from racer.seeding import seed_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.evaluate.objective import Objective


@dataclass(frozen=True)
class Complement:
    """The cost of a configuration beside the members so far: what the better of them costs."""

    evaluate: Any
    instances: tuple[Any, ...]
    known: tuple[float, ...]  # of the members, per instance
    maximize: bool

    def __call__(self, config: Any, instance: int, seed: int) -> float:
        """Return that of the better one; that of the members if the configuration fails."""
        try:
            value = float(self.evaluate(config, self.instances[instance], seed))
        except Exception:  # noqa: BLE001
            return self.known[instance]
        return (max if self.maximize else min)(value, self.known[instance])


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
        Cell(
            place * times + time,
            member,
            config,
            instance,
            seed_for(seed, "table", place, time),
            instance_index=place,
        )
        for place, instance in enumerate(instances)
        for time in range(times)
        for member, config in enumerate(members)
    ]
    with workers_for(evaluate, members, instances, **how) as workers:
        for cell, outcome in outcomes_of(workers, cells):
            if outcome.value is not None:
                table[cell.instance_index, cell.candidate, cell.block % times] = outcome.value
    return table
