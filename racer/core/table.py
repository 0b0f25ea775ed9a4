"""One table of outcomes by block and candidate: for a race, a tuner, a sampler."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._numerics import as_costs, mean_of
from racer.evaluate.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from racer.core.runtime import Runtime
    from racer.evaluate.outcome import Status


class Row(NamedTuple):
    """Outcomes of some candidates on one block, added together."""

    block: int
    candidates: NDArray[np.intp]
    values: NDArray[np.float64]  # as evaluate returned them; NaN where the cell failed
    seconds: NDArray[np.float64]
    others: Mapping[int, Outcome]  # by place: those with more than value, seconds, worker
    workers: tuple[str, ...] | None = None  # None: not known

    @classmethod
    def of(
        cls,
        block: int,
        candidates: NDArray[np.intp] | Sequence[int],
        told: Sequence[Outcome],
    ) -> Row:
        """Return the row of outcomes."""
        numbers = np.asarray(candidates, dtype=np.intp)
        values = np.array([o.value for o in told], dtype=np.float64)  # None becomes NaN
        seconds = np.array([o.seconds for o in told], dtype=np.float64)
        others = {
            place: o
            for place, o in enumerate(told)
            if o.status != "ok" or o.attempts != 1 or o.metrics is not None or o.spend is not None
        }
        workers = tuple([intern(o.worker) for o in told])
        return cls(block, numbers, values, seconds, others, workers if any(workers) else None)

    def costs(self, *, maximize: bool) -> NDArray[np.float64]:
        """Return the values as costs, +inf where the cell failed."""
        costs = as_costs(self.values, maximize=maximize)
        return np.where(np.isnan(costs), np.inf, costs) if self.others else costs

    def of_metric(self, name: str) -> NDArray[np.float64]:
        """Return the values of a metric, (k,), NaN where the cell failed, or has none."""
        values = np.full(len(self.values), np.nan)
        for place, outcome in self.others.items():
            if outcome.metrics is not None and outcome.value is not None:
                values[place] = outcome.metrics.get(name, math.nan)
        return values

    def metrics(self) -> dict[str, tuple[float, ...]] | None:
        """Return the values of all metrics by name; None if only one number is known per cell."""
        told = (outcome.metrics for outcome in self.others.values())
        names = next((metrics for metrics in told if metrics is not None), None)
        if names is None:
            return None
        return {name: tuple(self.of_metric(name).tolist()) for name in names}

    def places(self, status: Status) -> list[int]:
        """Return the places of the candidates with a status."""
        others = self.others
        return [at for at, outcome in others.items() if outcome.status == status] if others else []

    @property
    def is_usable(self) -> bool:
        """Whether any candidate succeeded."""
        return not self.others or self.n_failed < len(self.values)

    @property
    def n_failed(self) -> int:
        """How many cells have no value."""
        return sum(o.value is None for o in self.others.values())

    def outcomes(self) -> list[Outcome]:
        """Return an outcome per candidate."""
        values = self.values.tolist()
        workers = self.workers or ("",) * len(values)
        outcomes = [
            Outcome("ok", value, seconds=took, worker=worker)
            for value, took, worker in zip(values, self.seconds.tolist(), workers, strict=True)
        ]
        for place, outcome in self.others.items():
            outcomes[place] = outcome
        return outcomes

    def outcome(self, place: int) -> Outcome:
        """Return the outcome of the candidate at a place."""
        other = self.others.get(place)
        if other is not None:
            return other
        worker = "" if self.workers is None else self.workers[place]
        return Outcome(
            "ok", float(self.values[place]), seconds=float(self.seconds[place]), worker=worker
        )


class _Cells(NamedTuple):
    """The cells of many rows, numbered through: the row and the place of each, and its value."""

    rows: Sequence[Row]
    numbers: NDArray[np.intp]  # of rows
    places: NDArray[np.intp]
    values: NDArray[np.float64]
    others: Mapping[int, Outcome]  # by cell

    @classmethod
    def of(cls, rows: Sequence[Row]) -> _Cells:
        sizes = [len(row.values) for row in rows]
        ends = np.cumsum(sizes)
        starts = ends - sizes
        others = {
            begin + place: outcome
            for begin, row in zip(starts.tolist(), rows, strict=True)
            for place, outcome in row.others.items()
        }
        places = np.arange(ends[-1]) - np.repeat(starts, sizes)
        values = np.concatenate([row.values for row in rows])
        return cls(rows, np.repeat(np.arange(len(rows)), sizes), places, values, others)

    def outcome(self, cell: int) -> Outcome:
        row: Row = self.rows[int(self.numbers[cell])]
        return row.outcome(int(self.places[cell]))


class Column(Mapping[int, Outcome]):
    """The outcomes of a candidate by block; of many rows, each is made when it is looked at."""

    __slots__ = ("_cells", "_known", "_numbered")

    def __init__(self, cells: _Cells | None = None, numbers: dict[int, Any] | None = None) -> None:
        self._cells = cells
        self._known: dict[int, Any] = numbers or {}  # of cells, or outcomes
        self._numbered = numbers is not None  # all of them are

    def add(self, block: int, outcome: Outcome) -> None:
        """Add an outcome, which takes the place of an earlier one."""
        self._known[block] = outcome
        self._numbered = False

    def __getitem__(self, block: int) -> Outcome:
        """Return the outcome on a block."""
        known = self._known[block]
        if isinstance(known, Outcome):
            return known
        assert self._cells is not None  # noqa: S101  (for the type checker)
        outcome = self._cells.outcome(known)
        self._known[block], self._numbered = outcome, False
        return outcome

    def __iter__(self) -> Iterator[int]:
        """Yield the blocks."""
        return iter(self._known)

    def __len__(self) -> int:
        """Return how many blocks there are."""
        return len(self._known)

    def __contains__(self, block: object) -> bool:
        """Return whether there is an outcome on a block."""
        return block in self._known

    def values_on(self, blocks: Iterable[int]) -> list[float]:
        """Return the values on some blocks, leaving out blocks without a value."""
        chosen = [block for block in blocks if block in self._known]
        if self._cells is not None and self._numbered:
            values = self._cells.values[[self._known[block] for block in chosen]]
            return values[~np.isnan(values)].tolist()  # type: ignore[no-any-return]
        return [value for block in chosen if (value := self[block].value) is not None]

    def unsuccessful(self) -> list[Outcome]:
        """Return the outcomes of another status than "ok"."""
        known: Iterable[Any] = self._known.values()
        if self._cells is not None:
            others = self._cells.others
            if self._numbered and not others:
                return []
            known = [others.get(one) if isinstance(one, int) else one for one in known]
        return [outcome for outcome in known if outcome is not None and outcome.status != "ok"]


_NONE = Column()
_MANY = 1000  # rows, of which outcomes are not made at once


class Failure(NamedTuple):
    """One cell without a value."""

    block: int
    candidate: int
    status: Status
    message: str


class Table:
    """Outcomes by block and candidate; costs are minimised values, +inf for a failed cell.

    Of run times, where some are capped on a block, all of its costs are as with the least cap. An
    outcome that is added again, with a larger bound, takes the place of the first.
    """

    def __init__(self, *, maximize: bool = False, runtime: Runtime | None = None) -> None:
        self.maximize = maximize
        self.runtime = runtime
        self.rows: list[Row] = []
        self.failures: list[Failure] = []
        self._is_usable: dict[int, bool] = {}
        self._n_usable = 0
        self.repeated: set[int] = set()  # blocks that only repeat others
        self.incomplete: set[int] = set()  # blocks with cells that are still to come
        self._columns: defaultdict[int, Column] = defaultdict(Column)
        self._n_in_columns = 0  # rows
        self._successes: dict[int, array[float]] = {}
        self._n_in_successes = 0  # rows
        self._sums: dict[int, tuple[int, tuple[float, ...]]] = {}
        self.spent: float | None = None  # money; None: no outcome says what it cost

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._is_usable)

    def copy(self) -> Table:
        """Return the present state; rows are shared, as they never change."""
        twin = Table(maximize=self.maximize, runtime=self.runtime)
        twin.rows, twin.failures = self.rows.copy(), self.failures.copy()
        twin._is_usable, twin._n_usable = self._is_usable.copy(), self._n_usable
        twin.repeated, twin.incomplete = self.repeated.copy(), self.incomplete.copy()
        twin.spent = self.spent
        return twin

    def of_metric(self, name: str, *, maximize: bool) -> Table:
        """Return the table of a metric: its values instead of the raced ones."""
        twin = Table(maximize=maximize)
        for row in self.rows:
            others = {place: o for place, o in row.others.items() if o.value is None}
            values = row.of_metric(name)
            twin.append(row._replace(values=values, others=others))
        twin.repeated, twin.incomplete = self.repeated.copy(), self.incomplete.copy()
        return twin

    def add(
        self,
        block: int,
        candidates: NDArray[np.intp] | Sequence[int],
        told: Sequence[Outcome],
    ) -> Row:
        """Add outcomes of candidates on a block; return their row."""
        return self.append(Row.of(block, candidates, told))

    def add_pending(self, block: int, candidates: Sequence[int], told: Sequence[Outcome]) -> None:
        """Add outcomes of a block with cells that are still to come: it may yet be solved."""
        if block not in self._is_usable:
            self.incomplete.add(block)
        self.add(block, candidates, told)

    def append(self, row: Row) -> Row:
        """Add a row, and return it."""
        self.rows.append(row)
        for place, outcome in row.others.items():
            if outcome.value is None:
                candidate = int(row.candidates[place])
                self.failures.append(Failure(row.block, candidate, outcome.status, outcome.message))
            if outcome.spend is not None:
                self.spent = (self.spent or 0.0) + outcome.spend
        was_usable = self._is_usable.get(row.block, False)
        self._is_usable[row.block] = is_usable = was_usable or row.is_usable
        self._n_usable += is_usable and not was_usable
        return row

    @property
    def n_usable(self) -> int:
        """How many blocks are usable."""
        return self._n_usable - sum(self._is_usable[block] for block in self.repeated)

    def set_repeated(self, *blocks: int) -> None:
        """Set blocks aside that only repeat others, or take all of these in again."""
        self.repeated = {*self.repeated, *blocks} if blocks else set()
        self._successes, self._n_in_successes, self._sums = {}, 0, {}

    def is_usable(self, block: int) -> bool:
        """Return whether any candidate has succeeded on a block that does not repeat another."""
        return self._is_usable.get(block, False) and block not in self.repeated

    @property
    def n_unsolved(self) -> int:
        """How many complete blocks that do not repeat others no candidate has succeeded on."""
        others = self.repeated | self.incomplete
        return sum(not ok for block, ok in self._is_usable.items() if block not in others)

    @property
    def rejected(self) -> set[int]:
        """The candidates that an evaluation has rejected."""
        return {int(row.candidates[i]) for row in self.rows for i in row.places("rejected")}

    @property
    def set_aside(self) -> list[int]:
        """The complete blocks on which all candidates failed, and the blocks that only repeat others."""
        unsolved = (b for b, ok in self._is_usable.items() if not ok and b not in self.incomplete)
        return [*{*unsolved, *self.repeated}]

    def _index(self) -> None:
        """Sort the outcomes of new rows by candidate."""
        columns = self._columns
        if not columns and len(self.rows) >= _MANY:
            self._index_at_once()
        for row in self.rows[self._n_in_columns :]:
            for candidate, outcome in zip(row.candidates.tolist(), row.outcomes(), strict=True):
                columns[candidate].add(row.block, outcome)
        self._n_in_columns = len(self.rows)

    def _index_at_once(self) -> None:
        """Sort the cells of all rows by candidate."""
        cells = _Cells.of(self.rows)
        blocks = np.array([row.block for row in self.rows])[cells.numbers]
        for candidate, own in _by_candidate(self.rows):
            numbers = dict(zip(blocks[own].tolist(), own.tolist(), strict=True))
            self._columns[candidate] = Column(cells, numbers)
        self._n_in_columns = len(self.rows)

    def of(self, candidate: int) -> Column:
        """Return the outcomes of a candidate, by block."""
        if self._n_in_columns < len(self.rows):
            self._index()
        return self._columns.get(candidate, _NONE)

    def _values_of(self, candidate: int) -> array[float]:
        """Return the values of a candidate's successful cells, as they came."""
        if self._n_in_successes < len(self.rows):
            self._sort_successes()
        return self._successes.get(candidate, array("d"))

    def _sort_successes(self) -> None:
        """Sort the values of new rows by candidate."""
        successes = self._successes
        new = [r for r in self.rows[self._n_in_successes :] if r.block not in self.repeated]
        if len(new) >= _MANY:
            values = np.concatenate([row.values for row in new])
            for number, own in _by_candidate(new):
                part = values[own]
                successes.setdefault(number, array("d")).frombytes(part[~np.isnan(part)].tobytes())
            new = []
        for row in new:
            for number, value in zip(row.candidates.tolist(), row.values.tolist(), strict=True):
                if value == value:  # noqa: PLR0124  (not NaN)
                    successes.setdefault(number, array("d")).append(value)
        self._n_in_successes = len(self.rows)

    def mean(self, candidate: int) -> float | None:
        """Return the mean value of a candidate over its successful cells, None without any.

        Of run times, the mean score of all its cells; if capped below the limit, the cap's score.
        """
        if self.runtime is not None:
            told = self.of(candidate).values()
            if all(outcome.value is None for outcome in told):
                return None
            return math.fsum(map(self.runtime.score, told)) / len(told)
        values = self._values_of(candidate)
        if not values:
            return None
        count, parts = self._sums.get(candidate, (0, ()))
        if count == len(values):
            return parts[0] / count
        new = [*parts, *values[count:]]
        try:
            total = math.fsum(new)
        except OverflowError:  # values near the largest float
            return mean_of(values)
        rest = math.fsum([*new, -total])
        least = math.fsum([*new, -total, -rest])
        self._sums[candidate] = len(values), (total, rest, least)
        return total / len(values)

    def common(self, candidates: Sequence[int]) -> list[int]:
        """Return the blocks on which all of these have been evaluated, ascending."""
        shared = set(self.of(candidates[0]))
        for candidate in candidates[1:]:
            shared.intersection_update(self.of(candidate))
        return sorted(shared - self.repeated)

    def costs(self, candidates: Sequence[int]) -> NDArray[np.float64]:
        """Return costs (blocks, candidates) on the usable blocks that all of them have seen."""
        return self._costs(candidates, filter(self.is_usable, self.common(candidates)))

    def all_costs(
        self, candidates: Sequence[int], instance_of: Callable[[int], int | None] | None = None
    ) -> NDArray[np.float64]:
        """Return costs (blocks, candidates) on usable blocks any has seen; NaN: not evaluated.

        With `instance_of`, also on blocks that none of their candidates solved, if any candidate
        solved the instance on another block; and run times as recorded, capped or not.
        """
        counted = self.counted(candidates, instance_of)
        return self._costs(candidates, counted, shared_caps=instance_of is None)

    def counted(
        self, candidates: Sequence[int], instance_of: Callable[[int], int | None] | None = None
    ) -> list[int]:
        """Return the blocks of `all_costs`, ascending."""
        blocks = sorted(set().union(*map(self.of, candidates)))
        if instance_of is None:
            return [*filter(self.is_usable, blocks)]
        of = {block: instance_of(block) for block in self._is_usable}
        solved = {of[block] for block in of if self.is_usable(block)} - {None}
        if not solved:
            return [*filter(self.is_usable, blocks)]
        return [b for b in blocks if b not in self.repeated and of[b] in solved]

    def _costs(
        self, candidates: Sequence[int], blocks: Iterable[int], *, shared_caps: bool = True
    ) -> NDArray[np.float64]:
        at = {block: i for i, block in enumerate(blocks)}
        values = np.full((len(at), len(candidates)), np.nan)
        is_known = np.zeros(values.shape, dtype=np.bool_)
        if rows := [row for row in self.rows if row.block in at]:
            numbers = np.concatenate([row.candidates for row in rows])
            column = np.full(max([*candidates, int(numbers.max())]) + 1, -1)
            column[list(candidates)] = np.arange(len(candidates))
            is_wanted = column[numbers] >= 0
            lines = np.repeat([at[row.block] for row in rows], [len(row.values) for row in rows])
            cells = lines[is_wanted], column[numbers[is_wanted]]
            values[cells] = np.concatenate([row.values for row in rows])[is_wanted]
            is_known[cells] = True
        costs = as_costs(values, maximize=self.maximize)
        if self.runtime is not None and shared_caps:
            costs = np.minimum(costs, self._caps(candidates, at))
        return np.where(is_known & np.isnan(values), np.inf, costs)

    def _caps(self, candidates: Sequence[int], at: Mapping[int, int]) -> NDArray[np.float64]:
        """Return the least cap of any of these candidates on each block, shape (blocks, 1)."""
        caps = np.full((len(at), 1), np.inf)
        for candidate in candidates:
            for block, outcome in self.of(candidate).items():
                if outcome.status == "capped" and outcome.value is not None and block in at:
                    caps[at[block]] = min(caps[at[block], 0], outcome.value)
        return caps

    def values(self, n_candidates: int) -> NDArray[np.float64]:
        """Return values (blocks, n_candidates), rows by block; NaN: not evaluated, or failed."""
        at = {block: i for i, block in enumerate(sorted(self._is_usable))}
        values = np.full((len(at), n_candidates), np.nan)
        for row in self.rows:
            values[at[row.block], row.candidates] = row.values
        return values

    def cells(self) -> Iterator[tuple[int, int, Outcome]]:
        """Yield (block, candidate, outcome) in the order of blocks, then of candidates."""
        self._index()
        by_block: dict[int, list[int]] = {block: [] for block in sorted(self._is_usable)}
        for candidate in sorted(self._columns):
            for block in self._columns[candidate]:
                by_block[block].append(candidate)
        for block, candidates in by_block.items():
            for candidate in candidates:
                yield block, candidate, self._columns[candidate][block]


def _by_candidate(rows: Sequence[Row]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each candidate with the places of its cells in all rows joined, in their order."""
    numbers = np.concatenate([row.candidates for row in rows])
    order = numbers.argsort(kind="stable")
    found, begins = np.unique(numbers[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, begins[1:]), strict=True)


def with_success(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows of costs, shape (blocks, m), that hold a finite one."""
    return costs[np.isfinite(costs).any(axis=1)]
