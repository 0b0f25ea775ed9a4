"""Members of a portfolio: what one costs beside those before it, and the table of them all."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import counted
from racer.core.blocks import Place
from racer.core.budget import Budget
from racer.core.pool import canonical_key
from racer.errors import BudgetError, RaceInterrupted, RacerError, warn
from racer.evaluate.objective import USELESS, Misbehaved, judge, without_spend
from racer.evaluate.workers import outcomes_of, workers_for
from racer.results.oracle import best_of_each, failures_behind
from racer.seeding import seed_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell
    from racer.results.portfolio import PortfolioResult
    from racer.results.tuning import TuneResult

_LEAST = 10  # evaluations of a tuning
_NOT_HELD_OUT = "the values are those on the instances of the tuning"


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
        members, places = counted(size, "member"), counted(n_instances, "instance")
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
    evaluated: list[Cell],
) -> NDArray[np.float64]:
    """Return what each member costs on each instance, (instances, members, times); NaN if it failed.

    Each cell is appended to `evaluated` as its outcome comes.
    """
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
            evaluated.append(cell)
            if outcome.value is not None:
                table[cell.instance_index, cell.candidate, cell.block % times] = outcome.value
    return table


@dataclass
class Members:
    """The members of a portfolio so far."""

    tune: Callable[..., TuneResult]  # of an objective and instances, with a seed
    evaluate: Any
    instances: tuple[Any, ...]
    size: int
    times: int
    seed: int
    maximize: bool
    how: dict[str, Any]
    _members: list[Any] = field(default_factory=list)
    _tunings: list[TuneResult] = field(default_factory=list)
    _tables: list[NDArray[np.float64]] = field(default_factory=list)
    _evaluated: list[Cell] = field(default_factory=list)

    def found(self, test_instances: tuple[Any, ...] | None) -> PortfolioResult:
        """Tune all members, and return the result, on held-out instances if there are any.

        An interrupt or an error has the result so far.
        """
        note = ""
        with self._kept(lambda: f"after {len(self._tables)} of {self.size} members."):
            while len(self._members) < self.size and not note:
                note = self._add()
            if test_instances is None:
                return self._of_tuning(note)
        with self._kept(lambda: f"on held-out instances: {_NOT_HELD_OUT}.", note):
            return self._tested(test_instances, note)

    def _add(self) -> str:
        """Tune another member beside those so far, and evaluate it on all instances.

        Return a note, and add none, if each configuration of the tuning is a member, or fails.
        """
        target, instances = self.evaluate, self.instances
        if self._members:
            table = np.hstack(self._tables)
            target = Complement.of(target, instances, table, maximize=self.maximize)
            instances = tuple(range(len(instances)))
        seed = seed_for(self.seed, "member", len(self._members))
        tuning = self.tune(target, instances, seed=seed)
        self._tunings.append(tuning)
        members = {canonical_key(member) for member in self._members}
        found = (tuning.config(candidate) for candidate in best_first(tuning))
        other = next((config for config in found if canonical_key(config) not in members), None)
        if other is None:
            return (
                f"{len(members)} of {self.size} members: the next tuning found no other "
                "configuration that can be evaluated."
            )
        self._members.append(other)
        self._tables.append(self._table(self._members[-1:], self.instances, self._evaluated))
        return ""

    def _table(
        self, members: Sequence[Any], instances: tuple[Any, ...], evaluated: list[Cell]
    ) -> NDArray[np.float64]:
        given = (self.evaluate, members, instances, self.times, self.seed, self.how)
        return member_table(*given, evaluated)

    def _of_tuning(self, note: str) -> PortfolioResult:
        """Return the result on the instances of the tunings, of the members in the table."""
        return self._result(np.hstack(self._tables), self.instances, note)

    def _tested(self, instances: tuple[Any, ...], note: str) -> PortfolioResult:
        """Return the result on held-out instances; with a warning, not on these if all fail."""
        values = self._table(self._members, instances, [])
        if np.isfinite(values).any():
            return self._result(values, instances, note)
        warn(f"all evaluations on held-out instances failed: {_NOT_HELD_OUT}")
        failed = f"All evaluations on held-out instances failed: {_NOT_HELD_OUT}."
        return self._of_tuning(f"{failed} {note}".rstrip())

    def _result(
        self, values: NDArray[np.float64], instances: tuple[Any, ...], note: str
    ) -> PortfolioResult:
        from racer.results.portfolio import PortfolioResult  # noqa: PLC0415  (pandas)

        return PortfolioResult.of(
            self._members[: values.shape[1]],
            instances,
            values,
            maximize=self.maximize,
            evaluations=sum(tuning.evaluations for tuning in self._tunings) + len(self._evaluated),
            seed=self.seed,
            tunings=tuple(self._tunings),
            note=note,
        )

    @contextmanager
    def _kept(self, where: Callable[[], str], note: str = "") -> Iterator[None]:
        """Let an interrupt or an error have the result so far; `where` says where it came."""
        try:
            yield
        except KeyboardInterrupt as stop:
            if isinstance(stop, RaceInterrupted):
                self._tunings.append(stop.result)
            if not self._tunings:
                raise
            result = self._so_far(f"Interrupted {where()} {note}")
            raise RaceInterrupted(result, seed=self.seed) from None
        except RacerError as error:
            if self._tunings:
                error.result = self._so_far(f"Ended by an error {where()} {note}")
            raise

    def _so_far(self, note: str) -> PortfolioResult | TuneResult:
        """Return the result of the members so far; the first tuning, if there are none."""
        if not self._tables or not np.isfinite(np.hstack(self._tables)).any():
            return self._tunings[0]
        return self._of_tuning(note.rstrip())


def best_first(tuning: TuneResult) -> list[int]:
    """Return the leaders, then the other candidates that succeeded: on most blocks, by means."""
    known, sign = tuning.known, -1.0 if tuning.rules.maximize else 1.0
    ranks = {}
    for candidate in set(range(len(tuning.configs))) - known.rejected - {*tuning.leaders}:
        n_blocks = sum(outcome.value is not None for outcome in known.of(candidate).values())
        if (mean := known.mean(candidate)) is not None:
            ranks[candidate] = -n_blocks, sign * mean, candidate
    return [*tuning.leaders, *sorted(ranks, key=ranks.__getitem__)]
