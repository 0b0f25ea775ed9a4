"""The loop: ask, evaluate, record, tell."""

from __future__ import annotations

import reprlib
from contextlib import ExitStack
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from racer.errors import ObjectiveError, RaceInterrupted
from racer.evaluate.attempt import generators_put_back
from racer.evaluate.limits.forks import not_for_evaluations
from racer.evaluate.objective import raised_by
from racer.evaluate.outcome import check_outcome
from racer.run.feed import Feed
from racer.run.signals import GentleStop, tell

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from racer.evaluate.outcome import Cell, CellKey, Outcome
    from racer.evaluate.workers import Workers
    from racer.racing.contest import Contest
    from racer.run.feed import Ahead
    from racer.run.progress import Progress
    from racer.store.writer import Store

# The signal may have gone to what the evaluation had started as well: to a solver, say
_MAY_BE_THE_SIGNALS = ("failed", "invalid", "killed")


def drive(
    contest: Contest,
    workers: Workers,
    store: Store | None = None,
    *,
    display: Progress | None = None,
    ahead: Ahead = "auto",
    known: Mapping[CellKey, Outcome] = MappingProxyType({}),
) -> Any:
    """Run a contest to its end, and return its result; with a store, record each outcome first.

    Free workers go up to `ahead` blocks ahead; `known` is what was made ahead and is recorded.

    The first SIGINT, SIGTERM or SIGHUP lets running evaluations finish, the second stops at once.
    ObjectiveError if all evaluations of the first block fail alike: none of them is recorded.
    """
    stop = GentleStop(tell if display is None else display.announce)
    loop = _Loop(contest, workers, store, stop, ahead, known, display)
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


class _Loop:
    """What is between the contest, its workers and its store."""

    def __init__(
        self,
        contest: Contest,
        workers: Workers,
        store: Store | None,
        stop: GentleStop,
        ahead: Ahead,
        known: Mapping[CellKey, Outcome],
        display: Progress | None,
    ) -> None:
        self._contest = contest
        self._display = display
        self._store = store
        self._stop = stop
        self._feed = Feed(
            contest,
            workers,
            ahead=ahead,
            known=known,
            keep=self._keep,
            stopping=stop.requested,
        )
        if display is not None:
            display.begin(contest, self._feed.n_workers, self._feed.running)
        # outcomes of the first block, as long as all are the same failure; None after that
        self._same: list[tuple[Cell, Outcome]] | None = None
        if contest.result().evaluations == 0:
            self._same = []

    def run(self) -> None:
        """Ask and tell until the contest ends, or a signal has come."""
        while not self._stop.requested() and (cells := self._contest.ask()):
            self._feed.may_go_ahead = self._same is None
            if self._display is not None:
                self._display.asked(len(cells))
            for cell, outcome, is_new in self._feed.outcomes(cells):
                if self._display is not None:
                    self._display.told(outcome)
                if not is_new:
                    self._contest.tell(cell, outcome)
                elif self._can_be_kept(outcome) and not self._waits(cell, outcome):
                    self._tell(cell, outcome)
                    self._feed.may_go_ahead = True
            self._end_of_block(cells)
        self._feed.end()

    def result(self) -> Any:
        """Return the result of the contest, or its state, with what was evaluated in vain."""
        return replace(self._contest.result(), unused=self._feed.unused())

    def _can_be_kept(self, outcome: Outcome) -> bool:
        """Say whether the evaluation failed by itself; else it is made again."""
        if self._stop.requested() and outcome.status in _MAY_BE_THE_SIGNALS:
            return False
        check_outcome(outcome)
        return True

    def _keep(self, cell: Cell, outcome: Outcome) -> bool:
        """Record an outcome made ahead."""
        if not self._can_be_kept(outcome):
            return False
        self._record(cell, outcome)
        return True

    def _record(self, cell: Cell, outcome: Outcome) -> None:
        if self._store is not None:
            self._store.append(cell, outcome)

    def _tell(self, cell: Cell, outcome: Outcome) -> None:
        self._record(cell, outcome)
        self._contest.tell(cell, outcome)

    def _waits(self, cell: Cell, outcome: Outcome) -> bool:
        """Hold an outcome back if all so far are the same failure; else tell those held back."""
        if self._same is None:
            return False
        error = raised_by(outcome.message) if outcome.status == "failed" else None
        if error is not None and all(raised_by(o.message) == error for _, o in self._same[:1]):
            self._same.append((cell, outcome))
            return True
        self._tell_held_back()
        return False

    def _tell_held_back(self) -> None:
        held, self._same = self._same or (), None
        for cell, outcome in held:
            self._tell(cell, outcome)

    def _end_of_block(self, cells: Sequence[Cell]) -> None:
        """Raise if all of the first block is the same failure, which the next ones would be."""
        if self._same and 1 < len(self._same) == len(cells):
            raise ObjectiveError(
                f"evaluate failed in all {len(cells)} evaluations of the first block (instance "
                f"{reprlib.repr(cells[0].instance)}), always by the same error at the same line, "
                f"first with {self._same[0][1].message}; nothing is recorded of it: mend evaluate, "
                "or begin with another instance, and run the same again"
            )
        one_cell = self._same is not None and len(cells) == 1  # too few to say it of all
        self._tell_held_back()
        self._same = [] if one_cell else None


def _interrupted(result: Any, store: Store | None, code: int) -> RaceInterrupted:
    if store is None:
        return RaceInterrupted(result)
    kept = f"all of them are recorded; go on with {store.reader.how_to_resume()}"
    return RaceInterrupted(result, kept=kept, code=code)
