"""Signal handlers and open files of this process that its forks must not inherit."""

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
_OF_WORKER: dict[int, tuple[int, int]] = {}  # pipes between a worker and its driver
_FILES_OF_A_STORE = ("", "-wal", "-shm", "-journal", ".lock")


def not_in_forks(handler: Handler) -> Handler:
    """Mark a signal handler that each forked process resets to the default."""
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
    """Make evaluation processes close the files of a store that this process has open."""
    _STORES.append(store)
    try:
        yield
    finally:
        _STORES.remove(store)


def start_worker(driver: int) -> None:
    """Set up a worker process: it dies with its driver, and evaluations do not get its pipes."""
    die_with_process(driver)
    trackers = [t._resource_tracker._fd for t in (of_joblib, of_python)]  # noqa: SLF001
    # an evaluation that uses joblib needs them
    _OF_WORKER.update((fd, which) for fd, which in _open_files() if fd not in trackers)


def _open_files() -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the open descriptors except the standard ones, each with (device, inode)."""
    with suppress(OSError):  # no /dev/fd
        for name in os.listdir("/dev/fd"):  # noqa: PTH208
            with suppress(OSError):  # the descriptor of this listing
                status = os.fstat(int(name))
                if int(name) > 2:
                    yield int(name), (status.st_dev, status.st_ino)


def close_own_files(but: int) -> None:
    """Close inherited file descriptors in an evaluation's process, which could corrupt them."""
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
