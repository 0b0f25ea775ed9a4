"""Cells evaluated as futures: each worker that dies costs its own cell."""

from __future__ import annotations

import os
import sys
from collections import deque
from concurrent.futures import CancelledError
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, Self

from joblib import wrap_non_picklable_objects

from racer.errors import ObjectiveError, SettingError
from racer.evaluate.attempt import Task
from racer.evaluate.objective import check_picklable, describe
from racer.evaluate.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from concurrent.futures import Executor, Future

    from racer.evaluate.limits.limits import Limits
    from racer.evaluate.objective import Objective
    from racer.evaluate.outcome import Cell

SPARE = 2  # cells in flight beyond the number of workers, so that none waits for its next


class Door(Protocol):
    """What takes calls made elsewhere; `reopens` if the next call after a death gets a new pool."""

    reopens: bool

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
        self._task = task
        self._sent: Mapping[str, Any] | None = sent  # None once it is known to arrive
        self._fresh: deque[Cell] = deque()
        self._again: deque[Cell] = deque()
        self._alone: deque[Cell] = deque()
        self._careful = False  # those in flight have been lost before
        self._finishing = False
        self._running: dict[Future[Outcome], tuple[Cell, int]] = {}  # how often they were lost
        self._done: SimpleQueue[Future[Outcome]] = SimpleQueue()

    def submit(self, cell: Cell) -> None:
        """Take a cell; before the first, ObjectiveError if `evaluate` cannot reach a worker."""
        if self._sent is not None:
            self._check_arrival(self._sent)
            self._sent = None
        self._finishing = False
        self._fresh.append(cell)
        self._feed()

    def next(self) -> tuple[Cell, Outcome]:
        """Wait for an outcome."""
        while True:
            self._feed()
            future = self._done.get()
            cell, times = self._running.pop(future, (None, 0))
            if cell is None:  # withdrawn
                continue
            error = CancelledError("cancelled") if future.cancelled() else future.exception()
            if error is None:
                return cell, future.result()
            if self._finishing or (times == 2 and not self._door.is_innocent(error)):
                return cell, Outcome("killed", None, message=_explained(error))
            self._lost(cell, times, error)

    def _lost(self, cell: Cell, times: int, error: BaseException) -> None:
        self._careful = True
        if times == 0 and (self._door.reopens or self._door.is_innocent(error)):
            self._again.append(cell)
        else:
            self._alone.append(cell)

    def _feed(self) -> None:
        if self._careful and self._running:
            return
        self._careful = bool(self._again or self._alone)
        if self._again:
            self._begin(self._again, 1)
        elif self._alone:
            self._begin(deque([self._alone.popleft()]), 2)
        else:
            self._begin(self._fresh, 0)

    def _begin(self, cells: deque[Cell], times: int) -> None:
        while cells:
            future = self._door.submit(partial(self._task, cells[0]))
            self._running[future] = cells.popleft(), times
            future.add_done_callback(self._done.put)

    def finish(self) -> int:
        """Forget the cells that have not begun; a worker that dies now is not replaced."""
        self._finishing = True
        for cells in (self._fresh, self._again, self._alone):
            cells.clear()
        for future in list(self._running):
            if self._door.withdraw(future):
                del self._running[future]
        return len(self._running)

    def _check_arrival(self, sent: Mapping[str, Any]) -> None:
        """Raise ObjectiveError unless a worker can be sent the objective, and the rest."""
        for is_last in (False, True):  # a worker may die of something else
            try:
                elsewhere = self._elsewhere()
                break
            except SettingError:
                raise
            except Exception as error:
                if not is_last and error.__cause__ is None and self._door.reopens:
                    continue
                raise ObjectiveError(
                    f"evaluate cannot be loaded in a worker ({_explained(error)}): what it needs "
                    "must be importable there, or use n_jobs=1"
                ) from error
        if elsewhere:
            for name, item in sent.items():
                check_picklable(item, name)

    def _elsewhere(self) -> bool:
        """Say whether workers are in another process, after sending one the objective."""
        future = self._door.submit(partial(_arrived, self._task))
        try:
            return bool(future.result() != os.getpid())
        finally:
            if not future.done():  # Ctrl-C
                self._door.end([future])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for cells in (self._fresh, self._again, self._alone):
            cells.clear()
        self._door.end(list(self._running))
        self._running.clear()


def _arrived(task: Task) -> int:  # noqa: ARG001  (it has arrived)
    return os.getpid()


def _explained(error: BaseException) -> str:
    """Return in one line what a future was lost of: also what a worker said of it."""
    text = describe(error).partition(". ")[0].rstrip(". ")
    said = [line for line in str(error.__cause__ or "").splitlines() if line.strip(' "')]
    return f"{text} ({said[-1].strip()})" if said else text


class _Given:
    """An executor of the user's, which may have other things to do, and stays open."""

    reopens = False

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Submit, as something that any pickler can send."""
        try:
            return self._executor.submit(wrap_non_picklable_objects(call))
        except Exception as error:
            raise SettingError(
                f"executor takes no more evaluations ({describe(error)}): if one of them ended "
                "its worker, give timeout= or memory=, with which each runs in a process of its "
                "own, or n_jobs= instead of executor="
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
    task = Task(evaluate, retries, limits, os.getpid())
    capacity = n_jobs + SPARE if n_jobs > 1 else sys.maxsize
    return Futures(_Given(executor), task, sent, capacity=capacity)
