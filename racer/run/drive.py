"""The driver of a contest: ask, evaluate, record, tell."""

from __future__ import annotations

import reprlib
import time
from contextlib import ExitStack
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from racer.core.contest import ContestResult
from racer.errors import ObjectiveError, RaceInterrupted
from racer.evaluate.attempt import generators_put_back
from racer.evaluate.limits.processes import not_for_evaluations
from racer.evaluate.objective import raised_by
from racer.evaluate.outcome import check_outcome
from racer.run.feed import Feed
from racer.run.signals import GracefulStop, notify
from racer.store.replay import Prefetched

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from racer.core.contest import Contest
    from racer.evaluate.outcome import Cell, Outcome
    from racer.evaluate.workers import Workers
    from racer.run.feed import Ahead
    from racer.run.progress import Progress
    from racer.store.writer import Store

R = TypeVar("R", bound=ContestResult)

# A signal may have reached the programs of an evaluation, too: a solver, say
_MAYBE_INTERRUPTED = ("failed", "invalid", "killed")


def drive(
    contest: Contest[R],
    workers: Workers,
    store: Store | None = None,
    *,
    display: Progress | None = None,
    ahead: Ahead = "auto",
    prefetched: Prefetched | None = None,
    provenance: Mapping[str, Any] = MappingProxyType({}),
) -> R:
    """Run a contest to its end and return its result; with a store, record each outcome first.

    Free workers prefetch up to `ahead` blocks; `prefetched` are outcomes left by a replay.
    The result has the `provenance`, to which the workers and the times from now on are added.

    The first SIGINT, SIGTERM or SIGHUP lets running evaluations finish, the second stops at once.
    ObjectiveError if all evaluations of the first block fail alike: none of them is recorded.
    """
    stop = GracefulStop(notify if display is None else display.announce)
    known = Prefetched.none() if prefetched is None else prefetched
    loop = _Loop(contest, workers, store, stop, ahead, known, display, provenance)
    try:
        with ExitStack() as stack:
            if store is not None:
                stack.enter_context(stop)
                stack.enter_context(not_for_evaluations(store.path))
            stack.enter_context(generators_put_back())
            stack.enter_context(workers)
            loop.run()
            if store is not None:
                store.flush()
    except KeyboardInterrupt:
        raise _interrupted(loop.result(), store, stop.code) from None
    if stop.requested():
        raise _interrupted(loop.result(), store, stop.code)
    return loop.result()


class _Loop(Generic[R]):
    """Passes outcomes from workers to the store and to the contest."""

    def __init__(
        self,
        contest: Contest[R],
        workers: Workers,
        store: Store | None,
        stop: GracefulStop,
        ahead: Ahead,
        prefetched: Prefetched,
        display: Progress | None,
        provenance: Mapping[str, Any],
    ) -> None:
        self._contest = contest
        self._display = display
        self._store = store
        self._stop = stop
        self._feed = Feed(
            contest,
            workers,
            ahead=ahead,
            prefetched=prefetched,
            accept=self._accept,
            stopping=stop.requested,
        )
        if display is not None:
            display.begin(contest, self._feed.n_workers, self._feed.running)
        self._provenance = {**provenance, "workers": self._feed.n_workers}
        self._begun, self._before = time.perf_counter(), contest.result().seconds
        # outcomes of the first block while all are the same failure; None afterwards
        self._alike: list[tuple[Cell, Outcome]] | None = None
        if contest.result().evaluations == 0:
            self._alike = []

    def run(self) -> None:
        """Ask and tell until the contest ends or a signal has come."""
        while not self._stop.requested() and (cells := self._contest.ask()):
            self._feed.may_prefetch = self._alike is None
            if self._display is not None:
                self._display.asked(len(cells))
            for cell, outcome, is_new in self._feed.outcomes(cells):
                if self._display is not None:
                    self._display.told(outcome)
                if is_new and self._alike is not None and self._defers(cell, outcome):
                    continue
                if not is_new or self._accept(cell, outcome):
                    self._contest.tell(cell, outcome)
            if self._alike is not None:
                self._end_first_block(cells)
        self._feed.end()

    def result(self) -> R:
        """Return the current result, with its provenance and the unused evaluations."""
        result, unused = self._contest.result(), self._feed.unused()
        took = {
            "wall": time.perf_counter() - self._begun,
            "busy": result.seconds + unused.seconds - self._before,
        }
        return replace(result, unused=unused, provenance={**self._provenance, **took})

    def _accept(self, cell: Cell, outcome: Outcome) -> bool:
        """Record an outcome; return False for one that has to be evaluated again."""
        if self._is_suspect(outcome):
            return False
        self._record(cell, outcome)
        return True

    def _is_suspect(self, outcome: Outcome) -> bool:
        """Return True if a signal may be what made an evaluation fail."""
        return outcome.status in _MAYBE_INTERRUPTED and self._stop.requested()

    def _record(self, cell: Cell, outcome: Outcome) -> None:
        if self._store is not None:
            check_outcome(outcome)
            self._store.append(cell, outcome)

    def _defers(self, cell: Cell, outcome: Outcome) -> bool:
        """Defer an outcome of the first block if all so far are the same failure, else tell them."""
        if self._alike is None or self._is_suspect(outcome):
            return False
        error = raised_by(outcome.message) if outcome.status == "failed" else None
        if error is not None and all(raised_by(o.message) == error for _, o in self._alike[:1]):
            self._alike.append((cell, outcome))
            return True
        self._tell_deferred()
        return False

    def _tell_deferred(self) -> None:
        deferred, self._alike = self._alike or (), None
        for cell, outcome in deferred:
            self._record(cell, outcome)
            self._contest.tell(cell, outcome)
        self._feed.may_prefetch = True

    def _end_first_block(self, cells: Sequence[Cell]) -> None:
        """Raise if all of a block is the same failure: so would be the next ones."""
        if self._alike and 1 < len(self._alike) == len(cells):
            raise ObjectiveError(
                f"evaluate failed in all {len(cells)} evaluations of the first block (instance "
                f"{reprlib.repr(cells[0].instance)}), always by the same error at the same line, "
                f"first with {self._alike[0][1].message}; nothing is recorded of it: mend evaluate, "
                "or begin with another instance, and run the same again"
            )
        self._tell_deferred()
        if len(cells) == 1:  # too few for a verdict
            self._alike = []


def _interrupted(result: Any, store: Store | None, code: int) -> RaceInterrupted:
    if store is None:
        return RaceInterrupted(result)
    kept = f"all of them are recorded; go on with {store.reader.how_to_resume()}"
    return RaceInterrupted(result, kept=kept, code=code)
