"""A program run once: how it ended, and the beginning and end of its output."""

from __future__ import annotations

import math
import os
import select
import signal
import subprocess
import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from racer.evaluate.limits.limits import deadline
from racer.evaluate.limits.linux import dying_with, fork_unwarned
from racer.evaluate.limits.processes import not_in_forks
from racer.render import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

T = TypeVar("T")
KEPT = 2048  # bytes of what is printed, at its beginning and at its end
_AT_ONCE = 2**16


class Printed:
    """Output of a pipe: its beginning, its end and its size."""

    def __init__(self) -> None:
        self.size: int = 0
        self.begin: bytes = b""
        self._last = b""

    def append(self, data: bytes) -> None:
        """Append data."""
        room = KEPT - len(self.begin)
        self.begin += data[:room]
        self._last = (self._last + data[room:])[-KEPT:]
        self.size += len(data)

    @property
    def left_out(self) -> int:
        """Bytes that were not kept."""
        return self.size - len(self.begin) - len(self._last)

    @property
    def end(self) -> bytes:
        """The end of the output."""
        return self._last if self.left_out else self.begin + self._last

    def __str__(self) -> str:
        if not self.left_out:
            return printable(self.begin + self._last)
        return (
            f"{printable(self.begin)}\n.. {self.left_out} bytes left out ..\n"
            f"{printable(self._last)}"
        )


class Ran(NamedTuple):
    """How a program ended (exit code, minus a signal, None: out of time), and its output."""

    code: int | None
    out: Printed
    err: Printed


def printable(data: bytes | str) -> str:
    """Return text with escapes for bytes that are not UTF-8 and control characters."""
    text = data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data
    return escape.printable(text)


def run(argv: Sequence[str], program: str, until: float = math.inf, cwd: str | None = None) -> Ran:
    """Run a program to its end, or until a time (monotonic), without input; OSError if none starts.

    On Linux it ends with the thread that started it; processes that it leaves in its group are killed.
    """
    out, err = Printed(), Printed()

    def follow(child: subprocess.Popen[bytes]) -> int | None:
        streams = [(s, p) for s, p in ((child.stdout, out), (child.stderr, err)) if s is not None]
        _read(child, {stream.fileno(): printed for stream, printed in streams}, until)
        return _waited_for(child, until)

    before_exec = dying_with(os.getpid())
    code = attended(
        argv,
        follow,
        executable=program,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=cwd,
        preexec_fn=before_exec,
    )
    return Ran(code, out, err)


def attended(
    argv: Sequence[str], follow: Callable[[subprocess.Popen[bytes]], T], **settings: Any
) -> T:
    """Start a program and follow it; at its end, or at Ctrl-C, kill the rest of its group."""
    child: subprocess.Popen[bytes] | None = None
    leads = deadline.get() is None  # else it is in a group that its watcher ends
    try:
        with DeferredSignals(), fork_unwarned():
            child = subprocess.Popen(argv, start_new_session=leads, **settings)  # noqa: S603  (what the user wants to run)
        return follow(child)
    finally:
        if child is not None:
            with child:  # closes its pipes, and waits
                child.kill()
            with suppress(OSError):  # nothing is left of it
                if leads:
                    os.killpg(child.pid, signal.SIGKILL)


class DeferredSignals:
    """Defer Python's signal handlers until exit.

    A handler that raises while a program is being started would lose its process: it is called when
    the fork returns, before Popen has noted the process.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Any] = {}
        self._pending: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            try:
                for number in signal.valid_signals():
                    if callable(handler := signal.getsignal(number)):
                        self._handlers[number] = handler
                        signal.signal(number, self._defer)
            except BaseException:
                self._restore()
                raise

    def __exit__(self, *error: object) -> None:
        # a copy, as `_restore` empties it; deferred calls come last, because they may raise
        handlers = dict(self._handlers)
        try:
            self._restore()
        finally:
            with ExitStack() as answers:  # the next also where one raises
                for number, frame in reversed(self._pending):
                    answers.callback(handlers[number], number, frame)

    @not_in_forks
    def _defer(self, number: int, frame: FrameType | None) -> None:
        self._pending.append((number, frame))

    def _restore(self) -> None:
        """Restore all handlers, even if a handler called meanwhile raises."""
        try:
            while self._handlers:
                number = next(iter(self._handlers))
                signal.signal(number, self._handlers[number])
                del self._handlers[number]
        finally:
            if self._handlers:
                self._restore()


def _waited_for(child: subprocess.Popen[bytes], until: float) -> int | None:
    """Return the exit code, None if the time is over."""
    with suppress(subprocess.TimeoutExpired):
        return child.wait(None if until == math.inf else max(0.0, until - time.monotonic()))
    return None


def _read(child: subprocess.Popen[bytes], pipes: dict[int, Printed], until: float) -> None:
    """Read output until the program has ended or closed both pipes, or time is up."""
    poll = select.poll()
    for pipe in pipes:
        os.set_blocking(pipe, False)
        poll.register(pipe, select.POLLIN)
    while pipes and child.poll() is None and (left := until - time.monotonic()) > 0.0:
        # every 50 ms: a program that has ended may leave its pipes to others
        for pipe, _ in poll.poll(min(50, left * 1000)):
            data = os.read(pipe, _AT_ONCE)
            pipes[pipe].append(data)
            if not data:
                poll.unregister(pipe)
                del pipes[pipe]
    for pipe, printed in pipes.items():
        # no more than a pipe can hold: a program that goes on printing is not waited for
        most = printed.size + 2**20
        with suppress(BlockingIOError):
            while printed.size < most and (data := os.read(pipe, _AT_ONCE)):
                printed.append(data)
