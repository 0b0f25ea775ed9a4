"""Cells evaluated as futures: each worker that dies costs its own cell."""

from __future__ import annotations

import sys
from collections import deque
from concurrent.futures import CancelledError, wait
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, Self

from racer.errors import ObjectiveError, SettingError, warn
from racer.evaluate.attempt import Task, here
from racer.evaluate.objective import check_picklable, describe
from racer.evaluate.outcome import Outcome
from racer.evaluate.shipment import Call, Delivery, Lacking, Shipment

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from concurrent.futures import Executor, Future

    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell, CellKey

SPARE = 2  # cells in flight beyond the number of workers, so that none waits for its next
_LARGE = 10_000_000  # bytes of evaluate, sent to each worker
_LOOK_ROUND = 0.2  # seconds of waiting, after which it is asked whether to stop


def never() -> bool:
    """Say that nothing has to stop."""
    return False


class Door(Protocol):
    """What takes calls made elsewhere; `reopens` if the next call after a death gets a new pool.

    `patience`: how many seconds to wait at the end for what has begun (None: as long as it takes).
    """

    reopens: bool
    patience: float | None

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Take a call, if need be in a new pool."""
        ...

    def is_innocent(self, error: BaseException) -> bool:
        """Say whether a call was lost for a reason that is none of its own."""
        ...

    def withdraw(self, future: Future[Any]) -> bool:
        """Take back what has not begun; say whether that was possible."""
        ...

    def end(self, futures: Collection[Future[Any]]) -> None:
        """Give up these futures, if there are any; no more will be submitted."""
        ...


class Futures:
    """Evaluate cells through a door; lost cells run again alone, one lost alone was killed."""

    takes_more = True

    def __init__(
        self,
        door: Door,
        task: Task,
        sent: Mapping[str, Any],
        *,
        capacity: int,
    ) -> None:
        self.capacity = capacity
        self._door = door
        self._shipment = Shipment(task)
        self._sent: Mapping[str, Any] | None = sent  # None once it is known to arrive
        self._fresh: deque[Cell] = deque()
        self._again: deque[Cell] = deque()
        self._alone: deque[Cell] = deque()
        self._careful = False  # those in flight have been lost before
        self._finishing = False
        # with how often they were lost
        self._running: dict[Future[Outcome | Lacking], tuple[Cell, int]] = {}
        self._undelivered: list[tuple[Cell, int]] = []  # came to a worker that lacks evaluate
        self._lacking: set[str] = set()
        self._came_in_vain: set[CellKey] = set()
        self._deliveries: set[Future[Any]] = set()
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()

    def submit(self, cell: Cell) -> None:
        """Take a cell; before the first, ObjectiveError if `evaluate` cannot reach a worker."""
        if self._sent is not None:
            self._check_arrival(self._sent)
            self._sent = None
        self._finishing = False
        self._fresh.append(cell)
        self._feed()

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome] | None:
        """Wait for an outcome; None if `stopping()` has become true meanwhile."""
        while True:
            if not stopping():
                self._feed()
            try:
                future = self._done.get(timeout=_LOOK_ROUND)
            except Empty:
                if stopping():
                    return None
                continue
            ended = self._ended(future, stopping)
            if ended is not None:
                return ended

    def _ended(
        self, future: Future[Any], stopping: Callable[[], bool]
    ) -> tuple[Cell, Outcome] | None:
        """Return the outcome of a future that is done; None if there is none, or not yet."""
        error = CancelledError("cancelled") if future.cancelled() else future.exception()
        if isinstance(error, KeyboardInterrupt):  # of an executor in this thread
            raise error
        if future in self._deliveries:
            self._delivered(future, error)
            return None
        cell, times = self._running.pop(future, (None, 0))
        if cell is None:  # withdrawn
            return None
        if error is None:
            outcome = future.result()
            if not isinstance(outcome, Lacking):
                return cell, outcome
            self._deliver(outcome.worker, cell, times)
        elif self._finishing or stopping() or (times == 2 and not self._door.is_innocent(error)):
            return cell, Outcome("killed", None, message=_explained(error))
        else:
            self._lost(cell, times, error)
        return None

    def _deliver(self, worker: str, cell: Cell, times: int) -> None:
        """Keep a cell until the worker that it came to has the objective; the second time, both go."""
        if cell.key in self._came_in_vain:
            self._begin(deque([cell]), times, along=True)
            return
        self._came_in_vain.add(cell.key)
        self._undelivered.append((cell, times))
        if worker not in self._lacking:
            self._lacking.add(worker)
            future = self._door.submit(Delivery(self._shipment))
            self._deliveries.add(future)
            future.add_done_callback(self._done.put)

    def _delivered(self, future: Future[Any], error: BaseException | None) -> None:
        """Submit what was kept, if nothing else is on its way."""
        self._deliveries.remove(future)
        if self._deliveries and error is None:
            return
        cells, self._undelivered = self._undelivered, []
        self._lacking.clear()
        for cell, times in cells:
            self._begin(deque([cell]), times, along=error is not None)

    def _lost(self, cell: Cell, times: int, error: BaseException) -> None:
        self._careful = True
        if times == 0 and (self._door.reopens or self._door.is_innocent(error)):
            self._again.append(cell)
        else:
            self._alone.append(cell)

    def _feed(self) -> None:
        if self._careful and (self._running or self._undelivered):
            return
        self._careful = bool(self._again or self._alone)
        if self._again:
            self._begin(self._again, 1)
        elif self._alone:
            self._begin(deque([self._alone.popleft()]), 2)
        else:
            self._begin(self._fresh, 0)

    def _begin(self, cells: deque[Cell], times: int, *, along: bool = False) -> None:
        shipment = self._shipment.going_along() if along else self._shipment
        while cells:
            future = self._door.submit(partial(shipment, cells[0]))
            self._running[future] = cells.popleft(), times
            future.add_done_callback(self._done.put)

    def withdraw(self, cell: Cell) -> bool:
        """Forget a cell if it has not begun, and say so."""
        for cells in self._waiting:
            for place, other in enumerate(cells):
                if other is cell:
                    del cells[place]
                    return True
        kept = [(other, times) for other, times in self._undelivered if other is not cell]
        if len(kept) < len(self._undelivered):
            self._undelivered = kept
            return True
        future = next((f for f, (other, _) in self._running.items() if other is cell), None)
        if future is None or not self._door.withdraw(future):
            return False
        del self._running[future]
        return True

    @property
    def _waiting(self) -> tuple[deque[Cell], ...]:
        return self._fresh, self._again, self._alone

    def finish(self) -> list[Cell]:
        """Forget the cells that have not begun; a worker that dies now is not replaced.

        Return the others as they were submitted; where it cannot be known, all may have begun.
        """
        self._finishing = True
        self._undelivered.clear()
        for cells in self._waiting:
            cells.clear()
        for future in list(self._running):
            if self._door.withdraw(future):
                del self._running[future]
        return [cell for cell, _ in self._running.values()]

    def _check_arrival(self, sent: Mapping[str, Any]) -> None:
        """Raise ObjectiveError unless a worker can be sent the objective, and the rest."""
        try:
            elsewhere = self._arrives()
        except SettingError:
            raise
        except Exception as error:
            raise ObjectiveError(
                f"evaluate cannot be loaded in a worker ({_explained(error)}): what it needs "
                "must be importable there, or use n_jobs=1"
            ) from error
        if elsewhere:
            for name, item in sent.items():
                check_picklable(item, name)
        if self._shipment.size > _LARGE:
            warn(
                f"evaluate is {self._shipment.size / 1e6:.0f} MB, which each worker is sent: let it "
                "load its data where it runs, from a file"
            )

    def _arrives(self) -> bool:
        """Return what `_elsewhere` does, tried twice: a worker may die of something else."""
        try:
            return self._elsewhere()
        except SettingError:
            raise
        except Exception as error:
            if error.__cause__ is not None:
                raise
            try:
                return self._elsewhere()
            except SettingError:  # the pool is gone
                raise error from None

    def _elsewhere(self) -> bool:
        """Say whether workers are in another process, after sending one the objective."""
        future = self._door.submit(Delivery(self._shipment))
        try:
            return bool(future.result() != here())
        finally:
            if not future.done():  # Ctrl-C
                self._door.end([future])

    def __enter__(self) -> Self:
        return self

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Forget the cells that have not begun; yield outcomes of those that end soon."""
        patience = 0.0 if self._finishing else self._door.patience
        self.finish()
        for future in wait(self._running, timeout=patience).done:
            cell, _ = self._running.pop(future)
            if not future.cancelled() and future.exception() is None:
                outcome = future.result()
                if not isinstance(outcome, Lacking):
                    yield cell, outcome

    def __exit__(self, *error: object) -> None:
        self._undelivered.clear()
        for cells in self._waiting:
            cells.clear()
        self._door.end([*self._running, *self._deliveries])
        self._running.clear()
        self._deliveries.clear()


def _explained(error: BaseException) -> str:
    """Return in one line what a future was lost of: also what a worker said of it."""
    text = describe(error).partition(". ")[0].rstrip(". ")
    said = [line for line in str(error.__cause__ or "").splitlines() if line.strip(' "')]
    return f"{text} ({said[-1].strip()})" if said else text


class _Given:
    """An executor of the user's, which may have other things to do, and stays open."""

    reopens = False
    patience: float | None = 0.0

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Submit, as something that any pickler can send."""
        try:
            return self._executor.submit(Call(call))
        except Exception as error:
            raise SettingError(
                f"executor takes no more evaluations ({describe(error)}): give one that has not "
                "been shut down; if an evaluation ended its worker, give timeout= or memory=, with "
                "which each runs in a process of its own, or n_jobs= instead of executor="
            ) from error

    def is_innocent(self, error: BaseException) -> bool:  # noqa: ARG002
        return False

    def withdraw(self, future: Future[Any]) -> bool:
        return future.cancel()

    def end(self, futures: Collection[Future[Any]]) -> None:
        """Cancel what has not begun; the rest goes on until it returns."""
        for future in futures:
            future.cancel()


def on_executor(
    executor: Executor,
    evaluate: Objective,
    sent: Mapping[str, Any],
    n_jobs: int,
    retries: int,
    limits: Limits | None,
) -> Futures:
    """Return workers that use an executor of the user's."""
    task = Task(evaluate, retries, limits, here())
    capacity = n_jobs + SPARE if n_jobs > 1 else sys.maxsize
    return Futures(_Given(executor), task, sent, capacity=capacity)
