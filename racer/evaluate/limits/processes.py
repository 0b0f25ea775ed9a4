"""Forked processes that send lines, and die with the process that needs them.

And the signal handlers and open files of this process that its forks must not inherit.
"""

from __future__ import annotations

import functools
import json
import os
import reprlib
import select
import signal
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import fields
from multiprocessing import resource_tracker as of_python
from typing import TYPE_CHECKING, Any, TypeVar

from joblib.externals.loky.backend import resource_tracker as of_joblib

from racer.errors import RaceStateError
from racer.evaluate.limits.linux import (
    adopt_orphans,
    die_with_process,
    fork,
    go_on_if_stopped,
    leave_behind,
    prefer_as_victim,
    wait_for_end,
)
from racer.evaluate.outcome import Outcome, check_outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    Handler = TypeVar("Handler", bound=Callable[..., object])

_FIELDS = [field.name for field in fields(Outcome)]
GRACE = 1.0  # seconds for killed processes to end
TICK = 0.05  # seconds between two checks of memory and processes
_LONGEST_LINE = 2**17


class Child:
    """A forked process that calls `run(descriptor)`, which writes lines to it, and exits."""

    def __init__(self, run: Callable[[int], None]) -> None:
        flush()  # or buffered output would be printed twice
        self.reader, writer = os.pipe()
        self.pid = fork()
        if self.pid == 0:
            try:
                os.close(self.reader)
                run(writer)
            finally:
                os._exit(0)
        # else this process would hold the pipe open, and never see its end
        os.close(writer)
        os.set_blocking(self.reader, False)
        self.status: int | None = None  # of waitpid, once it has ended
        self.peak = 0  # resident bytes, known then
        self._text = b""
        self._poll = select.poll()
        self._poll.register(self.reader, select.POLLIN)

    def line(self, seconds: float) -> bytes | None:
        """Return a line, waiting `seconds` at most; None if none has come."""
        if b"\n" not in self._text:
            self._poll.poll(max(seconds, 0.0) * 1000)
            if not self._read() and self.ended():
                self._read()  # what it wrote before it ended
        line, newline, rest = self._text.partition(b"\n")
        if newline or len(line) > _LONGEST_LINE or (line and self.status is not None):
            self._text = rest
            return line
        return None

    def _read(self) -> bool:
        """Read the pending data; return True if there was any."""
        try:
            part = os.read(self.reader, _LONGEST_LINE)
        except BlockingIOError:
            return False
        self._text += part
        if not part:  # it has ended, or is about to, or has closed the pipe
            with suppress(KeyError):
                self._poll.unregister(self.reader)
                self.ended(within=0.01)
        return bool(part)

    def ended(self, *, within: float = 0.0) -> bool:
        """Return True if it has ended, after waiting `within` seconds at most."""
        until = time.monotonic() + within
        while self.status is None:
            try:
                pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            except ChildProcessError:  # SIGCHLD is ignored, or it was waited for elsewhere
                self.status = 0
                break
            if pid:
                self.status, self.peak = status, usage.ru_maxrss * 1024
            elif (left := until - time.monotonic()) <= 0.0:
                return False
            else:
                wait_for_end(self.pid, left)
        return True

    def how(self) -> str:
        """Return how it ended, in words."""
        return ending(os.waitstatus_to_exitcode(self.status or 0))


def ending(code: int) -> str:
    """Return how a process ended, in words; a negative code is minus its signal."""
    if code >= 0:
        return f"exited with code {code}"
    with suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"


def flush() -> None:
    """Flush standard output and error."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # None, closed, or the user's own
            stream.flush()


def write(descriptor: int, outcome: Outcome) -> None:
    """Send an outcome as a line."""
    fields = {name: getattr(outcome, name) for name in _FIELDS}
    data = json.dumps(fields).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


def parse(line: bytes, seconds: float = 0.0) -> Outcome:
    """Return the outcome in a line; an invalid one if it holds no outcome."""
    with suppress(ValueError, TypeError, RecursionError, RaceStateError):
        fields = json.loads(line)
        outcome = Outcome(**fields)
        check_outcome(outcome)
        if [type(fields[name]) for name in ("message", "attempts", "worker")] == [str, int, str]:
            return outcome
    message = f"its process sent {reprlib.repr(line)} instead of an outcome"
    return Outcome("invalid", None, seconds=seconds, message=message)


def _watch() -> None:
    """Make this process a watcher: set, once, the state that its children inherit."""
    # it is shared with the parent, whose event loop would take our signals for its own
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    # an evaluation must not take the input of the user's program
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    adopt_orphans()
    prefer_as_victim()


def supervised(
    work: Callable[[Callable[[], bool], int], Iterable[Outcome]],
) -> Generator[Outcome, None, None]:
    """Yield the outcomes of `work(lost, pipe)` (see `limited`), run in a fork that dies with us."""
    here = os.getpid()

    def run(writer: int) -> None:
        # out of the terminal's group: Ctrl-C goes to the driver, which decides for all
        os.setsid()
        _watch()
        reader = select.poll()
        reader.register(writer, 0)

        def lost() -> bool:
            return os.getppid() != here or bool(reader.poll(0))  # an error: no reader is left

        for outcome in work(lost, writer):
            write(writer, outcome)

    process = Child(run)
    try:
        while (line := process.line(TICK)) is not None or process.status is None:
            if line is not None:
                yield parse(line)
            else:
                go_on_if_stopped(process.pid)
    finally:
        os.close(process.reader)
        # it notices the closed pipe, and has children of its own to kill first
        if not process.ended(within=2 * GRACE):
            os.kill(process.pid, signal.SIGKILL)
            process.ended(within=GRACE)


@functools.cache
def warden(owner: int) -> int:
    """Make this process a watcher; return a pipe to a warden, which kills leftovers.

    The process group to be killed is written to it as eight bytes, 0 for none; a fork needs its own.
    """
    reader, writer = os.pipe()
    leave_behind(functools.partial(_kill_last, reader, owner))
    os.close(reader)
    _watch()
    return writer


def _kill_last(reader: int, owner: int) -> None:
    """Once the owner ends, kill the group it wrote last; wake the owner if it is stopped."""
    os.dup2(reader, 0)
    os.closerange(1, 2**16)  # else nobody sees the owner's pipes close
    poll = select.poll()
    poll.register(0, select.POLLIN)
    group = 0
    while True:
        # twice a second: was a worker stopped?
        if not poll.poll(500 if group else None):
            go_on_if_stopped(owner)
        elif told := os.read(0, 8):
            group = int.from_bytes(told)
        else:
            break
    if group:
        os.killpg(group, signal.SIGKILL)


_OURS: list[object] = []
_STORES: list[str] = []
_OF_WORKER: dict[int, tuple[int, int]] = {}  # pipes between a worker and its driver


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
        for end in ("", "-journal", ".lock"):
            with suppress(OSError):
                status = os.stat(path + end)  # noqa: PTH116
                stores.add((status.st_dev, status.st_ino))
    for descriptor, which in _open_files():
        if descriptor != but and (which in stores or _OF_WORKER.get(descriptor) == which):
            with suppress(OSError):
                os.close(descriptor)
