"""The task on its way to workers: sent to each once, however many cells it evaluates."""

from __future__ import annotations

import base64
import io
import pickle
import threading
import uuid
from collections import ChainMap
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import cloudpickle
import joblib

from racer.evaluate.process_state import here

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.evaluate.attempt import Task
    from racer.evaluate.outcome import Cell, Outcome


def _reduced(code: CodeType) -> tuple[Callable[..., CodeType], tuple[Any, ...]]:
    """Reduce a code object as cloudpickle does, which leaves the name of its file out from 3.1.3 on."""
    make, arguments = cloudpickle.Pickler.dispatch_table[CodeType](code)
    return _with_file, (code.co_filename, make, arguments)


def _with_file(name: str, make: Callable[..., CodeType], arguments: tuple[Any, ...]) -> CodeType:
    """Return a code object that knows its file, which messages of failures name."""
    return make(*arguments).replace(co_filename=name)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # that has no types
    dispatch_table: ClassVar = ChainMap({CodeType: _reduced}, cloudpickle.Pickler.dispatch_table)


def dumps(item: Any) -> bytes:
    """Pickle an object, functions by value with the names of their files."""
    file = io.BytesIO()
    _Pickler(file).dump(item)
    return file.getvalue()


class MissingTask(NamedTuple):
    """Answer of a worker that lacks the task."""

    worker: str


class Transport:
    """A task that pickles as a reference: a worker looks it up among its loaded tasks.

    A small task is part of its reference. In this process it is called directly.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._key = uuid.uuid4().hex
        self._pickled: bytes | None = None
        self._is_inline = False

    def __call__(self, cell: Cell) -> Outcome | MissingTask:
        """Evaluate a cell."""
        return self._task(cell)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, bytes | None]]:
        key, pickled = self.payload()
        # a small task is sent with every cell
        return _look_up, (key, pickled if self._is_inline or len(pickled) <= 64 * 1024 else None)

    def inline(self) -> Transport:
        """Return a copy that is sent with its cell, of any size."""
        copy = Transport(self._task)
        copy._key, copy._pickled, copy._is_inline = *self.payload(), True
        return copy

    def payload(self) -> tuple[str, bytes]:
        """Return the key and the pickle of the task."""
        if self._pickled is None:
            self._pickled = dumps(self._task)
        return self._key, self._pickled

    @property
    def size(self) -> int:
        """Bytes of the pickled task; 0 if it has not been pickled."""
        return 0 if self._pickled is None else len(self._pickled)


class LoadTask:
    """A call that loads a task on a worker and returns the name of the worker."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __call__(self) -> str:
        """Return the name of this process, which has the task."""
        return here()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, bytes]]:
        return _load, self._transport.payload()


class Call:
    """A call that any pickler can send, and that is unpickled only where it is called.

    On the way Dask's scheduler unpickles its input, and pickles it again for a worker.
    """

    __name__ = "evaluate"  # shown by Dask

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
        return Call, (call if isinstance(call, bytes) else dumps(call),)

    def __dask_tokenize__(self) -> str:
        """Return a new token each time, so that Dask does not take a retry for the first call."""
        return uuid.uuid4().hex


def packed(item: Any) -> str:
    """Return an object as text, which can be the message of an outcome."""
    return base64.b64encode(dumps(item)).decode()


def unpacked(message: str) -> Any:
    """Return the object in a message of a worker."""
    return pickle.loads(base64.b64decode(message))  # noqa: S301  (of the driver's own call)


def mapped(path: str) -> Any:
    """Return the object that the driver wrote by `joblib.dump`; its arrays stay in the file."""
    return joblib.load(path, mmap_mode="r")


_tasks: dict[str, Task] = {}
_lock = threading.RLock()


def _look_up(key: str, pickled: bytes | None) -> Callable[[Cell], Outcome | MissingTask]:
    with _lock:
        if key not in _tasks:
            if pickled is None:
                return _missing
            # at most two tasks, as of two runs in turn
            while len(_tasks) >= 2:
                del _tasks[next(iter(_tasks))]
            _tasks[key] = pickle.loads(pickled)  # noqa: S301  (from the driver)
        return _tasks[key]


def _missing(cell: Cell) -> MissingTask:  # noqa: ARG001
    return MissingTask(here())


def _load(key: str, pickled: bytes) -> Callable[[], str]:
    _look_up(key, pickled)
    return here
