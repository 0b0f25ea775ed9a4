"""Workers kept busy: with the cells asked for, then with those that may be asked for next."""

from __future__ import annotations

import sys
from collections import deque
from typing import TYPE_CHECKING, Literal

from racer._checks import is_whole
from racer.errors import SettingError
from racer.evaluate.executor import SPARE
from racer.evaluate.outcome import bounded
from racer.evaluate.workers import number_of
from racer.racing.result import Unused
from racer.store.replay import Untold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from racer.evaluate.outcome import Cell, CellKey, Outcome
    from racer.evaluate.workers import Workers
    from racer.racing.contest import Contest

Ahead = int | Literal["auto"]
_AUTO = 8  # blocks, or as many as cells in flight


def check_ahead(ahead: Ahead) -> None:
    """Raise SettingError unless `ahead` is "auto" or a number of blocks."""
    if ahead != "auto" and (not is_whole(ahead) or ahead < 0):
        raise SettingError(f'ahead={ahead!r}: give "auto", or a number of blocks, 0 for none')


class Feed:
    """Gives cells to workers, and has the outcomes: also those that were made ahead.

    `known` are outcomes made ahead by an earlier run; `keep` is called with each new one.
    """

    def __init__(
        self,
        contest: Contest,
        workers: Workers,
        *,
        ahead: Ahead,
        known: Mapping[CellKey, Outcome],
        keep: Callable[[Cell, Outcome], bool],
        stopping: Callable[[], bool],
    ) -> None:
        self._contest = contest
        self._workers = workers
        auto = max(_AUTO, workers.capacity if workers.capacity < sys.maxsize else 0)
        self._ahead = (auto if ahead == "auto" else ahead) if workers.takes_more else 0
        # `more`: used as if capped, but known to a larger bound
        self._known, self._more, self._past = Untold.of(contest, known)
        self._keep = keep
        self._stopping = stopping
        self._running: dict[CellKey, Cell] = {}
        self.may_go_ahead = False

    def outcomes(self, asked: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome, bool]]:
        """Yield cells with their outcomes, and whether that is new; not all of them if stopping."""
        wanted = {cell.key: cell for cell in asked}
        for key in [*wanted]:
            if (outcome := self._found(wanted[key])) is not None:
                yield wanted.pop(key), outcome, False
        if self.may_go_ahead:
            self._forget()
        now = deque(cell for key, cell in wanted.items() if key not in self._running)
        later = self._coming()
        while wanted:
            if not self._stopping():
                self._fill(now, later)
            elif not self._are_evaluated(wanted):
                return
            if (ended := self._workers.next(self._stopping)) is None:
                continue
            cell, outcome = ended
            del self._running[cell.key]
            asks = wanted.get(cell.key)
            if asks is None or bounded(outcome, asks.bound) is None:
                now += self._kept(cell, outcome, asks)
            else:
                self._note_more(wanted.pop(cell.key), outcome)
                yield cell, outcome, True

    def _kept(self, cell: Cell, outcome: Outcome, asks: Cell | None) -> list[Cell]:
        """Keep what went ahead; if it `asks`, the cap was too small: return what to evaluate."""
        if self._keep(cell, outcome):
            if asks is None:
                self._known[cell.key] = outcome
            else:
                self._past = self._past.plus(Unused.of([outcome]))
        return [] if asks is None else [asks]

    def _found(self, cell: Cell) -> Outcome | None:
        """Return what is known of a cell that is asked for, if it was not capped too early."""
        outcome = self._known.pop(cell.key, None)
        if outcome is not None and bounded(outcome, cell.bound) is None:
            self._past = self._past.plus(Unused.of([outcome]))
            outcome = None
        if outcome is None:
            outcome = self._more.pop(cell.key, None)
        if outcome is None or bounded(outcome, cell.bound) is None:
            return None
        self._note_more(cell, outcome)
        return outcome

    def _note_more(self, cell: Cell, outcome: Outcome) -> None:
        """Keep an outcome that says more than it was asked for: it may be asked for again."""
        if bounded(outcome, cell.bound) != outcome:
            self._more[cell.key] = outcome

    @property
    def n_workers(self) -> int | None:
        """How many workers there are; None if that is not known."""
        return number_of(self._workers)

    def running(self) -> int:
        """Return how many cells have been submitted, and are not evaluated."""
        return len(self._running)

    def _are_evaluated(self, wanted: Mapping[CellKey, Cell]) -> bool:
        """Begin nothing more; say whether any that is wanted is not behind what went ahead."""
        self._running = {cell.key: cell for cell in self._workers.finish()}
        begun = list(self._running)
        if not wanted.keys() >= set(begun):
            begun = begun[: self._workers.capacity - SPARE]
        return not wanted.keys().isdisjoint(begun)

    def _fill(self, now: deque[Cell], later: Iterator[Cell]) -> None:
        """Submit as much as workers can take: what is asked for first."""
        while len(self._running) < self._workers.capacity:
            cell = now.popleft() if now else next(later, None) if self.may_go_ahead else None
            if cell is None:
                return
            self._running[cell.key] = cell
            self._workers.submit(cell)

    def _forget(self) -> None:
        """Forget what will not be asked for any more."""
        alive = set(self._contest.alive)
        gone = Unused.of(self._known.pop(key) for key in [*self._known] if key[2] not in alive)
        self._past = self._past.plus(gone)
        for key, cell in list(self._running.items()):
            if cell.candidate not in alive and self._workers.withdraw(cell):
                del self._running[key]

    def _coming(self) -> Iterator[Cell]:
        """Yield what may be asked for."""
        for cell in self._contest.ahead(self._ahead):
            if cell.key not in self._running and cell.key not in self._known:
                yield cell

    def end(self) -> None:
        """Keep what is still being evaluated and ends soon."""
        for cell, outcome in self._workers.rest():
            if self._keep(cell, outcome):
                self._known[cell.key] = outcome

    def unused(self) -> Unused:
        """Return what was made ahead and has not been asked for."""
        return self._past.plus(Unused.of(self._known.values()))
