"""A task on its way to workers: sent to each once, however many cells it evaluates."""

from __future__ import annotations

import pickle
import threading
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

import cloudpickle

from racer.evaluate.attempt import here

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.evaluate.attempt import Task
    from racer.evaluate.outcome import Cell, Outcome

_SMALL = 64 * 1024  # bytes, which go along with every cell
_KEPT = 2  # tasks that a worker keeps


class Lacking(NamedTuple):
    """What a worker answers that has not got the task."""

    worker: str


class Shipment:
    """Calls a task: in this process as it is, in another once that has unpickled it.

    A task that is not small does not go along with cells: workers that lack it say so.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._key = uuid.uuid4().hex
        self._pickled: bytes | None = None
        self._goes_along = False

    def __call__(self, cell: Cell) -> Outcome | Lacking:
        """Evaluate a cell."""
        return self._task(cell)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, bytes | None]]:
        key, pickled = self.packed()
        goes_along = self._goes_along or len(pickled) <= _SMALL
        return _unpacked, (key, pickled if goes_along else None)

    def going_along(self) -> Shipment:
        """Return the same, which goes along with its cell: for workers that are new each time."""
        twin = Shipment(self._task)
        twin._key, twin._pickled, twin._goes_along = *self.packed(), True
        return twin

    def packed(self) -> tuple[str, bytes]:
        """Return the task's name, and the task as a worker that lacks it needs it."""
        if self._pickled is None:
            self._pickled = cloudpickle.dumps(self._task)
        return self._key, self._pickled

    @property
    def size(self) -> int:
        """How many bytes were sent; 0 if none had to be."""
        return 0 if self._pickled is None else len(self._pickled)


class Delivery:
    """Brings a task to a worker, which answers with its name."""

    def __init__(self, shipment: Shipment) -> None:
        self._shipment = shipment

    def __call__(self) -> str:
        """Say where it has arrived."""
        return here()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, bytes]]:
        return _delivered, self._shipment.packed()


class Call:
    """A call that any pickler can send, and that is unpickled only where it is called.

    On the way Dask's scheduler unpickles what it is given, and pickles it again for a worker.
    """

    __name__ = "evaluate"  # in what Dask shows

    def __init__(self, call: Callable[[], Any] | bytes) -> None:
        self.call = call

    def __call__(self) -> Any:
        """Make the call."""
        call = self.call
        if isinstance(call, bytes):
            call = pickle.loads(call)  # noqa: S301  (from the driver)
        return call()

    def __reduce__(self) -> tuple[type[Call], tuple[bytes]]:
        call = self.call
        return Call, (call if isinstance(call, bytes) else cloudpickle.dumps(call),)

    def __dask_tokenize__(self) -> str:
        """Return another one each time: a call that is repeated must not be taken for the last."""
        return uuid.uuid4().hex


_tasks: dict[str, Task] = {}
_lock = threading.RLock()


def _unpacked(key: str, pickled: bytes | None) -> Callable[[Cell], Outcome | Lacking]:
    with _lock:
        if key not in _tasks:
            if pickled is None:
                return _lacking
            while len(_tasks) >= _KEPT:
                del _tasks[next(iter(_tasks))]
            _tasks[key] = pickle.loads(pickled)  # noqa: S301  (from the driver)
        return _tasks[key]


def _lacking(cell: Cell) -> Lacking:  # noqa: ARG001
    return Lacking(here())


def _delivered(key: str, pickled: bytes) -> Callable[[], str]:
    _unpacked(key, pickled)
    return here
