"""A task on its way to workers: sent to each once, however many cells it evaluates."""

from __future__ import annotations

import pickle
import threading
import uuid
from typing import TYPE_CHECKING, Any

import cloudpickle

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.evaluate.attempt import Task
    from racer.evaluate.outcome import Cell, Outcome

_SMALL = 64 * 1024  # bytes, which go along with every cell
_KEPT = 2  # tasks that a worker keeps


class Shipment:
    """Calls a task: in this process as it is, in another once that has unpickled it.

    A task that is not small goes only to a worker that lacks it, which says so by None.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._key = uuid.uuid4().hex
        self._pickled: bytes | None = None
        self._is_whole = False

    def __call__(self, cell: Cell) -> Outcome | None:
        """Evaluate a cell."""
        return self._task(cell)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, bytes | None]]:
        if self._pickled is None:
            self._pickled = cloudpickle.dumps(self._task)
        goes_along = self._is_whole or self.size <= _SMALL
        return _unpacked, (self._key, self._pickled if goes_along else None)

    def whole(self) -> Shipment:
        """Return the same, for a worker that lacks it."""
        other = Shipment(self._task)
        other._key, other._pickled, other._is_whole = self._key, self._pickled, True
        return other

    @property
    def size(self) -> int:
        """How many bytes were sent; 0 if none had to be."""
        return 0 if self._pickled is None else len(self._pickled)


_tasks: dict[str, Task] = {}
_lock = threading.RLock()


def _unpacked(key: str, pickled: bytes | None) -> Callable[[Cell], Outcome | None]:
    with _lock:
        if key not in _tasks:
            if pickled is None:
                return _lacking
            while len(_tasks) >= _KEPT:
                del _tasks[next(iter(_tasks))]
            _tasks[key] = pickle.loads(pickled)  # noqa: S301  (from the driver)
        return _tasks[key]


def _lacking(cell: Cell) -> None:
    """Say that the task has not come along."""
