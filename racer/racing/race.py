"""One race: which cells must be known next, and who is still in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import flag, whole
from racer.deciders.decider import Blocks, Decider, KnowsBudget, Verdict
from racer.deciders.names import as_decider
from racer.errors import BudgetError, RaceStateError, SettingError, warn
from racer.evaluate.cell import Cell, Outcome, all_failed, check_outcome
from racer.racing.budget import Budget
from racer.racing.events import (
    BlockCompleted,
    Callback,
    Elimination,
    Ended,
    RaceEnded,
    check_callbacks,
)
from racer.racing.pool import as_pool, as_sequence
from racer.racing.result import RaceResult
from racer.racing.table import Table
from racer.seeding import block_seed, check_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["SETTINGS", "Race"]

SETTINGS = (
    *("decider", "budget", "maximize", "seed", "deterministic"),
    *("first_test", "each_test", "min_survivors"),
)
"""The names of what makes a race, besides its candidates and instances."""


class Race:
    """A race as ask and tell: no clock, no files, no processes.

    Ask for the cells that must be known next, evaluate them in any order, tell each outcome. A
    block is complete when all its cells are told; only then can anyone be dropped, so the order
    of arrival changes nothing.

    Parameters
    ----------
    candidates : sequence
        Configurations, of any type; each once.
    instances : sequence or None
        Taken in the order given, and again with new seeds when they run out. None: a noisy
        objective without instances.
    decider : str or Decider
    budget : int or Budget
        An int means evaluations.
    maximize : bool
        Larger values are better.
    seed : int, optional
        None draws a fresh one; `RaceResult.seed` tells which.
    deterministic : bool
        The objective ignores its seed: use each instance once, then end.
    first_test, each_test : int
        Look first after so many blocks, then again after every so many. Blocks in which all
        cells failed are not counted. A deterministic race with fewer instances looks at its end.
    min_survivors : int
        End when no more candidates than this are left.
    callbacks : sequence of callable
        Each is called with every `BlockCompleted` and the `RaceEnded`.

    Raises
    ------
    CandidateError, SettingError, BudgetError
        Settings that cannot work, before anything is asked for.
    """

    def __init__(
        self,
        candidates: Sequence[Any],
        instances: Sequence[Any] | None = None,
        *,
        decider: str | Decider = "bayesian-friedman",
        budget: int | Budget,
        maximize: bool = False,
        seed: int | None = None,
        deterministic: bool = False,
        first_test: int = 5,
        each_test: int = 1,
        min_survivors: int = 1,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.configs = as_pool(candidates)
        self.instances = None if instances is None else as_sequence(instances, "instances")
        self._given = self._decider = as_decider(decider)
        self._budget = Budget.of(budget)
        self.seed = check_seed(seed)
        self._deterministic = flag(deterministic, "deterministic")
        self._first_test = self._asked_first_test = whole(first_test, "first_test", least=1)
        self._each_test = whole(each_test, "each_test", least=1)
        self._min_survivors = whole(min_survivors, "min_survivors", least=1)
        self._callbacks = check_callbacks(callbacks)
        self._check()
        if isinstance(self._decider, KnowsBudget):
            used_once = self._deterministic and self.instances is not None
            blocks = len(self.instances or ()) if used_once else None
            self._decider = self._decider.told_budget(self._budget.evaluations, blocks)

        m = len(self.configs)
        self.table = Table(m, maximize=flag(maximize, "maximize"))
        self._state = self._decider.start(m, rng_for(self.seed, "decider"))
        self._alive: NDArray[np.intp] = np.arange(m)
        self._told_apart = False
        self._pending: list[NDArray[np.float64]] = []
        self._tested_blocks = 0
        self._verdict: Verdict | None = None
        self._looked_at = self._alive
        self._eliminations: list[Elimination] = []
        self._evaluations = 0
        self._seconds = 0.0
        self._cells: dict[int, Cell] = {}
        self._told: dict[int, Outcome] = {}
        self._ended: Ended | None = None
        if m == 1:
            self._publish(self._end(Ended.ONE_CANDIDATE))
        else:
            self._advance()

    def _check(self) -> None:
        m = len(self.configs)
        if self._deterministic and self.instances is None:
            raise SettingError(
                "deterministic=True without instances: one evaluation per candidate would settle "
                "it; give instances, or deterministic=False"
            )
        if m > 1 and self._min_survivors >= m:
            raise SettingError(
                f"min_survivors={self._min_survivors} leaves nothing to race among {m} candidates"
            )
        if self._deterministic and self.instances is not None:
            self._first_test = min(self._first_test, len(self.instances))
        blocks = self._first_test
        if m > 1 and not self._budget.pays(m * blocks, evaluations=0, seconds=0.0):
            raise BudgetError(
                f"budget of {self._budget.evaluations} evaluations: {m} candidates x {blocks} "
                f"blocks before the first test are {m * blocks}; raise the budget, give fewer "
                "candidates, or lower first_test"
            )

    @property
    def settings(self) -> dict[str, Any]:
        """What makes this race: Race(configs, instances, **settings) is the same one again.

        Its keys are `SETTINGS`.
        """
        values = (
            self._given,
            self._budget,
            self.table.maximize,
            self.seed,
            self._deterministic,
            self._asked_first_test,
            self._each_test,
            self._min_survivors,
        )
        return dict(zip(SETTINGS, values, strict=True))

    @property
    def blocks_held(self) -> int:
        """How many blocks are complete."""
        return len(self.table.rows)

    @property
    def given_candidates(self) -> tuple[Any, ...]:
        """The candidates that it was given."""
        return self.configs

    @property
    def all_instances(self) -> tuple[Any, ...]:
        """The instances that evaluations may get."""
        return self.instances or ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """None beyond those of its candidates, who are all there."""
        return ()

    @property
    def ended(self) -> Ended | None:
        """Why the race ended; None while it goes on."""
        return self._ended

    @property
    def alive(self) -> tuple[int, ...]:
        """Who is still in."""
        return tuple(self._alive.tolist())

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells of the current block that have not been told; empty when over."""
        return tuple(cell for c, cell in self._asked().items() if c not in self._told)

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        """Record what came of a cell that was asked for.

        Raises
        ------
        RaceStateError
            The cell was not asked for, or has been told before, or this is no outcome.
        """
        if not isinstance(cell, Cell):
            raise RaceStateError(f"{cell!r} is not a cell: tell only cells that ask() returned")
        check_outcome(outcome)
        asked = self._asked().get(cell.candidate)
        if asked is None or asked.block != cell.block:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} was not asked for: tell only "
                "cells that ask() returned, within their block"
            )
        if cell.candidate in self._told:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} has been told before"
            )
        self._told[cell.candidate] = outcome
        if len(self._told) == len(self._cells):
            outcomes = [self._told[c] for c in self._cells]  # in this order, whatever came first
            self._told = {}
            self._complete_block(outcomes)

    def tell_block(self, values: ArrayLike, *, seconds: float = 0.0) -> None:
        """Tell all cells of the current block at once: as telling each, with status "ok".

        Parameters
        ----------
        values : array_like, shape (len(alive),)
            Finite, in the order of `alive`.
        seconds : float >= 0
            What they took together.

        Raises
        ------
        RaceStateError
            The race is over, some cells of the block have been told, or the values do not fit.
        """
        row = np.array(values, dtype=np.float64)
        if self._ended is not None or self._told:
            raise RaceStateError("tell_block() is for a block of which nothing has been told")
        if row.shape != self._alive.shape or not np.isfinite(row).all():
            raise RaceStateError(
                f"give {len(self._alive)} finite values, one per candidate in `alive`; tell() takes "
                "failures"
            )
        if not 0.0 <= seconds < math.inf:
            raise RaceStateError(f"seconds={seconds!r}: give a finite number >= 0")
        self._seconds += seconds
        self._complete_block(row)

    def tell_outcomes(self, outcomes: Sequence[Outcome]) -> None:
        """Tell all cells of the current block at once: as telling each.

        Parameters
        ----------
        outcomes : sequence of Outcome
            In the order of `alive`.

        Raises
        ------
        RaceStateError
            The race is over, some cells of the block have been told, or their number is wrong.
        """
        told = list(outcomes)
        if self._ended is not None or self._told or len(told) != len(self._alive):
            raise RaceStateError(
                f"tell_outcomes() is for a block of which nothing has been told: give "
                f"{len(self._alive)} outcomes, one per candidate in `alive`"
            )
        for outcome in told:
            check_outcome(outcome)
        self._complete_block(told)

    @property
    def has_looked(self) -> bool:
        """Whether the decider has seen any block."""
        return self._verdict is not None

    def result(self) -> RaceResult:
        """Return what is known: the result of a race that has ended, or the state of one."""
        survivors = self._ranked()
        return RaceResult(
            configs=self.configs,
            best_index=self._best(survivors),
            survivors=survivors,
            ended=self._ended or Ended.INTERRUPTED,
            evaluations=self._evaluations + len(self._told),
            seconds=self._seconds + math.fsum(o.seconds for o in self._told.values()),
            seed=self.seed,
            table=self.table,
            dropped=tuple(self._eliminations),
        )

    def _ranked(self) -> tuple[int, ...]:
        """Return who is still in, best standing first."""
        if self._verdict is None:
            return self.alive
        ranked = self._looked_at[np.argsort(self._verdict.standing, kind="stable")]
        return tuple(ranked[np.isin(ranked, self._alive)].tolist())

    def _best(self, survivors: tuple[int, ...]) -> int | None:
        """Return the best survivor; None where nothing speaks for one rather than another."""
        if len(self.configs) == 1:
            return 0
        if not self._told_apart or self._tested_blocks < self._first_test:
            return None
        if len(survivors) == 1:
            return survivors[0]
        if self._verdict is None or (self._verdict.best is None and not self._eliminations):
            return None
        return survivors[0]

    def _advance(self) -> RaceEnded | None:
        """End the race where it is over, or where no block can be begun."""
        block = len(self.table.rows)
        if len(self._alive) <= self._min_survivors:
            return self._end(Ended.DECIDED)
        if len(self.table.set_aside) == block >= self._first_test:
            return self._end(Ended.ALL_FAILED)
        if self._is_undecided():
            return self._end(Ended.UNDECIDED)
        if self._deterministic and self.instances is not None and block >= len(self.instances):
            return self._end(Ended.INSTANCES)
        if not self._budget.pays(
            len(self._alive), evaluations=self._evaluations, seconds=self._seconds
        ):
            return self._end(Ended.BUDGET)
        return None

    def _asked(self) -> dict[int, Cell]:
        """Return the cells of the current block by candidate; none when the race is over."""
        if not self._cells and self._ended is None:
            block, configs = len(self.table.rows), self.configs
            index, seed = self._instance_index(block), block_seed(self.seed, block)
            instance = None if index is None or self.instances is None else self.instances[index]
            self._cells = {
                c: Cell(block, c, configs[c], instance, seed) for c in self._alive.tolist()
            }
        return self._cells

    def _instance_index(self, block: int) -> int | None:
        return None if self.instances is None else block % len(self.instances)

    def _complete_block(self, told: list[Outcome] | NDArray[np.float64]) -> None:
        block = len(self.table.rows)
        place = self._instance_index(block), block_seed(self.seed, block), self._alive
        self._evaluations += len(told)
        self._cells = {}
        outcomes: list[Outcome] = []
        costs: NDArray[np.float64] | None
        if isinstance(told, list):
            outcomes = told
            self._seconds += math.fsum(outcome.seconds for outcome in told)
            costs = self.table.add(*place, told)
        else:
            costs = self.table.add_values(*place, told)
        eliminated: tuple[Elimination, ...] = ()
        if costs is not None:
            self._pending.append(costs)
            self._told_apart = self._told_apart or bool(costs.min() < costs.max())
            if self._test_is_due():
                eliminated = self._look(block)
        completed = self._completed(block, outcomes, eliminated) if self._callbacks else None
        ended = self._advance()
        self._publish(completed, ended)
        if costs is None:
            self._set_aside(block, outcomes)
        if self._ended is Ended.BUDGET and self._fell_short():
            warn(
                f"the budget ended after {self._tested_blocks} usable blocks, before the first test "
                f"({self._first_test}): there is no best; give more seconds, fewer candidates, or a "
                "lower first_test",
            )

    def _set_aside(self, block: int, told: Sequence[Outcome]) -> None:
        """Warn that all failed in a block."""
        warn(f"block {block} is set aside: {all_failed(told)}")

    def _fell_short(self) -> bool:
        """Say whether the seconds, which nobody can know before, are too few for a test."""
        needed = self._evaluations + len(self._alive)
        return self._budget.ends_by_time(needed) and self._tested_blocks < self._first_test

    def _test_is_due(self) -> bool:
        usable = self._tested_blocks + len(self._pending)
        return usable >= self._first_test and (usable - self._first_test) % self._each_test == 0

    def _look(self, block: int) -> tuple[Elimination, ...]:
        """Let the decider see the pending blocks; drop whom it drops, if enough blocks are in."""
        self._looked_at = self._alive
        self._tested_blocks += len(self._pending)
        blocks = Blocks(self._alive, np.array(self._pending), self._evaluations)
        self._pending = []
        self._state, self._verdict = self._decider.decide(self._state, blocks)
        if not self._verdict.dropped or self._tested_blocks < self._first_test:
            return ()
        spare = len(self._alive) - self._min_survivors
        eliminated = tuple(
            Elimination(
                block, drop.candidate, drop.reason, drop.against, drop.probability, drop.measure
            )
            for drop in self._verdict.dropped[:spare]
        )
        self._eliminations += eliminated
        gone = [drop.candidate for drop in eliminated]
        self._alive = self._alive[~np.isin(self._alive, gone)]
        return eliminated

    def _end(self, ended: Ended) -> RaceEnded:
        """Take a last look, and say why it is over: what is worse news comes first."""
        eliminated: tuple[Elimination, ...] = ()
        if self._pending:
            eliminated = self._look(len(self.table.rows) - 1)
        if len(self.configs) > 1:
            if len(self.table.set_aside) == len(self.table.rows):
                ended = Ended.ALL_FAILED
            elif not self._told_apart and not (ended is Ended.BUDGET and self._fell_short()):
                ended = Ended.ALL_EQUAL
            elif len(self._alive) <= self._min_survivors:
                ended = Ended.DECIDED
            elif self._is_undecided():
                ended = Ended.UNDECIDED
        self._ended = ended
        return RaceEnded(ended, eliminated)

    def _is_undecided(self) -> bool:
        verdict = self._verdict
        return verdict is not None and verdict.undecided and not verdict.dropped

    def _completed(
        self, block: int, outcomes: list[Outcome], eliminated: tuple[Elimination, ...]
    ) -> BlockCompleted:
        best = None
        if self._verdict is not None and self._verdict.best is not None:
            best = next(iter(self._ranked()))
        return BlockCompleted(
            block=block,
            alive=self.alive,
            best=best,
            best_mean=None if best is None else self.table.mean(best),
            eliminated=eliminated,
            evaluations=self._evaluations,
            seconds=self._seconds,
            failed=sum(outcome.status != "ok" for outcome in outcomes),
        )

    def _publish(self, *events: BlockCompleted | RaceEnded | None) -> None:
        """Tell the callbacks, once the race is ready for whatever they do."""
        for event in events:
            if event is not None:
                for callback in self._callbacks:
                    callback(event)
