"""Running a contest, or going on with a recorded one: `ask`, evaluate, record, `tell`."""

from __future__ import annotations

import sys
import time
from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar

from racer._checks import counted
from racer.core.contest import ContestResult, Unused
from racer.core.events import Ended, RaceEnded
from racer.core.prices import NO_SPEND
from racer.errors import ObjectiveError, RaceInterrupted, warn
from racer.evaluate.command.remedy import on_common_code
from racer.evaluate.limits.processes import not_for_evaluations
from racer.evaluate.objective import check_useful
from racer.evaluate.outcome import bounded, check_outcome
from racer.evaluate.process_state import process_put_back
from racer.evaluate.workers import number_of
from racer.results.base import Result
from racer.results.tuning import TuneResult
from racer.run.deadline import Deadline
from racer.run.rehearsal import FirstBlock, FirstValues
from racer.run.signals import GracefulStop, notify
from racer.store.replay import Prefetched
from racer.store.result import content_of
from racer.store.schema import Ending
from racer.store.writer import StoreChangedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from racer.core.contest import Contest
    from racer.core.events import Callback
    from racer.evaluate.outcome import Cell, CellKey, Outcome
    from racer.evaluate.workers import Ahead, Pool
    from racer.run.progress import Progress
    from racer.store.writer import Store

    Lookup = Callable[[Cell], Outcome | None]  # an outcome that was made elsewhere

R = TypeVar("R", bound=ContestResult)


def nothing(_: Cell) -> None:
    """Return no outcome: none was made elsewhere."""


def drive(
    feed: Feed[R],
    store: Store | None = None,
    *,
    display: Progress | None = None,
    watchers: Sequence[Callback] = (),
    provenance: Mapping[str, Any] = MappingProxyType({}),
    values: FirstValues | None = None,
    deadline: Deadline | None = None,
) -> R:
    """Run a contest to its end and return its result; with a store, record each outcome first.

    `values` inspects the values of the first blocks. After the `deadline` nothing begins, and the
    `watchers`, who see the contest's own events anyway, are called with its end.
    The result has the `provenance`, to which the workers and the times from now on are added.

    The first SIGINT, SIGTERM or SIGHUP lets running evaluations finish, the second stops at once.
    ObjectiveError if all evaluations of the first block fail alike: none of them is recorded.
    """
    stop = GracefulStop(notify if display is None else display.announce)
    loop = _Loop(feed, store, stop, display, watchers, provenance, values, deadline or Deadline())
    try:
        with ExitStack() as stack:
            if store is not None:
                # without a store there is nothing to save first, and Ctrl-C stops at once
                stack.enter_context(stop)
                stack.enter_context(not_for_evaluations(store.path))
            stack.enter_context(process_put_back())
            stack.enter_context(feed.workers)
            loop.run()
            if store is not None:
                store.finish(content_of(loop.result()))
    except StoreChangedError as error:
        if store is None:
            raise
        raise store.rescue(error, loop.outcomes()) from error
    except KeyboardInterrupt:
        raise _interrupted(loop.result(), store, stop.code) from None
    result = loop.result()
    if stop.requested():
        raise _interrupted(result, store, stop.code)
    if result.ended is Ended.DEADLINE and _is_untested(result):
        seen, is_race = counted(result.evaluations, "evaluation"), feed.contest.kind == "race"
        guess = "" if result.guess is None else ", and result.guess is the one to take nevertheless"
        warn(
            f"the deadline passed after {seen}, before the first test: no "
            f"candidate can be called the best{guess}; give more time, or "
            f"{'fewer candidates' if is_race else 'a lower first_test'}"
        )
    return result


def _is_untested(result: ContestResult) -> TypeGuard[Result]:
    """Return True for a race or a tuning without a best candidate, in which no test has been."""
    if not isinstance(result, Result):
        return False
    return result.leader is None and not result._evidence  # noqa: SLF001  (as rows, not as a frame)


@dataclass
class _Loop(Generic[R]):
    """Passes outcomes from workers to the store and to the contest."""

    feed: Feed[R]
    store: Store | None
    stop: GracefulStop
    display: Progress | None
    watchers: Sequence[Callback]
    provenance: Mapping[str, Any]
    values: FirstValues | None
    deadline: Deadline

    def __post_init__(self) -> None:
        self.contest = self.feed.contest
        self.feed.accept, self.feed.stopping = self._accept, self._is_stopping
        n_workers, begun_with = number_of(self.feed.workers), self.contest.result()
        if self.display is not None:
            self.display.begin(self.contest, n_workers, self.feed.running, self.deadline)
            if self.store is not None:
                self.display.recorded_in(self.store.path)
        self.provenance = {**self.provenance, "workers": n_workers}
        # seconds of earlier runs, which a replay restores, are no work of this one
        self._begun, self._before = time.perf_counter(), begun_with.seconds
        self._first = FirstBlock(
            self._record, self.contest.tell, is_over=bool(begun_with.evaluations)
        )

    def run(self) -> None:
        """`ask` and `tell` until the contest ends, a signal comes or the deadline passes."""
        try:
            self._run()
        except KeyboardInterrupt:
            self._first.release()
            raise

    def _run(self) -> None:
        is_rehearsal = not self._first.is_over
        while not self._is_stopping() and (cells := self.contest.ask()):
            self.feed.may_prefetch = self._first.is_over
            if self.display is not None:
                self.display.asked(cells)
            # the quick way of a single process: a whole block is told at once
            if self._may_tell_together and self.feed.is_in_turn(cells):
                self._take_all(cells)
                continue
            messages = []
            for cell, outcome, is_new in self.feed.outcomes(cells):
                self._take(cell, outcome, is_new=is_new)
                messages.append(outcome.message)
            if not self._first.is_over:
                self._first.end(cells, len(self.contest.alive))
            if is_rehearsal and (advice := on_common_code(messages, len(cells))):
                warn(advice)
            is_rehearsal = False
            if self.values is not None and self.values.end():
                self.values = None
        self._first.release()
        self.feed.end()
        # a replay will be told these as well, and must come to the same state
        self._tell_known()
        if self.values is not None and not self.stop.requested():
            self.values.end_of_run()
        if self._is_late():
            self._end_by_deadline()

    def _end_by_deadline(self) -> None:
        """Record the end and notify the watchers of it: the contest itself does not know of it."""
        if self.store is not None:
            self.store.conclude(Ending(Ended.DEADLINE.value, dropped="[]"))
        result = self.result()
        for watcher in self.watchers:
            watcher(RaceEnded(Ended.DEADLINE, eliminated=(), result=result))

    def _tell_known(self) -> None:
        """Tell the prefetched cells of a run that stops, block by block, as a replay would."""
        while cells := self.contest.ask():
            known = self.feed.taken(cells)
            for cell, outcome in known:
                self._take(cell, outcome, is_new=False)
            if len(known) < len(cells):
                return

    def _is_late(self) -> bool:
        """Return True if the deadline ended a contest that was not over."""
        is_open = self.contest.ended is None and not self.stop.requested()
        return is_open and self.deadline.has_passed()

    def _take(self, cell: Cell, outcome: Outcome, *, is_new: bool) -> None:
        """Show, record and tell an outcome, unless it is deferred."""
        if self.display is not None:
            self.display.told(outcome)
        if is_new and not self._first.is_over and self._defers(cell, outcome):
            return
        if self.values is not None:
            self.values.see(cell, outcome)
        if not is_new or self._accept(cell, outcome):
            self.contest.tell(cell, outcome)

    @property
    def _may_tell_together(self) -> bool:
        """Whether no outcome can end the run before the others of its block are known."""
        rules, is_rehearsed = self.contest.rules, self._first.is_over and self.values is None
        return is_rehearsed and rules.bounds is None and not rules.needs_spend

    def _take_all(self, cells: Sequence[Cell]) -> None:
        """Evaluate, show and record cells one by one; tell them together unless the run stops."""
        known: list[tuple[Cell, Outcome]] = []
        try:
            for cell, outcome, _ in self.feed.in_turn(cells):
                if self.display is not None:
                    self.display.told(outcome)
                if self._accept(cell, outcome):
                    known.append((cell, outcome))
        finally:
            # also after an error or Ctrl-C: whatever is recorded has to be told
            if len(known) == len(cells):
                self.contest.tell_all([outcome for _, outcome in known])
            else:
                for cell, outcome in known:
                    self.contest.tell(cell, outcome)

    def _is_stopping(self) -> bool:
        """Return True if no evaluation shall begin any more."""
        return self.stop.requested() or self.deadline.has_passed()

    def result(self) -> R:
        """Return the current result, with its provenance and the unused evaluations."""
        result, unused = self.contest.result(), self.feed.unused()
        took = {
            "wall": time.perf_counter() - self._begun,
            "busy": result.seconds + unused.seconds - self._before,
        }
        if self._is_late():
            result = replace(result, ended=Ended.DEADLINE)
        return replace(result, unused=unused, provenance={**self.provenance, **took})

    def outcomes(self) -> dict[CellKey, Outcome]:
        """Return all known outcomes, including prefetched cells."""
        result = self.contest.result()
        tables = [(False, result.known)]
        if isinstance(result, Result):
            tables.append((True, result.held_out))
        told: dict[CellKey, Outcome] = {
            (held_out, block, candidate): outcome
            for held_out, table in tables
            for block, candidate, outcome in table.cells()
        }
        if isinstance(result, TuneResult) and result._cheap is not None:  # noqa: SLF001  (no frame)
            told |= result._cheap.cells()  # noqa: SLF001
        return told | self.feed.left()

    def _accept(self, cell: Cell, outcome: Outcome) -> bool:
        """Record an outcome; return False if the cell has to be evaluated again."""
        # not recorded, so that a resumed run evaluates it again, without the signal
        if outcome.status != "ok" and self._is_suspect(outcome):
            return False
        if self.store is not None:
            self._record(cell, outcome)
        return True

    def _is_suspect(self, outcome: Outcome) -> bool:
        """Return True if a signal may have made an evaluation fail."""
        # the signal may have reached the programs of an evaluation, too: a solver, say
        return outcome.status in ("failed", "invalid", "killed") and self.stop.requested()

    def _record(self, cell: Cell, outcome: Outcome) -> None:
        self.contest.rules.check_bounds(cell, outcome.value)
        if self.store is not None:
            check_outcome(outcome)
            self.store.append(cell, outcome)

    def _defers(self, cell: Cell, outcome: Outcome) -> bool:
        """Defer an outcome of the first block if all so far are the same failure, else `tell` them.

        ObjectiveError if the first one shows that evaluate never returns a valid value.
        """
        if self._first.is_over or self._is_suspect(outcome):
            return False
        check_useful(outcome)
        needed = self.contest.rules.needs_spend
        if needed and outcome.value is not None and outcome.spend is None:
            raise ObjectiveError(
                f"evaluate {NO_SPEND}: return {{.., 'spend': its price}}, or give Budget(.., prices=..); nothing "
                "is recorded, and nothing else was evaluated"
            )
        is_deferred = self._first.defers(cell, outcome)
        self.feed.may_prefetch = self._first.is_over
        return is_deferred


def _interrupted(result: Any, store: Store | None, code: int) -> RaceInterrupted:
    if store is None:
        return RaceInterrupted(result)
    kept = f"all of them are recorded; go on with {store.reader.how_to_resume()}"
    return RaceInterrupted(result, kept=kept, code=code)


@dataclass
class Feed(Generic[R]):
    """Submits cells to workers and collects their outcomes, including prefetched cells.

    Free workers prefetch up to `ahead` blocks; `prefetched` are outcomes left by a replay; `known`
    returns outcomes that were made elsewhere, and count as evaluated now. `accept` is called with
    each new outcome of a prefetched cell, and returns False if it cannot be used; `stopping`
    returns True once nothing more shall begin.
    """

    contest: Contest[R]
    workers: Pool
    ahead: Ahead = "auto"
    prefetched: Prefetched | None = None
    known: Lookup = nothing
    accept: Callable[[Cell, Outcome], bool] = field(init=False)
    stopping: Callable[[], bool] = field(init=False)
    may_prefetch: bool = False

    def __post_init__(self) -> None:
        capacity = self.workers.capacity
        # eight blocks, or as many as cells in flight
        auto = max(8, capacity if capacity < sys.maxsize else 0)
        blocks = auto if self.ahead == "auto" else self.ahead
        self._blocks = blocks if self.workers.takes_more else 0
        # `_reusable`: told as capped, but known up to a larger bound
        none = Prefetched({}, {}, Unused())
        self._prefetched, self._reusable, self._unused = self.prefetched or none
        self._running: dict[CellKey, Cell] = {}
        # of candidates that were eliminated: the end of a tuning may ask for them nevertheless
        self._kept: dict[CellKey, Outcome] = {}

    def outcomes(self, requested: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome, bool]]:
        """Yield cells with their outcomes, and True for a new one; fewer if the run stops."""
        is_in_turn = self.is_in_turn(requested)
        return self.in_turn(requested) if is_in_turn else self._as_they_end(requested)

    def is_in_turn(self, requested: Sequence[Cell]) -> bool:
        """Return whether these cells are evaluated one after the other, and none has been before."""
        if self.workers.capacity > 1 or self._prefetched or self._reusable or self._running:
            return False
        if self._kept and any(cell.key in self._kept for cell in requested):
            return False
        return self.known is nothing

    def _as_they_end(self, requested: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome, bool]]:
        """Yield outcomes in the order in which they come, from any number of workers."""
        wanted = {cell.key: cell for cell in requested}
        for cell in list(wanted.values()):
            prefetched = self._take(cell)
            if (known := prefetched or self.known(cell)) is not None:
                del wanted[cell.key]
                yield cell, known, prefetched is None
        self._forget_eliminated()
        now = deque(cell for key, cell in wanted.items() if key not in self._running)
        coming = self._coming()
        while wanted:
            if not self.stopping():
                self._fill(now, coming)
            # stopping: only requested cells that a worker has begun are waited for
            elif not self._will_end(wanted):
                return
            if (ended := self.workers.next(self.stopping)) is None:
                continue
            cell, outcome = ended
            key = cell.key
            del self._running[key]
            request = wanted.get(key)
            if request is None:
                self._keep(cell, outcome)
            elif self._suffices(outcome, request):
                del wanted[key]
                yield cell, outcome, True
            else:  # prefetched with a smaller cap
                now.append(request)
                if self.accept(cell, outcome):
                    self._count_unused([outcome])

    def taken(self, requested: Sequence[Cell]) -> list[tuple[Cell, Outcome]]:
        """Return the requested cells that have been prefetched, with their outcomes."""
        found = ((cell, self._take(cell)) for cell in requested)
        return [(cell, outcome) for cell, outcome in found if outcome is not None]

    def in_turn(self, requested: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome, bool]]:
        """Evaluate one cell after the other, where nothing runs beside."""
        for cell in requested:
            if self.stopping():
                return
            self.workers.submit(cell)
            if (ended := self.workers.next(self.stopping)) is not None:
                yield *ended, True

    def _take(self, request: Cell) -> Outcome | None:
        """Return a prefetched outcome for a requested cell, unless its cap was too small."""
        outcome = self._prefetched.pop(request.key, None) or self._kept.pop(request.key, None)
        if outcome is not None:
            if self._suffices(outcome, request):
                return outcome
            self._count_unused([outcome])
        # known beyond the cap that was told, so it may answer a request with a larger one
        outcome = self._reusable.pop(request.key, None)
        return outcome if outcome is not None and self._suffices(outcome, request) else None

    def _keep(self, cell: Cell, outcome: Outcome) -> None:
        """Keep the outcome of a prefetched cell until it is requested."""
        if self.accept(cell, outcome):
            self._prefetched[cell.key] = outcome

    def _count_unused(self, outcomes: Iterable[Outcome]) -> None:
        self._unused = self._unused.plus(Unused.from_outcomes(outcomes))

    def _suffices(self, outcome: Outcome, request: Cell) -> bool:
        """Return True if an outcome is known up to the requested bound; keep one known beyond it."""
        if request.bound is None:
            return True
        told = bounded(outcome, request.bound)
        if told is None:
            return False
        if told != outcome:
            self._reusable[request.key] = outcome
        return True

    def running(self) -> int:
        """Return the number of cells that are submitted and have no outcome."""
        return len(self._running)

    def _will_end(self, wanted: Mapping[CellKey, Cell]) -> bool:
        """Submit nothing more; return whether a requested cell will run before prefetched ones."""
        self._running = {cell.key: cell for cell in self.workers.finish()}
        begun = list(self._running)
        if not wanted.keys() >= set(begun):
            # in the order of submission: as many can be running as there are workers
            begun = begun[: number_of(self.workers)]
        return not wanted.keys().isdisjoint(begun)

    def _fill(self, requested: deque[Cell], coming: Iterator[Cell]) -> None:
        """Submit as many cells as workers take, the requested ones first."""
        while len(self._running) < self.workers.capacity:
            more = next(coming, None) if self.may_prefetch and not requested else None
            if (cell := requested.popleft() if requested else more) is None:
                return
            self._running[cell.key] = cell
            self.workers.submit(cell)

    def _forget_eliminated(self) -> None:
        """Put aside outcomes, and withdraw cells, of candidates that have been eliminated."""
        if not self.may_prefetch or not (self._prefetched or self._running):
            return
        alive = set(self.contest.alive)
        gone = [key for key in self._prefetched if key[2] not in alive]
        self._kept |= {key: self._prefetched.pop(key) for key in gone}
        for key, cell in list(self._running.items()):
            # a cell that has begun stays: its outcome is kept, unused unless it is asked for
            if cell.candidate not in alive and self.workers.withdraw(cell):
                del self._running[key]

    def _coming(self) -> Iterator[Cell]:
        """Yield cells to prefetch; in a new order after as many as can be in flight."""
        while True:
            cells = self.contest.ahead(self._blocks)
            known = (self._running, self._prefetched, self._kept)
            new = (cell for cell in cells if not any(cell.key in some for some in known))
            new = (cell for cell in new if self.known(cell) is None)
            if (first := next(new, None)) is None:
                return
            yield first
            # no more than can be in flight: outcomes that come meanwhile may change the order
            yield from islice(new, self.workers.capacity - 1)

    def end(self) -> None:
        """Keep the outcomes of prefetched cells that end soon."""
        if self.stopping():
            self.workers.finish()
        for cell, outcome in self.workers.rest():
            self._keep(cell, outcome)

    def left(self) -> dict[CellKey, Outcome]:
        """Return the outcomes that were not requested, or are known beyond the request."""
        return self._prefetched | self._kept | self._reusable

    def unused(self) -> Unused:
        """Return the count and seconds of prefetched cells that were never requested."""
        left = chain(self._prefetched.values(), self._kept.values())
        return self._unused.plus(Unused.from_outcomes(left))
