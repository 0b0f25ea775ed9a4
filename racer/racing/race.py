"""One race: which cells must be known next, and which candidates are left."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._numerics import with_ties
from racer.deciders.decider import Blocks, KnowsBudget, Verdict
from racer.deciders.verdicts import take_verdict, who_stays
from racer.errors import BudgetError, RaceStateError, SettingError, warn
from racer.evaluate.outcome import Cell, Outcome, all_failed, bounded, check_outcome
from racer.racing.contest import Description
from racer.racing.events import (
    BlockCompleted,
    Callback,
    Elimination,
    Ended,
    RaceEnded,
    check_callbacks,
)
from racer.racing.pool import as_pool, as_sequence
from racer.racing.repeats import Repeats
from racer.racing.result import RaceResult
from racer.racing.rules import Rules
from racer.racing.runtime import LEADERS
from racer.racing.stream import Stream
from racer.racing.table import Table
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from racer.racing.rules import RulesGiven

__all__ = ["QuietRace", "Race"]


class Race:
    """A race as ask and tell: no clock, no files, no processes.

    Ask for the cells that must be known next, evaluate them in any order, tell each outcome. A
    block is complete when all its cells are told; only then can anyone be eliminated, so the
    order of arrival changes nothing. Nothing happens before the first `ask` or `tell_block`.

    Parameters
    ----------
    candidates : sequence
        Configurations, of any type; each once.
    instances : sequence or None
        Taken in the order given, and again with new seeds when they run out. None: a noisy
        objective without instances.
    callbacks : sequence of callable
        Each is called with every `BlockCompleted` and the `RaceEnded`.
    **rules
        Budget, decider, seed, ..: the parameters of `racer.racing.Rules`, by name.

    Raises
    ------
    CandidateError, SettingError, BudgetError
        Settings that cannot work, before anything is asked for.

    Examples
    --------
    >>> import racer
    >>> race = racer.Race([3.0, 1.0, 2.0], budget=60, seed=1)
    >>> while cells := race.ask():
    ...     for cell in cells:
    ...         race.tell(cell, racer.Outcome("ok", cell.config))
    >>> race.result().best
    1.0
    """

    def __init__(
        self,
        candidates: Sequence[Any],
        instances: Sequence[Any] | None = None,
        *,
        callbacks: Sequence[Callback] = (),
        **rules: Unpack[RulesGiven],
    ) -> None:
        self.configs = as_pool(candidates)
        self.instances = None if instances is None else as_sequence(instances, "instances")
        self.rules = Rules.given(rules)
        self._callbacks = list(check_callbacks(callbacks))
        self._budget = self.rules.one_budget
        n_instances = None if self.instances is None else len(self.instances)
        self._stream = Stream(
            n_instances, self.seed, bool(self.rules.deterministic), "given", self.rules.block_size
        )
        self._repeats = Repeats(self._stream, self.rules)
        self._length = self._stream.length
        self._first_test = self.rules.least_blocks(n_instances)
        self._check()
        decider = self.rules.decider
        if isinstance(decider, KnowsBudget):
            decider = decider.told_budget(self._budget.evaluations, self._stream.length)
        self._decider = decider

        m = len(self.configs)
        self._table = Table(maximize=self.rules.maximize, runtime=self.rules.runtime)
        self._state = self._decider.start(m, rng_for(self.seed, "decider"))
        self._alive: NDArray[np.intp] = np.arange(m)
        self._alive.setflags(write=False)  # deciders are shown it
        self._block = 0
        self._has_begun = False
        self._told_apart = False
        self._pending: list[NDArray[np.float64]] = []
        self._held: list[NDArray[np.float64]] = []  # not known to be evidence
        self._n_held = 0  # blocks
        self._tested_blocks = 0
        self._verdict: Verdict | None = None
        self._tested: NDArray[np.intp] = self._alive
        self._eliminations: list[Elimination] = []
        self._rejected = 0
        self._evaluations = 0
        self._seconds = 0.0
        self._cells: dict[tuple[int, int], Cell] = {}  # by block and candidate
        self._told: dict[tuple[int, int], Outcome] = {}
        self._bound: float | None = None if self.rules.runtime is None else self.rules.runtime.limit
        self._capped: dict[int, list[int]] = {}  # blocks on which a candidate was, below the limit
        self._over: Ended | None = None  # but for the evaluations that are made again
        self._ended: Ended | None = None

    def _check(self) -> None:
        m = len(self.configs)
        if m > 1 and self.rules.min_survivors >= m:
            raise SettingError(
                f"min_survivors={self.rules.min_survivors} leaves nothing to race among {m} "
                "candidates"
            )
        blocks = self._first_test
        if m > 1 and not self._budget.pays(m * blocks, evaluations=0, seconds=0.0):
            raise BudgetError(
                f"budget of {self._budget.evaluations} evaluations: {m} candidates x {blocks} "
                f"blocks before the first test are {m * blocks}; raise the budget, give fewer "
                "candidates, or lower first_test"
            )

    @property
    def seed(self) -> int:
        """The seed that repeats the race."""
        return self.rules.seed or 0

    @property
    def settings(self) -> dict[str, Any]:
        """What makes this race: Race(configs, instances, **settings) is the same one again."""
        return self.rules.settings()

    def description(self) -> Description:
        """Return what the race is made of."""
        return Description(self.settings, self.configs, self.instances)

    def watch(self, callback: Callback) -> None:
        """Call `callback` with each event from now on."""
        self._callbacks.append(callback)

    @property
    def ended(self) -> Ended | None:
        """Why the race ended; None while it goes on."""
        return self._ended

    @property
    def alive(self) -> tuple[int, ...]:
        """The candidates that have not been eliminated."""
        return tuple(self._alive.tolist())

    @property
    def ranked(self) -> tuple[int, ...]:
        """The candidates that have not been eliminated, best standing first."""
        if self._verdict is None:
            return self.alive
        ranked = self._tested[np.argsort(self._verdict.standing, kind="stable")]
        if len(ranked) > len(self._alive):
            ranked = ranked[np.isin(ranked, self._alive)]
        return tuple(ranked.tolist())

    @property
    def n_blocks(self) -> int:
        """How many blocks are complete."""
        return self._block

    @property
    def tested_blocks(self) -> int:
        """How many blocks the decider has seen."""
        return self._tested_blocks

    def ask(self) -> tuple[Cell, ...]:
        """Return the cells of the current block that have not been told; empty when over."""
        self._begin()
        return tuple(cell for key, cell in self._asked().items() if key not in self._told)

    def ahead(self, blocks: int) -> Iterator[Cell]:
        """Yield cells of up to so many blocks after this one, of those that are likely to be in.

        Block by block, and the best standing first; only what instances and budget allow. A cap is
        as it would be now, times the slack: told under a smaller one, the outcome is the same.
        """
        if not self._asked() or self._over is not None:
            return
        runtime = self.rules.runtime
        bound = None if runtime is None else runtime.slackened(self._bound or 0.0)
        cells = len(self._alive)
        for block, ranked in enumerate(islice(self.expected(), blocks), self._block + 1):
            cells += len(ranked)
            if (self._length is not None and block >= self._length) or not self._budget.pays(
                cells, evaluations=self._evaluations, seconds=self._seconds
            ):
                return
            yield from self._cells_of(block, ranked, bound)

    def expected(self) -> Iterator[Sequence[int]]:
        """Yield who is likely to be in, block by block from the next one, best standing first.

        All that are left, unless the decider plans how many it keeps at each test, until it keeps
        no more than the race has to.
        """
        ranked: Sequence[int] = self._ranked_so_far()
        used, blocks = self._evaluations, self._block - self._n_held
        seen = self._tested_blocks + len(self._pending)
        while True:
            used, blocks, seen = used + len(ranked), blocks + 1, seen + 1
            if self.rules.is_due(seen, self._first_test, blocks):
                ranked = who_stays(self._decider, ranked, len(self.configs), used, seen)
                if len(ranked) <= self.rules.min_survivors:
                    return
            yield ranked

    def _ranked_so_far(self) -> tuple[int, ...]:
        """Return those left, best standing first; before the first test, by their mean ranks."""
        if self._verdict is not None or not self._pending:
            return self.ranked
        places = np.array(self._pending).argsort(axis=1, kind="stable").argsort(axis=1)
        return tuple(self._alive[places.mean(axis=0).argsort(kind="stable")].tolist())

    def tell(self, cell: Cell, outcome: Outcome) -> None:
        """Record the outcome of a cell that was asked for.

        Raises
        ------
        RaceStateError
            The cell was not asked for, or has been told before, or this is not an outcome.
        """
        if not isinstance(cell, Cell):
            raise RaceStateError(f"{cell!r} is not a cell: tell only cells that ask() returned")
        check_outcome(outcome)
        self._begin()
        key = cell.block, cell.candidate
        asked = self._asked().get(key)
        if asked is None or cell.held_out:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} was not asked for: tell only "
                "cells that ask() returned, within their block"
            )
        if key in self._told:
            raise RaceStateError(
                f"candidate {cell.candidate} on block {cell.block} has been told before"
            )
        self._told[key] = under(asked.bound, outcome)
        if len(self._told) == len(self._cells):
            outcomes = [self._told[k] for k in self._cells]  # in this order, whatever came first
            self._told = {}
            if self._over is None:
                self._complete_block(outcomes)
            else:
                self._conclude(outcomes)

    def tell_block(
        self, told: ArrayLike | Sequence[Outcome], *, seconds: float | None = None
    ) -> None:
        """Tell all cells of the current block at once: as telling each.

        Parameters
        ----------
        told : array_like or sequence of Outcome, shape (len(alive),)
            Finite values, which count as status "ok", or outcomes; in the order of `alive`.
        seconds : float >= 0, optional
            What values took together; outcomes say that themselves.

        Raises
        ------
        RaceStateError
            The race is over, some cells of the block have been told, or this does not fit.
        """
        self._begin()
        if self._ended is not None or self._told or self._over is not None:
            raise RaceStateError("tell_block() is for a block of which nothing has been told")
        listed: list[Any] = list(told) if isinstance(told, list | tuple) else []
        if any(isinstance(item, Outcome) for item in listed):
            for outcome in listed:
                check_outcome(outcome)
            if len(listed) != len(self._alive):
                raise self._unfit()
            self._complete_block([under(self._bound, outcome) for outcome in listed])
            return
        try:
            row = np.array(told, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._unfit() from None
        if row.shape != self._alive.shape or not np.isfinite(row).all():
            raise self._unfit()
        if not 0.0 <= (seconds or 0.0) < math.inf:
            raise RaceStateError(f"seconds={seconds!r}: give a finite number >= 0")
        if self.rules.runtime is not None:
            told_each = [Outcome("ok", value, value) for value in row.tolist()]
            self._complete_block([under(self._bound, outcome) for outcome in told_each])
            return
        self._seconds += seconds or 0.0
        self._complete_block(row)

    def _unfit(self) -> RaceStateError:
        return RaceStateError(
            f"give {len(self._alive)} finite values, one per candidate in `alive`, or as many "
            "outcomes"
        )

    def result(self) -> RaceResult:
        """Return what is known: the result of a race that has ended, or the state of one."""
        survivors = self._best_first()
        return RaceResult(
            configs=self.configs,
            best_index=self._best(survivors),
            survivors=survivors,
            ended=self._ended or Ended.INTERRUPTED,
            evaluations=self._evaluations + len(self._told),
            seconds=self._seconds + math.fsum(o.seconds for o in self._told.values()),
            seed=self.seed,
            known=self._table.copy(),
            stream=self._stream,
            dropped=tuple(self._eliminations),
            rules=self.rules,
            instances=self.instances,
        )

    def _begin(self) -> None:
        """End a race that is over before it begins."""
        if self._has_begun:
            return
        self._has_begun = True
        if len(self.configs) == 1:
            self._publish(self._end(Ended.ONE_CANDIDATE))
        else:
            self._publish(self._advance())

    def _best_first(self) -> tuple[int, ...]:
        """Return those still in, the best first: by standing, or by the criterion of run times.

        Those whose times are known up to the limit come before those that are capped.
        """
        ranked, runtime = self.ranked, self.rules.runtime
        if runtime is None or self._verdict is None:
            return ranked
        known = [c for c in ranked if not self._capped.get(c)] or list(ranked)
        costs = runtime.as_costs(self._table.costs(known)).mean(axis=0)
        first = [known[i] for i in costs.argsort(kind="stable").tolist()]
        return (*first, *(c for c in ranked if c not in known))

    def _best(self, survivors: tuple[int, ...]) -> int | None:
        """Return the best survivor; None where nothing speaks for one rather than another."""
        if len(self.configs) == 1:
            return 0
        if not survivors or not self._table.n_usable:
            return None
        tested = self._told_apart and self._tested_blocks >= self._first_test
        if len(survivors) == 1 and (tested or self._is_left_alone):
            return survivors[0]
        if not tested or self._verdict is None:
            return None
        return None if self._verdict.best is None and not self._eliminations else survivors[0]

    @property
    def _is_left_alone(self) -> bool:
        """Whether all candidates but one have been rejected."""
        return self._rejected == len(self.configs) - 1

    def _advance(self) -> RaceEnded | None:
        """End the race where it is over; first ask for what was capped again, if that can be paid."""
        ended = self._why_over()
        if ended is not None and self._has_to_run_again():
            self._over = ended
            return None
        return None if ended is None else self._end(ended)

    def _why_over(self) -> Ended | None:
        """Say why the race is over, or no block can be begun; None where it goes on."""
        if len(self._alive) <= self.rules.min_survivors:
            return Ended.DECIDED if len(self._alive) else Ended.ALL_REJECTED
        if not self._table.n_usable and self._block >= self._first_test:
            return Ended.ALL_FAILED
        if self._is_undecided():
            return Ended.UNDECIDED
        if self._length is not None and self._block >= self._length:
            return Ended.INSTANCES
        if not self._pays(len(self._alive) + self._reserve()):
            return Ended.BUDGET
        return None

    def _pays(self, cells: int, extra: float = 0.0) -> bool:
        seconds = self._seconds
        return self._budget.pays(cells, evaluations=self._evaluations, seconds=seconds, extra=extra)

    def _reserve(self) -> int:
        """Return how many evaluations of the leaders may be made again after one more block."""
        if self.rules.runtime is None or self._verdict is None:
            return 0
        return sum(len(self._capped.get(c, ())) + 1 for c in self.ranked[:LEADERS])

    def _has_to_run_again(self) -> bool:
        """Ask for cells of survivors that were capped again; say whether there are any."""
        runtime = self.rules.runtime
        if runtime is None or not self._capped:
            return False
        cells: list[Cell] = []
        extra = 0.0
        for candidate in self.ranked:
            blocks = self._capped.get(candidate, ())
            at = [self._table.of(candidate)[block].value or 0.0 for block in blocks]
            extra += sum(map(runtime.slackened, at))  # what they may be expected to take
            if not self._pays(len(cells) + len(blocks), extra):
                break
            cells += [self._cells_of(b, [candidate], runtime.limit)[0] for b in blocks]
        self._cells = {(cell.block, cell.candidate): cell for cell in cells}
        return bool(cells)

    def _asked(self) -> dict[tuple[int, int], Cell]:
        """Return the cells that must be known next; none when the race is over."""
        if not self._cells and self._ended is None:
            cells = self._cells_of(self._block, self._alive.tolist(), self._bound)
            self._cells = {(cell.block, cell.candidate): cell for cell in cells}
        return self._cells

    def _cells_of(self, block: int, candidates: Sequence[int], bound: float | None) -> list[Cell]:
        index, seed = self._stream.place(block)
        instance = None if index is None or self.instances is None else self.instances[index]
        return [
            Cell(block, c, self.configs[c], instance, seed, instance_index=index, bound=bound)
            for c in candidates
        ]

    def _complete_block(self, told: list[Outcome] | NDArray[np.float64]) -> None:
        block = self._block
        self._block += 1
        self._evaluations += len(told)
        self._cells = {}
        outcomes = told if isinstance(told, list) else []
        self._seconds += math.fsum(outcome.seconds for outcome in outcomes)
        costs = self._table.add(block, self._alive, told)
        is_usable = self._table.is_usable(block)
        held = self._holds(block)
        self._n_held += held
        eliminated: tuple[Elimination, ...] = ()
        stay = np.array([outcome.status != "rejected" for outcome in outcomes], dtype=np.bool_)
        self._note_capped(block, outcomes)
        if some_rejected := not stay.all():
            eliminated, costs = self._reject(block, stay), costs[stay]
        if is_usable:
            (self._held if held else self._pending).append(costs)
            self._told_apart = self._told_apart or _differ(costs)
            usable = self._tested_blocks + len(self._pending)
            due = self.rules.is_due(usable, self._first_test, self._block - self._n_held)
            if due and not held and len(self._alive) > (1 if some_rejected else 0):
                eliminated += self._test(block)
        if self.rules.runtime is not None and self._tested_blocks >= self._first_test:
            eliminated += self._drop_capped(block)
        if self._repeats.found:
            self._stream = replace(self._stream, deterministic=True)
            self._use_once(len(self.instances or ()))
        completed = self._completed(block, outcomes, eliminated) if self._callbacks else None
        ended = self._advance()
        self._publish(completed, ended)
        if not is_usable:
            self._set_aside(block, outcomes)
        if self._repeats.found:
            warn(self._repeats.message)
        if self._ended is Ended.BUDGET and self._fell_short():
            warn(
                f"the budget ended after {self._tested_blocks} usable blocks, before the first test "
                f"({self._first_test}): there is no best; give more seconds, fewer candidates, or a "
                "lower first_test"
            )

    def _holds(self, block: int) -> bool:
        """Say whether a block is kept from the decider, until it is known to be evidence."""
        was_open = self._repeats.is_open
        if not was_open:
            return False
        self._repeats.see(block, self._alive.tolist(), self._table)
        if not self._repeats.is_open and not self._repeats.found:
            self._count_held()
        return self._repeats.holds(block)

    def _count_held(self) -> None:
        """Take the blocks that were held back for evidence."""
        self._pending, self._held, self._n_held = [*self._held, *self._pending], [], 0

    def _use_once(self, n_instances: int) -> None:
        """Go on as if each instance were used once: what was held back is no evidence."""
        self._length = n_instances + self._n_held
        self._first_test = min(self._first_test, n_instances)
        self._held = []

    def _set_aside(self, block: int, told: Sequence[Outcome]) -> None:
        warn(f"block {block + 1} is set aside: {all_failed(told)}")

    def _reject(self, block: int, stay: NDArray[np.bool_]) -> tuple[Elimination, ...]:
        """Eliminate all of `alive` but those that stay, whatever the decider would say of them."""
        out = self._alive[~stay].tolist()
        self._leave(stay)
        rejected = tuple(Elimination.of_rejected(block, c) for c in out)
        self._eliminations += rejected
        self._rejected += len(rejected)
        return rejected

    def _leave(self, stay: NDArray[np.bool_]) -> None:
        """Go on with those of `alive` that stay, between two tests."""
        self._alive = self._alive[stay]
        self._alive.setflags(write=False)
        self._pending = [row[stay] for row in self._pending]
        self._held = [row[stay] for row in self._held]

    def _note_capped(self, block: int, outcomes: Sequence[Outcome]) -> None:
        """Note who was capped on a block, below the limit."""
        runtime = self.rules.runtime
        if runtime is None or self._bound is None or self._bound >= runtime.limit:
            return
        for candidate, outcome in zip(self._alive.tolist(), outcomes, strict=True):
            if outcome.status == "capped":
                self._capped.setdefault(candidate, []).append(block)

    @property
    def reference(self) -> tuple[int, ...]:
        """The candidates whose times make the cap."""
        return self.ranked[:LEADERS]

    def _next_cap(self) -> float | None:
        """Return the cap of the next block, a function of the blocks that are complete."""
        runtime = self.rules.runtime
        return None if runtime is None else runtime.cap(self._table.costs(self.reference))

    def _drop_capped(self, block: int) -> tuple[Elimination, ...]:
        """Set the cap of the next block; eliminate who took that long on every block so far."""
        self._bound = cap = self._next_cap()
        if cap is None or self.rules.runtime is None or cap >= self.rules.runtime.limit:
            return ()  # who reaches the limit need not be worse than the leaders
        leaders = self.reference
        spare = len(self._alive) - self.rules.min_survivors
        out: list[int] = []
        for candidate in reversed(self.ranked):
            took = [outcome.value for outcome in self._table.of(candidate).values()]
            if len(out) < spare and candidate not in leaders and _all_reach(took, cap):
                out.append(candidate)
        if not out:
            return ()
        self._leave(~np.isin(self._alive, out))
        capped = tuple(Elimination.of_capped(block, c, leaders[0]) for c in out)
        self._eliminations += capped
        return capped

    def _conclude(self, outcomes: Sequence[Outcome]) -> None:
        """Take in what was evaluated again with the limit, test it all, and end."""
        for cell, outcome in zip(self._cells.values(), outcomes, strict=True):
            self._table.add(cell.block, [cell.candidate], [outcome])
            self._capped.pop(cell.candidate, None)
        self._cells = {}
        self._evaluations += len(outcomes)
        self._seconds += math.fsum(outcome.seconds for outcome in outcomes)
        if self._over is not None:
            self._publish(self._end(self._over))

    def _fell_short(self) -> bool:
        """Say whether the seconds, which cannot be known before, are too few for a test."""
        needed = self._evaluations + len(self._alive)
        return self._budget.ends_by_time(needed) and self._tested_blocks < self._first_test

    def _test(self, block: int) -> tuple[Elimination, ...]:
        """Show the decider the pending blocks; eliminate those it drops, if enough are known."""
        self._tested = self._alive
        self._tested_blocks += len(self._pending)
        blocks = Blocks(self._alive, np.array(self._pending), self._evaluations)
        self._pending = []
        self._state, self._verdict = take_verdict(
            self._decider, self._state, blocks, len(self.configs)
        )
        if not self._verdict.dropped or self._tested_blocks < self._first_test:
            return ()
        spare = max(len(self._alive) - self.rules.min_survivors, 0)
        eliminated = tuple(
            Elimination(
                block, drop.candidate, drop.reason, drop.against, drop.probability, drop.measure
            )
            for drop in self._verdict.dropped[:spare]
        )
        self._eliminations += eliminated
        out = [drop.candidate for drop in eliminated]
        stay = ~np.isin(self._alive, out)
        self._alive = self._alive[stay]
        self._alive.setflags(write=False)
        self._held = [row[stay] for row in self._held]
        return eliminated

    def _end(self, ended: Ended) -> RaceEnded:
        """Test what is pending, and say why the race is over: failures first."""
        eliminated: tuple[Elimination, ...] = ()
        whole = self.rules.is_whole(self._block - self._n_held)
        if self._over is not None and whole and len(self._alive) > 1:
            eliminated = self._test_anew()
        elif self._pending and whole and len(self._alive) > (1 if self._rejected else 0):
            eliminated = self._test(self._block - 1)
        if len(self.configs) > 1 and len(self._alive):
            if not self._table.n_usable:
                ended = Ended.ALL_FAILED
            elif self._is_left_alone:
                ended = Ended.DECIDED
            elif not self._told_apart and not (ended is Ended.BUDGET and self._fell_short()):
                ended = Ended.ALL_EQUAL
            elif len(self._alive) <= self.rules.min_survivors:
                ended = Ended.DECIDED
            elif self._is_undecided():
                ended = Ended.UNDECIDED
        self._ended = ended
        return RaceEnded(ended, eliminated)

    def _test_anew(self) -> tuple[Elimination, ...]:
        """Show the decider all blocks again: those still in, with the least caps of each block."""
        self._state = self._decider.start(len(self.configs), rng_for(self.seed, "decider"))
        self._pending = list(self._table.costs(self._alive.tolist()))
        self._tested_blocks = 0
        return self._test(self._block - 1)

    def _is_undecided(self) -> bool:
        verdict = self._verdict
        return verdict is not None and verdict.undecided and not verdict.dropped

    def _completed(
        self, block: int, outcomes: list[Outcome], eliminated: tuple[Elimination, ...]
    ) -> BlockCompleted:
        best = None
        if self._verdict is not None and self._verdict.best is not None:
            best = next(iter(self._best_first()), None)
        return BlockCompleted(
            block=block,
            alive=self.alive,
            best=best,
            best_mean=None if best is None else self._table.mean(best),
            eliminated=eliminated,
            evaluations=self._evaluations,
            seconds=self._seconds,
            failed=sum(outcome.value is None for outcome in outcomes),
        )

    def _publish(self, *events: BlockCompleted | RaceEnded | None) -> None:
        """Tell the callbacks, once the race is ready for whatever they do."""
        for event in events:
            if event is not None:
                for callback in self._callbacks:
                    callback(event)


def under(bound: float | None, outcome: Outcome) -> Outcome:
    """Return an outcome as it is under a bound; RaceStateError if that is not known."""
    if outcome.status == "capped" and bound is None:
        raise RaceStateError("an outcome that is capped was told, but there is no runtime=")
    found = bounded(outcome, bound)
    if found is None:
        raise RaceStateError(
            f"an outcome capped at {outcome.value} s was told for a cell with the bound {bound} s: "
            "evaluate it again"
        )
    return found


def _all_reach(took: Sequence[float | None], cap: float) -> bool:
    """Say whether all times (None: failed) are as long as a cap."""
    return all(seconds is None or seconds >= cap for seconds in took)


def _differ(costs: NDArray[np.float64]) -> bool:
    """Say whether the costs of a block, (m,), do not all tie."""
    shown = with_ties(costs[None])
    return bool(shown.min() < shown.max())


class QuietRace(Race):
    """A race in a series, which warns of blocks that are set aside by its own numbers.

    The series knows which blocks are held back. Of run times it says the caps, and evaluates again
    what was capped.
    """

    holding = False
    leaders: tuple[int, ...] = ()  # whose times make the cap, if any of them are still in

    def set_cap(self, block: float, coming: float) -> None:
        """Say what the cap of the current block is, and that of a new one."""
        self._bound, self._coming = block, coming

    @property
    def reference(self) -> tuple[int, ...]:
        """Those of `leaders` that are still in."""
        return tuple(c for c in self.leaders if c in self._alive) or super().reference

    def _next_cap(self) -> float | None:
        return self._coming

    def _has_to_run_again(self) -> bool:
        return False

    def _reserve(self) -> int:
        return 0

    def _holds(self, block: int) -> bool:  # noqa: ARG002
        return self.holding

    def settle_repeats(self, n_instances: int | None) -> None:
        """Count the blocks held back, or drop them, and use each instance once."""
        if n_instances is None:
            self._count_held()
            return
        self._use_once(n_instances)
        if self._ended is None:
            self._publish(self._advance())

    def _set_aside(self, block: int, told: Sequence[Outcome]) -> None:
        """Warn of nothing."""
