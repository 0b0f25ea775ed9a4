"""Graceful stop at a signal: running evaluations are finished and recorded first."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from racer.errors import RaceInterrupted
from racer.evaluate.limits.processes import not_in_forks
from racer.render.text import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

# The default handlers, which a race replaces; a handler of the user, or an order to ignore the
# signal (nohup), stays.
_DEFAULT_HANDLERS: dict[int, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
if hasattr(signal, "SIGHUP"):
    _DEFAULT_HANDLERS[signal.SIGHUP] = signal.SIG_DFL


class GracefulStop:
    """Announce the first SIGINT, SIGTERM or SIGHUP; raise KeyboardInterrupt at the second.

    A context manager; outside the main thread, where Python allows no handlers, it does nothing.
    """

    def __init__(self, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self.signal: int | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number, default in _DEFAULT_HANDLERS.items():
                if signal.getsignal(number) == default:
                    self._before[number] = signal.signal(number, self._answer)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()

    def requested(self) -> bool:
        """Return True once a signal has come."""
        return self.signal is not None

    @property
    def code(self) -> int:
        """Exit code of the signal; without one 130, as after Ctrl-C."""
        return 128 + (self.signal or signal.SIGINT)

    @not_in_forks
    def _answer(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.signal is not None:
            self._restore()  # a third one gets the default handler
            raise KeyboardInterrupt
        self.signal = number
        self._announce(
            "\nracer: running evaluations will be finished and recorded; again to stop now"
        )

    def _restore(self) -> None:
        while self._before:
            number, handler = self._before.popitem()
            signal.signal(number, handler)  # type: ignore[arg-type]


class DeferredInterrupt:
    """Defer Ctrl-C except where it is let through, so that it interrupts no storage.

    A context manager: a deferred interrupt is raised on exit, a second one at once. Outside the main
    thread, and where another handler answers SIGINT, it does nothing.
    """

    def __init__(self) -> None:
        self._is_waiting = self._is_open = False
        self._before: object = None

    def __enter__(self) -> Self:
        in_main_thread = threading.current_thread() is threading.main_thread()
        if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._answer)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        # one interrupt is on its way already
        if not isinstance(error, KeyboardInterrupt):
            self._raise_deferred()

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """Raise a deferred interrupt, and let others through."""
        try:
            self._is_open = True  # first, or an interrupt that comes now would be deferred
            self._raise_deferred()
            yield
        finally:
            self._is_open = False

    @not_in_forks
    def _answer(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        came_before, self._is_waiting = self._is_waiting, True
        if came_before or self._is_open:
            self._raise_deferred()

    def _raise_deferred(self) -> None:
        if self._is_waiting:
            self._is_waiting = False
            raise KeyboardInterrupt


def at_terminal() -> bool:
    """Return whether standard error is a terminal; it may be closed, or none."""
    error: Any = sys.stderr
    return error is not None and not error.closed and bool(error.isatty())


def notify(line: str) -> None:
    """Write a line to standard error unbuffered: print() may have been interrupted."""
    with suppress(OSError):  # a terminal that has gone
        if os.isatty(2):
            line = folded(line, os.get_terminal_size(2).columns or 80)
        os.write(2, f"{line}\n".encode(errors="backslashreplace"))


def exit_with_code() -> None:
    """Make an uncaught RaceInterrupted end the program with its code, without a traceback."""
    hook = sys.excepthook
    if threading.current_thread() is not threading.main_thread() or (
        isinstance(hook, functools.partial) and hook.func is _end
    ):
        return
    sys.excepthook = functools.partial(_end, hook)


def _end(before: Callable[..., object], kind: Any, error: BaseException, trace: Any) -> None:
    if not isinstance(error, RaceInterrupted) or not error.kept:
        before(kind, error, trace)
        return
    raise SystemExit(error.code)
