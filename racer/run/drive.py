"""The loop: ask, evaluate, record, tell."""

from __future__ import annotations

import reprlib
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from racer.errors import ObjectiveError, RaceInterrupted
from racer.evaluate.attempt import generators_put_back
from racer.evaluate.limits.forks import not_for_evaluations
from racer.evaluate.objective import raised_by
from racer.evaluate.outcome import check_outcome
from racer.evaluate.workers import outcomes_of
from racer.run.signals import GentleStop, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.evaluate.outcome import Cell, Outcome
    from racer.evaluate.workers import Workers
    from racer.racing.contest import Contest
    from racer.store.writer import Store

# The signal may have gone to what the evaluation had started as well: to a solver, say
_MAY_BE_THE_SIGNALS = ("failed", "invalid", "killed")


def drive(
    contest: Contest,
    workers: Workers,
    store: Store | None = None,
    announce: Callable[[str], None] = tell,
) -> Any:
    """Run a contest to its end, and return its result; with a store, record each outcome first.

    The first SIGINT, SIGTERM or SIGHUP lets running evaluations finish, the second stops at once.
    ObjectiveError if all evaluations of the first block fail alike: none of them is recorded.
    """
    stop = GentleStop(announce)
    try:
        with ExitStack() as stack:
            if store is not None:
                stack.enter_context(stop)
                stack.enter_context(not_for_evaluations(store.path))
            stack.enter_context(generators_put_back())
            stack.enter_context(workers)
            _Loop(contest, workers, store, stop).run()
            if store is not None:
                store.flush()
    except KeyboardInterrupt:
        raise _interrupted(contest, store, stop.code) from None
    if stop.requested():
        raise _interrupted(contest, store, stop.code)
    return contest.result()


class _Loop:
    """What is between the contest, its workers and its store."""

    def __init__(
        self, contest: Contest, workers: Workers, store: Store | None, stop: GentleStop
    ) -> None:
        self._contest = contest
        self._workers = workers
        self._store = store
        self._stop = stop
        # outcomes of the first block, as long as all are the same failure; None after that
        self._same: list[tuple[Cell, Outcome]] | None = None
        if contest.result().evaluations == 0:
            self._same = []

    def run(self) -> None:
        """Ask and tell until the contest ends, or a signal has come."""
        stopping = self._stop.requested
        while not stopping() and (cells := self._contest.ask()):
            for cell, outcome in outcomes_of(self._workers, cells, stopping=stopping):
                if stopping() and outcome.status in _MAY_BE_THE_SIGNALS:
                    continue  # not recorded, so it is evaluated again
                check_outcome(outcome)
                if not self._waits(cell, outcome):
                    self._tell(cell, outcome)
            self._end_of_block(cells)

    def _tell(self, cell: Cell, outcome: Outcome) -> None:
        if self._store is not None:
            self._store.append(cell, outcome)
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


def _interrupted(contest: Contest, store: Store | None, code: int) -> RaceInterrupted:
    if store is None:
        return RaceInterrupted(contest.result())
    kept = f"all of them are recorded; go on with {store.reader.how_to_resume()}"
    return RaceInterrupted(contest.result(), kept=kept, code=code)
