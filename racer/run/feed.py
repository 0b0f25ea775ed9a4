"""Workers kept busy: with the requested cells first, then with cells that are prefetched."""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from racer._checks import is_whole
from racer.core.contest import Unused
from racer.errors import SettingError
from racer.evaluate.executor import SPARE
from racer.evaluate.outcome import bounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from racer.core.contest import Contest
    from racer.evaluate.outcome import Cell, CellKey, Outcome
    from racer.evaluate.workers import Workers
    from racer.store.replay import Prefetched

Ahead = int | Literal["auto"]
_AUTO = 8  # blocks, or as many as cells in flight


def check_ahead(ahead: Ahead) -> None:
    """Raise SettingError unless `ahead` is "auto" or a number of blocks."""
    if ahead != "auto" and (not is_whole(ahead) or ahead < 0):
        raise SettingError(f'ahead={ahead!r}: give "auto", or a number of blocks, 0 for none')


@dataclass
class Feed:
    """Submits cells to workers and collects their outcomes, those of prefetched cells included.

    `accept` is called with each new outcome of a prefetched cell, and returns False if it cannot be
    used; `stopping` returns True once nothing more shall begin.
    """

    contest: Contest[Any]
    workers: Workers
    ahead: Ahead
    prefetched: Prefetched
    accept: Callable[[Cell, Outcome], bool]
    stopping: Callable[[], bool]
    may_prefetch: bool = False

    def __post_init__(self) -> None:
        capacity = self.workers.capacity
        auto = max(_AUTO, capacity if capacity < sys.maxsize else 0)
        blocks = auto if self.ahead == "auto" else self.ahead
        self._blocks = blocks if self.workers.takes_more else 0
        # `_reusable`: told as capped, but known up to a larger bound
        self._prefetched, self._reusable, self._unused = self.prefetched
        self._running: dict[CellKey, Cell] = {}

    def outcomes(self, requested: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome, bool]]:
        """Yield cells with their outcomes, and True for a new one; fewer if the run stops."""
        wanted = {cell.key: cell for cell in requested}
        for cell in list(wanted.values()):
            if (known := self._take(cell)) is not None:
                del wanted[cell.key]
                yield cell, known, False
        self._forget_eliminated()
        now = deque(cell for key, cell in wanted.items() if key not in self._running)
        coming = self._coming()
        while wanted:
            if not self.stopping():
                self._fill(now, coming)
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

    def _take(self, request: Cell) -> Outcome | None:
        """Return a prefetched outcome for a requested cell, unless its cap was too small."""
        outcome = self._prefetched.pop(request.key, None)
        if outcome is not None:
            if self._suffices(outcome, request):
                return outcome
            self._count_unused([outcome])
        outcome = self._reusable.pop(request.key, None)
        return outcome if outcome is not None and self._suffices(outcome, request) else None

    def _keep(self, cell: Cell, outcome: Outcome) -> None:
        """Keep the outcome of a prefetched cell until it is requested."""
        if self.accept(cell, outcome):
            self._prefetched[cell.key] = outcome

    def _count_unused(self, outcomes: Iterable[Outcome]) -> None:
        self._unused = self._unused.plus(Unused.of(outcomes))

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
            begun = begun[: self.workers.capacity - SPARE]
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
        """Discard outcomes and withdraw cells of candidates that have been eliminated."""
        if not self.may_prefetch or not (self._prefetched or self._running):
            return
        alive = set(self.contest.alive)
        gone = [key for key in self._prefetched if key[2] not in alive]
        self._count_unused([self._prefetched.pop(key) for key in gone])
        for key, cell in list(self._running.items()):
            if cell.candidate not in alive and self.workers.withdraw(cell):
                del self._running[key]

    def _coming(self) -> Iterator[Cell]:
        """Yield cells to prefetch."""
        for cell in self.contest.ahead(self._blocks):
            if cell.key not in self._running and cell.key not in self._prefetched:
                yield cell

    def end(self) -> None:
        """Keep the outcomes of prefetched cells that end soon."""
        for cell, outcome in self.workers.rest():
            self._keep(cell, outcome)

    def unused(self) -> Unused:
        """Return the count and seconds of prefetched cells that were never requested."""
        return self._unused.plus(Unused.of(self._prefetched.values()))
