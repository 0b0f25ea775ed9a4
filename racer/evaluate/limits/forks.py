"""What is this process's own, and not for what it forks: signal handlers, some open files."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker as of_python
from typing import TYPE_CHECKING, Any, TypeVar

from joblib.externals.loky.backend import resource_tracker as of_joblib

from racer.evaluate.limits.linux import die_with_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Handler = TypeVar("Handler", bound=Callable[..., object])

_OURS: list[object] = []
_STORES: list[str] = []
_OF_WORKER: dict[int, tuple[int, int]] = {}  # what a worker talks to its driver through
_FILES_OF_A_STORE = ("", "-wal", "-shm", "-journal", ".lock")


def not_in_forks(handler: Handler) -> Handler:
    """Mark a handler of signals that is put back to the default in each process forked here."""
    _OURS.append(handler)
    return handler


def _put_back() -> None:
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        function = getattr(handler, "__func__", handler)
        if any(function is ours for ours in _OURS):
            usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
            with suppress(ValueError):  # not in the main thread of a subinterpreter
                signal.signal(number, usual)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_put_back)


@contextmanager
def not_for_evaluations(store: str) -> Iterator[None]:
    """Close the files of a store, which this process has open, in processes of evaluations."""
    _STORES.append(store)
    try:
        yield
    finally:
        _STORES.remove(store)


def start_worker(driver: int) -> None:
    """Begin a worker process: it ends with its driver, and keeps its pipes to itself."""
    die_with_process(driver)
    trackers = [t._resource_tracker._fd for t in (of_joblib, of_python)]  # noqa: SLF001
    # an evaluation that uses joblib needs them
    _OF_WORKER.update((fd, which) for fd, which in _open_files() if fd not in trackers)


def _open_files() -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the descriptors that are open, but for the standard ones, and which file each is."""
    with suppress(OSError):  # no /dev/fd
        for name in os.listdir("/dev/fd"):  # noqa: PTH208
            with suppress(OSError):  # the one through which this is read
                status = os.fstat(int(name))
                if int(name) > 2:
                    yield int(name), (status.st_dev, status.st_ino)


def close_own_files(but: int) -> None:
    """Close, in the process of an evaluation, what is not for it: all that it writes is rubbish."""
    stores = set()
    for path in _STORES:
        for end in _FILES_OF_A_STORE:
            with suppress(OSError):
                status = os.stat(path + end)  # noqa: PTH116
                stores.add((status.st_dev, status.st_ino))
    for descriptor, which in _open_files():
        if descriptor != but and (which in stores or _OF_WORKER.get(descriptor) == which):
            with suppress(OSError):
                os.close(descriptor)
