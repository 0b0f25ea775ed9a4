"""The history of a tuning: evaluated cells, the blocks in use, and the budget that is left."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer.core.cheap import Cheap
from racer.core.table import Table
from racer.evaluate.outcome import bounded
from racer.failures import penalty
from racer.racing.repeats import Repeats

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from racer.core.budget import Budget
    from racer.core.prices import Prices
    from racer.evaluate.outcome import Cell, Outcome
    from racer.tuner.plan import Plan

    Pairs = Sequence[tuple[int, int]]  # candidates and blocks

AT_ONCE = 16  # evaluations of such pairs before the budget is checked again


class Lost(NamedTuple):
    """All cells, and which failed; a `penalty` that some cost, such as ten times a limit, is a failure."""

    candidates: NDArray[np.intp]
    places: NDArray[np.intp]  # instances, or blocks without any
    failed: NDArray[np.bool_]
    n_places: int
    penalty: float | None

    @property
    def is_partial(self) -> bool:
        """Whether a candidate failed that succeeded elsewhere."""
        return not set(self.candidates[self.failed]).isdisjoint(self.candidates[~self.failed])


class History:
    """Outcomes of all races by block and candidate, in one table; and the rest of the budget."""

    def __init__(self, plan: Plan) -> None:
        self.plan: Plan = plan
        self.budget: Budget = plan.rules.budgets[0]
        self.configs: list[dict[str, Any]] = []
        self.known: Table = Table(maximize=plan.rules.maximize, runtime=plan.rules.runtime)
        self.tests: Table = Table(maximize=plan.rules.maximize, runtime=plan.rules.runtime)
        self.repeats: Repeats = Repeats(plan.stream, plan.rules)
        self.prices: Prices | None = plan.rules.expected_prices(self.configs, plan.instances)
        if self.prices is not None:
            self.prices.check_instances()
        self.rejected: set[int] = set()
        self.n_full: int = 0  # evaluations, beside cheap ones
        self.cheap: Cheap | None = None if plan.fidelity is None else Cheap(plan.fidelity)
        self.seconds: float = 0.0
        self.blocks_used: int = 0
        self._lost: tuple[int, Lost] | None = None
        self.verified: int | None = None  # the best, by a final stage
        self.finalists: tuple[int, ...] = ()  # of the finish, then on held-out instances

    @property
    def evaluations(self) -> int:
        """How many evaluations were made, a cheap one counted as its share; rounded up."""
        return self.n_full + (0 if self.cheap is None else self.cheap.evaluations)

    @property
    def is_all_equal(self) -> bool:
        """Whether no block separates any two candidates, in any metric that decides."""
        found: dict[int, set[tuple[float, ...]]] = {}
        for row in self.known.rows:
            costs = self.plan.rules.costs(row).reshape(len(row.values), -1)
            found.setdefault(row.block, set()).update(map(tuple, costs.tolist()))
        return all(len(costs) == 1 for costs in found.values())

    @property
    def lost(self) -> Lost:
        """What failed so far."""
        rows = self.known.rows
        if self._lost is None or self._lost[0] != len(rows):
            self._lost = len(rows), self._find_lost()
        return self._lost[1]

    def _find_lost(self) -> Lost:
        known, stream, repeated = self.known, self.plan.stream, self.known.repeated
        rows = [row for row in known.rows if row.block not in repeated]
        places = [stream.instance_or_block(row.block) for row in rows]
        found = None
        if self.plan.rules.runtime is None:
            found = penalty(known.all_costs(range(len(self.configs)), stream.instance))
        none = np.zeros(0)
        costs = np.concatenate([none, *(row.costs(maximize=known.maximize) for row in rows)])
        return Lost(
            np.concatenate([none.astype(np.intp), *(row.candidates for row in rows)]),
            np.repeat(np.array(places, dtype=np.intp), [len(row.values) for row in rows]),
            np.isinf(costs) | (costs == found),
            stream.n_instances or max(places, default=0) + 2,
            found,
        )

    def record(self, cells: Sequence[Cell], outcomes: Sequence[Outcome]) -> None:
        """Record the outcomes of cells, in the order in which they were asked for."""
        pairs = list(zip(cells, outcomes, strict=True))
        if self.cheap is not None and cells and cells[0].fidelity is not None:
            self.cheap.add(pairs)
            self.seconds += math.fsum(outcome.seconds for outcome in outcomes)
            self.rejected |= {cell.candidate for cell, o in pairs if o.status == "rejected"}
            return
        for (is_held_out, block), group in groupby(pairs, lambda p: (p[0].held_out, p[0].block)):
            some = list(group)
            candidates, told = [cell.candidate for cell, _ in some], [o for _, o in some]
            if self.prices is not None and not is_held_out:
                told = self.prices.settled(candidates, some[0][0].instance_index, told)
            (self.tests if is_held_out else self.known).add(block, candidates, told)
            if is_held_out:
                continue
            self.repeats.see(block, candidates, self.known)
            self.n_full += len(told)
            for outcome in told:
                self.seconds += outcome.seconds
            self.rejected |= {cell.candidate for cell, o in some if o.status == "rejected"}

    @property
    def n_candidates(self) -> int:
        """How many candidates were evaluated in full."""
        return sum(bool(self.known.of(candidate)) for candidate in range(len(self.configs)))

    def use_once(self) -> None:
        """Use each instance once from here on: its outcomes do not depend on the seed."""
        n, plan = self.repeats.n_instances, self.plan
        stream = replace(plan.stream, deterministic=True)
        self.plan = replace(plan, stream=stream, first_test=min(plan.first_test, n))
        self.blocks_used = min(self.blocks_used, n)

    def use(self, block: int) -> None:
        """Count a block as used, unless its instance counts once and is another's."""
        length = self.plan.stream.length
        if length is None or block < length:
            self.blocks_used = max(self.blocks_used, block + 1)

    def left(self) -> int | None:
        """Return how many evaluations are left; None if their price is not known yet."""
        return self.budget.left(
            evaluations=self.evaluations, seconds=self.seconds, spent=self.known.spent or 0.0
        )

    def pays(self, cells: int) -> bool:
        """Return whether the budget pays for this many more cells, apart from their price."""
        return self.budget.pays(cells, evaluations=self.evaluations, seconds=self.seconds)

    def affords(self, candidates: Collection[int], block: int) -> bool:
        """Return whether the money pays for all of these candidates on a block."""
        return self.affords_pairs([(candidate, block) for candidate in candidates])

    def affords_pairs(self, pairs: Pairs) -> bool:
        """Return whether the money pays for all of these."""
        if self.prices is None:
            return True
        instance = self.plan.stream.instance
        price = math.fsum(self.prices.of(candidate, instance(block)) for candidate, block in pairs)
        return self.budget.affords(price, spent=self.known.spent or 0.0)

    def affordable(self, pairs: Pairs) -> Pairs:
        """Return the first of these for which the money pays."""
        while pairs and not self.affords_pairs(pairs):
            pairs = pairs[:-1]
        return pairs

    def is_free(self, spent: float | None) -> bool:
        """Return whether nothing was spent since then, with money as the limit."""
        return (
            self.prices is not None
            and self.budget.evaluations is None
            and self.known.spent == spent
        )

    @property
    def limit(self) -> float | None:
        """The largest cap of an evaluation, in seconds; None where nothing is capped."""
        runtime = self.plan.rules.runtime
        return None if runtime is None else runtime.limit

    def missing(self, candidates: Iterable[int], block: int, cap: float | None) -> list[int]:
        """Return the candidates that are unknown on a block, or were capped too early."""
        found = ((c, self.known.of(c).get(block)) for c in candidates)
        return [c for c, told in found if told is None or bounded(told, cap) is None]

    def cells(self, candidates: Iterable[int], block: int, cap: float | None) -> list[Cell]:
        """Return the cells of the candidates that are missing on a block."""
        missing = self.missing(candidates, block, cap)
        return self.plan.stream.place(block).cells(
            *(block, missing, self.config, self.plan.instances),
            bound=cap,
            metrics=self.plan.rules.metric_names,
        )

    def cells_of(self, pairs: Pairs) -> list[Cell]:
        """Return the cells of these that are missing, with the largest cap."""
        return [cell for c, block in pairs for cell in self.cells([c], block, self.limit)]

    def config(self, candidate: int) -> dict[str, Any]:
        """Return a copy of a configuration, which `evaluate` may change."""
        return dict(self.configs[candidate])

    def held_out(self, index: int, candidates: Iterable[int]) -> list[Cell]:
        """Return the missing cells of candidates on a held-out instance."""
        missing = [c for c in candidates if index not in self.tests.of(c)]
        return self.plan.stream.held_out(index).cells(
            *(index, missing, self.config, self.plan.test_instances),
            held_out=True,
            bound=self.limit,
            metrics=self.plan.rules.metric_names,
        )

    def all_held_out(self, candidates: Sequence[int], first: int = 0) -> Iterator[list[Cell]]:
        """Yield the missing cells of candidates on held-out instances, one by one."""
        for index in range(first, len(self.plan.test_instances)):
            yield self.held_out(index, candidates)

    def new_blocks(self, used: int) -> Iterator[int]:
        """Yield the blocks after the first `used`, while there are some."""
        for block in self.plan.stream.new_ones(used):
            length = self.plan.stream.length
            if length is not None and block >= length:
                return
            yield block

    def whole_groups(self, blocks: Sequence[int]) -> tuple[list[Sequence[int]], list[int]]:
        """Return groups of blocks with any success, in their order, and the blocks of the others."""
        size = self.plan.stream.block_size
        usable: list[Sequence[int]] = []
        hopeless: list[int] = []
        for i in range(0, len(blocks), size):
            group = blocks[i : i + size]
            if any(map(self.known.is_usable, group)):
                usable.append(group)
            else:
                hopeless += group
        return usable, hopeless
