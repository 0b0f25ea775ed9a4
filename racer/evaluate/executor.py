"""Cells evaluated as futures; a cell that an executor loses is retried.

A future that is cancelled or raises has lost its cell: a worker died, or a pool was shut down.

================  ======================================  ======================================
attempt           submitted                               after a loss
================  ======================================  ======================================
`FIRST`           at once, unless a retry is waiting      `RETRY_TOGETHER` where a new pool takes
                                                          over, else `RETRY_ALONE`
`RETRY_TOGETHER`  with all others of this queue, when     `RETRY_ALONE`
                  nothing is in flight
`RETRY_ALONE`     by itself, when nothing is in flight    killed; `RETRY_ALONE` again if it was
                                                          not the cell's doing (`is_retryable`)
================  ======================================  ======================================

A cell that is lost while a run stops counts as killed at once; nobody records it.

A worker that lacks the task answers `MissingTask`. This is no loss: the cell waits until the task
has been loaded and repeats its attempt; if it misses the task again, both are sent together.
"""

from __future__ import annotations

import reprlib
import sys
from collections import deque
from concurrent.futures import CancelledError, wait
from enum import Enum, auto
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, Self

from racer.errors import ObjectiveError, SettingError, warn
from racer.evaluate.objective import check_picklable, describe
from racer.evaluate.outcome import Outcome
from racer.evaluate.process_state import here
from racer.evaluate.transport import Call, LoadTask, MissingTask, Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from concurrent.futures import Executor, Future

    from racer.evaluate.attempt import Task
    from racer.evaluate.outcome import Cell, CellKey

SPARE = 2  # cells in flight beyond the number of workers, so that no worker runs idle
_LARGE = 10_000_000  # bytes of a task above which a warning is due


def never() -> bool:
    """Return False: a run without a stop."""
    return False


class OnlyNeeded:
    """Base of workers that receive requested cells only."""

    takes_more = False

    def withdraw(self, cell: Cell) -> bool:  # noqa: ARG002
        """Return False."""
        return False

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Yield nothing."""
        return iter(())

    def __enter__(self) -> Self:
        return self


class Attempt(Enum):
    """How a cell is submitted; see the table above."""

    FIRST = auto()
    RETRY_TOGETHER = auto()
    RETRY_ALONE = auto()


def _queues() -> dict[Attempt, deque[Cell]]:
    return {attempt: deque() for attempt in Attempt}


class Submitter(Protocol):
    """Submits calls to an executor."""

    replaces_pool: bool = False  # the next call after the death of a worker gets a new pool
    grace: float | None  # seconds to wait at the end for calls that have begun; None: for all

    def room(self, n_workers: int) -> int:
        """Return the number of calls to keep in flight."""
        return n_workers + SPARE

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Submit a call, in a new pool if the old one is gone."""

    def is_retryable(self, error: BaseException) -> bool:  # noqa: ARG002
        """Return True if a call failed for a reason other than itself."""
        return False

    def withdraw(self, future: Future[Any]) -> bool:
        """Cancel a call that has not begun; return False if that is not possible."""

    def close(self, futures: Collection[Future[Any]]) -> None:
        """Abandon these calls, if any; no other will be submitted."""


class WorkerLostError(Exception):
    """Raised for a call that its submitter has retried: each time its worker died."""


class Futures:
    """Workers that evaluate each cell as a future of a submitter."""

    takes_more = True

    def __init__(
        self,
        submitter: Submitter,
        task: Task,
        contents: Mapping[str, Any],
        *,
        n_workers: int | None,
    ) -> None:
        self.n_workers = n_workers  # None: not known
        self._submitter = submitter
        self._transport = Transport(task)
        # what else is sent to workers, candidates and instances, by name; None once checked
        self._contents: Mapping[str, Any] | None = contents
        self._queues = _queues()
        self._in_flight: dict[Future[Outcome | MissingTask], tuple[Cell, Attempt]] = {}
        self._done: SimpleQueue[Future[Any]] = SimpleQueue()
        self._is_retrying = False  # submits nothing until all cells in flight have ended
        self._is_finishing = False
        self._loads: dict[str, Future[Any]] = {}  # by the worker that lacks the task
        self._without_task = _queues()  # wait for these loads
        self._missed: set[CellKey] = set()  # cells that came to a worker without the task

    @property
    def capacity(self) -> int:
        """Number of cells to keep in flight."""
        return sys.maxsize if self.n_workers is None else self._submitter.room(self.n_workers)

    def submit(self, cell: Cell) -> None:
        """Queue a cell; before the first, raise ObjectiveError if the task cannot reach a worker."""
        # not before the first cell: a race that is only replayed needs no workers
        if self._contents is not None:
            self._check_task(self._contents)
            self._contents = None
        self._is_finishing = False
        self._queues[Attempt.FIRST].append(cell)
        self._submit_next()

    def next(self, stopping: Callable[[], bool] = never) -> tuple[Cell, Outcome] | None:
        """Wait for an outcome; None if `stopping()` has become true meanwhile."""
        while True:
            if not stopping():
                self._submit_next()
            try:
                # a while only, after which a stop is looked for
                future = self._done.get(timeout=0.2)
            except Empty:
                if stopping():
                    return None
                continue
            if (ended := self._handle(future, stopping)) is not None:
                return ended

    def _submit_next(self) -> None:
        """Submit the cells of the queue that is due."""
        # a retry begins in an empty pool, so that the next death is known to be its own
        if self._is_retrying and (self._in_flight or any(self._without_task.values())):
            return
        together, alone = self._queues[Attempt.RETRY_TOGETHER], self._queues[Attempt.RETRY_ALONE]
        self._is_retrying = bool(together or alone)
        # one at a time: a cell that kills its worker now is the culprit
        if alone and not together:
            self._submit(alone.popleft(), Attempt.RETRY_ALONE)
            return
        attempt = Attempt.RETRY_TOGETHER if together else Attempt.FIRST
        while self._queues[attempt]:
            self._submit(self._queues[attempt].popleft(), attempt)

    def _submit(self, cell: Cell, attempt: Attempt, *, inline: bool = False) -> None:
        transport = self._transport.inline() if inline else self._transport
        future = self._submitter.submit(partial(transport, cell))
        self._in_flight[future] = cell, attempt
        future.add_done_callback(self._done.put)

    def _handle(
        self, future: Future[Any], stopping: Callable[[], bool]
    ) -> tuple[Cell, Outcome] | None:
        """Return the outcome of a finished future; None if it has none, or its cell is retried."""
        error = CancelledError("cancelled") if future.cancelled() else future.exception()
        if isinstance(error, KeyboardInterrupt):  # of an executor in this thread
            raise error
        if future in self._loads.values():
            self._end_load(error)
            return None
        if future not in self._in_flight:  # withdrawn
            return None
        cell, attempt = self._in_flight.pop(future)
        if error is None:
            outcome = future.result()
            if not isinstance(outcome, MissingTask):
                return cell, outcome
            self._load_task(outcome.worker, cell, attempt)
            return None
        retry = None if self._is_finishing or stopping() else self._retry_after(attempt, error)
        if retry is None:
            return cell, Outcome("killed", None, message=_reason(error))
        self._is_retrying = True
        self._queues[retry].append(cell)
        return None

    def _retry_after(self, attempt: Attempt, error: BaseException) -> Attempt | None:
        """Return the attempt that follows a lost one; None if it killed its worker."""
        if attempt is Attempt.FIRST and self._submitter.replaces_pool:
            return Attempt.RETRY_TOGETHER
        if isinstance(error, WorkerLostError):
            return None
        if attempt is Attempt.RETRY_ALONE and not self._submitter.is_retryable(error):
            return None
        return Attempt.RETRY_ALONE

    def _load_task(self, worker: str, cell: Cell, attempt: Attempt) -> None:
        """Queue a cell whose worker lacks the task; on the second miss send both together."""
        if cell.key in self._missed:
            self._submit(cell, attempt, inline=True)
            return
        self._missed.add(cell.key)
        self._without_task[attempt].append(cell)
        # one load for each worker, however many cells have missed the task there
        if worker not in self._loads:
            future = self._submitter.submit(LoadTask(self._transport))
            self._loads[worker] = future
            future.add_done_callback(self._done.put)

    def _end_load(self, error: BaseException | None) -> None:
        """Resubmit the cells that lacked the task after the last load, or after a failed load."""
        if error is None and not all(future.done() for future in self._loads.values()):
            return
        self._loads = {w: future for w, future in self._loads.items() if not future.done()}
        for attempt, queue in self._without_task.items():
            while queue:
                self._submit(queue.popleft(), attempt, inline=error is not None)

    def withdraw(self, cell: Cell) -> bool:
        """Forget a cell if it has not begun; return whether it was forgotten."""
        for queue in self._waiting():
            for place, other in enumerate(queue):
                if other is cell:
                    del queue[place]
                    return True
        future = next((f for f, (other, _) in self._in_flight.items() if other is cell), None)
        if future is None or not self._submitter.withdraw(future):
            return False
        del self._in_flight[future]
        return True

    def finish(self) -> list[Cell]:
        """Forget the cells that have not begun; from now on no lost cell is retried.

        Return the others in the order of their submission: all that could not be withdrawn.
        """
        self._is_finishing = True
        self._forget_waiting()
        for future in list(self._in_flight):
            if self._submitter.withdraw(future):
                del self._in_flight[future]
        return [cell for cell, _ in self._in_flight.values()]

    def _waiting(self) -> tuple[deque[Cell], ...]:
        return *self._queues.values(), *self._without_task.values()

    def _forget_waiting(self) -> None:
        for queue in self._waiting():
            queue.clear()

    def _check_task(self, contents: Mapping[str, Any]) -> None:
        """Raise ObjectiveError unless a worker can load the task, and be sent the contents."""
        try:
            is_remote = self._is_remote()
        except SettingError:
            raise
        except Exception as error:
            raise ObjectiveError(
                f"evaluate cannot be loaded in a worker ({_reason(error)}): what it needs "
                "must be importable there, or use n_jobs=1"
            ) from error
        if is_remote:
            for name, item in contents.items():
                check_picklable(item, name)
        if self._transport.size > _LARGE:
            warn(
                f"evaluate is {self._transport.size / 1e6:.0f} MB, which each worker is sent: let "
                "it load its data where it runs, from a file"
            )

    def _is_remote(self) -> bool:
        """Return True if workers are other processes; tried again, as a worker may just die."""
        lost: Exception | None = None
        # others may be ending the same pool: try again
        for _ in range(3):
            try:
                return self._load_elsewhere()
            except SettingError as error:  # the pool is gone
                raise (lost or error) from None
            except Exception as error:
                if error.__cause__ is not None:  # raised in the worker
                    raise
                lost = error
        raise lost or SettingError("no worker can be asked")

    def _load_elsewhere(self) -> bool:
        """Load the task on a worker; return True if that is another process."""
        future = self._submitter.submit(LoadTask(self._transport))
        try:
            where = future.result()
        finally:
            if not future.done():  # Ctrl-C
                self._submitter.close([future])
        if not isinstance(where, str):
            raise SettingError(
                f"executor: the result of a future is {reprlib.repr(where)}, which is not what the "
                "submitted function returned: let submit(fn, *args) set fn(*args) as the result"
            )
        return where != here()

    def __enter__(self) -> Self:
        return self

    def rest(self) -> Iterator[tuple[Cell, Outcome]]:
        """Forget the cells that have not begun; yield outcomes that come soon."""
        grace = 0.0 if self._is_finishing else self._submitter.grace
        self.finish()
        for future in wait(self._in_flight, timeout=grace).done:
            cell, _ = self._in_flight.pop(future)
            if not future.cancelled() and future.exception() is None:
                outcome = future.result()
                if not isinstance(outcome, MissingTask):
                    yield cell, outcome

    def __exit__(self, *error: object) -> None:
        self._forget_waiting()
        self._submitter.close([*self._in_flight, *self._loads.values()])
        self._in_flight.clear()
        self._loads.clear()


def _reason(error: BaseException) -> str:
    """Return a one-line reason why a future failed, including the worker's own message."""
    text = describe(error).partition(". ")[0].rstrip(". ")
    remote = [line for line in str(error.__cause__ or "").splitlines() if line.strip(' "')]
    return f"{text} ({remote[-1].strip()})" if remote else text


class UserExecutor(Submitter):
    """A user-supplied executor; it is shared and never shut down here."""

    grace: float | None = 0.0

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        """Submit a call in a form that any pickler can send."""
        try:
            return self._executor.submit(Call(call))
        except Exception as error:
            raise SettingError(
                f"executor takes no more evaluations ({describe(error)}): give one that has not "
                "been shut down; if an evaluation ended its worker, give limits=, with "
                "which each runs in a process of its own, or a number as n_jobs"
            ) from error

    def withdraw(self, future: Future[Any]) -> bool:
        """Cancel a call; one whose `cancel` raises could not be withdrawn."""
        try:
            return future.cancel()
        except Exception:  # noqa: BLE001  (NotImplementedError of Parsl's futures, say)
            return False

    def close(self, futures: Collection[Future[Any]]) -> None:
        """Cancel pending calls; running ones finish."""
        for future in futures:
            self.withdraw(future)
