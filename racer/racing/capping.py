"""Caps of run times: a policy beside the loop of a race."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from racer.core.events import Elimination

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from racer.core.runtime import Runtime
    from racer.core.table import Table
    from racer.racing.state import Pays, State

CAP_REFERENCE = 5  # candidates whose times make the cap, where there are no elites


class Caps:
    """One cap per block, the same for all: a function of the blocks that are complete.

    `table` holds the race's outcomes; `pays`: whether its budget pays for cells.
    """

    def __init__(self, runtime: Runtime, table: Table, pays: Pays) -> None:
        self.bound: float = runtime.limit
        self._runtime = runtime
        self._table = table
        self._pays = pays

    def eliminate(self, block: int, state: State, spare: int) -> list[Elimination]:
        """Set the next cap; return at most `spare` candidates that reached it on every block."""
        leaders = state.ranked[:CAP_REFERENCE]
        if not leaders:
            return []
        self.bound = self._runtime.cap(self._table.costs(leaders))
        return too_slow(block, state, self._runtime, self._table, self.bound, leaders)[:spare]

    def reserve(self, state: State) -> int:
        """Return how many evaluations of the leaders may be made again after one more block."""
        if state.verdict is None or math.isinf(self._runtime.slack):  # no cap is below the limit
            return 0
        table, limit = self._table, self._runtime.limit
        return sum(len(capped(c, table, limit)) + 1 for c in state.ranked[:CAP_REFERENCE])

    def again(self, ranked: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """Return the capped cells (block, candidate) of survivors that the budget pays for."""
        cells: list[tuple[int, int]] = []
        extra = 0.0  # seconds that they may be expected to take
        for candidate in ranked:
            caps = capped(candidate, self._table, self._runtime.limit)
            extra += sum(map(self._runtime.slackened, caps.values()))
            if not self._pays(len(cells) + len(caps), extra):
                break
            cells += [(block, candidate) for block in caps]
        self.bound = self._runtime.limit
        return tuple(cells)

    def all_blocks(self, alive: NDArray[np.intp]) -> list[tuple[int, NDArray[np.float64]]]:
        """Return the costs of candidates on all usable blocks, with the least cap of each."""
        candidates = alive.tolist()
        blocks = filter(self._table.is_usable, self._table.common(candidates))
        return list(zip(blocks, self._table.costs(candidates), strict=True))


def capped(candidate: int, table: Table, limit: float) -> dict[int, float]:
    """Return the caps below the limit that stopped a candidate, by block."""
    return {
        block: outcome.value
        for block, outcome in table.of(candidate).items()
        if outcome.status == "capped" and outcome.value is not None and outcome.value < limit
    }


def too_slow(
    block: int,
    state: State,
    runtime: Runtime,
    table: Table,
    cap: float,
    leaders: Sequence[int],
) -> list[Elimination]:
    """Return the candidates that have reached a cap on every block, the worst standing first.

    None with a cap of `limit`: a candidate that reaches it need not be worse than the leaders.
    """
    if cap >= runtime.limit:
        return []
    return [
        Elimination.of_outcomes(block, candidate, "capped", leaders[0])
        for candidate in reversed(state.ranked)
        if candidate not in leaders
        and all(o.value is None or o.value >= cap for o in table.of(candidate).values())
    ]


def leader(state: State, runtime: Runtime | None, table: Table) -> int | None:
    """Return the candidate that led at the last test; None without one."""
    if state.verdict is None or state.verdict.best is None:
        return None
    return next(iter(best_first(state, runtime, table)), None)


def best_first(state: State, runtime: Runtime | None, table: Table) -> tuple[int, ...]:
    """Return the candidates left, best first: by standing, or by the criterion of run times.

    Candidates whose times are known up to the limit come before capped ones.
    """
    ranked = state.ranked
    if runtime is None or state.verdict is None or not ranked:
        return ranked
    known = [c for c in ranked if not capped(c, table, runtime.limit)] or list(ranked)
    costs = runtime.as_costs(table.costs(known)).mean(axis=0)
    first = [known[i] for i in costs.argsort(kind="stable").tolist()]
    return (*first, *(c for c in ranked if c not in known))
