"""The process is the user's: settings that an evaluation changes are put back."""

from __future__ import annotations

import functools
import locale
import os
import platform
import random
import select
import sys
import time
import warnings
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.random  # loaded when first used, and that would be in each child

from racer._entry import as_user, run_as_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


_COPIES: set[int] = set()  # of descriptors 0 to 2


class _Settings:
    """Settings of Python, one for all its threads, and descriptors 0 to 2, as the script wants them."""

    def __init__(self) -> None:
        self.note()
        # copies of those that are open
        self._copies = {n: (os.dup(n), which) for n in range(3) if (which := _file_of(n))}
        _COPIES.update(copy for copy, _ in self._copies.values())
        self._due = 0.0
        self._poll = None
        if hasattr(select, "poll"):  # not on Windows
            self._poll = select.poll()
            for number in self._copies:
                self._poll.register(number, 0)

    def note(self) -> None:
        """Note the settings as they are now."""
        self._filters: Any = warnings.filters
        self._entries = self._filters[:]
        self._recursion_limit = sys.getrecursionlimit()
        self._locale = locale.setlocale(locale.LC_ALL)

    def put_back(self) -> None:
        """Restore all settings that have changed."""
        if warnings.filters is not self._filters or self._filters != self._entries:
            warnings.filters, self._filters[:] = self._filters, self._entries
            with warnings.catch_warnings():  # which makes Python look at the filters anew
                pass
        if sys.getrecursionlimit() != self._recursion_limit:
            sys.setrecursionlimit(self._recursion_limit)
        if locale.setlocale(locale.LC_ALL) != self._locale:
            with suppress(locale.Error):
                locale.setlocale(locale.LC_ALL, self._locale)
        # closed ones at once; to look for replaced ones takes as long as a short evaluation
        if self._poll is None or _clock() > self._due or self._poll.poll(0):
            self._put_back_descriptors()
            self._due = _clock() + 0.001

    def _put_back_descriptors(self) -> None:
        for number, (copy, which) in self._copies.items():
            if copy in _COPIES and _file_of(number) != which:
                with suppress(OSError):  # the copy has been closed, too
                    os.dup2(copy, number)

    def close(self) -> None:
        """Put all back for the last time."""
        self._due = 0.0
        self.put_back()
        for copy, which in self._copies.values():
            if copy in _COPIES and _file_of(copy) == which:
                os.close(copy)
            _COPIES.discard(copy)


@functools.cache
def here() -> str:
    """Return the name of this process, unique among the machines of a cluster."""
    return f"{platform.node()}:{os.getpid()}"


def _in_fork() -> None:
    """Forget the name, and close copies of descriptors: an evaluation might write to them."""
    here.cache_clear()
    for copy in _COPIES:
        with suppress(OSError):
            os.close(copy)
    _COPIES.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_fork)


def _file_of(number: int) -> tuple[int, int] | None:
    """Return device and inode of an open descriptor, None for a closed one."""
    try:
        status = os.fstat(number)
    except OSError:
        return None
    return status.st_dev, status.st_ino


_clock = time.monotonic  # an objective may replace that of `time`
# none in the threads of an executor, where evaluations run side by side
_settings: ContextVar[_Settings | None] = ContextVar("_settings", default=None)


def undisturbed(evaluate: Callable[..., Any], *args: Any) -> Any:
    """Call an objective in the user's error mode; leave the process as it was.

    A fork that it made, and that returns here as well, ends.
    """
    process, settings = here(), _settings.get()
    try:
        return run_as_user(evaluate, *args)
    finally:
        # before all else, or two processes would go on with one race
        end_fork_of(process)
        if settings is not None:
            settings.put_back()


def end_fork_of(process: str) -> None:
    """End this process unless it is the `process` that began an evaluation."""
    if here() != process:
        os._exit(int(sys.exception() is not None))


def watched_by_user(callback: Callable[[Any], object]) -> Callable[[Any], None]:
    """Return a callback that runs in the user's error mode; its changes stay."""

    @functools.wraps(callback)
    def call(event: Any) -> None:
        with as_user():
            callback(event)
        if (settings := _settings.get()) is not None:
            settings.note()

    return call


@contextmanager
def settings_put_back() -> Iterator[None]:
    """Undo settings of evaluations: after each, and on exit also from other threads."""
    token = _settings.set(settings := _Settings())
    try:
        yield
    finally:
        _settings.reset(token)
        settings.close()


@contextmanager
def process_put_back() -> Iterator[None]:
    """Put back settings that a run's evaluations change, and the generators, seeded for each."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with settings_put_back():
            yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
