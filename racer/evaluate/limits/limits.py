"""One evaluation in a process of its own, which is killed when it exceeds a limit.

A watcher (a worker, or a process forked for this) forks a child that leads a session and sends its
outcome as a line of JSON; its group, on Linux also its orphans, is killed before that is handed on.
"""

from __future__ import annotations

import functools
import gc
import math
import os
import reprlib
import signal
import sys
import time
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from racer._checks import is_real, suggesting, whole
from racer.errors import SettingError
from racer.evaluate.limits.linux import (
    anonymous_bytes,
    cpu_seconds,
    cpu_seconds_of,
    descendants,
    die_with_parent,
    give_back_free_memory,
    knows_memory,
    own_children,
    private_bytes,
    resident_bytes,
)
from racer.evaluate.limits.processes import GRACE, TICK, Child, close_own_files, flush, parse, write
from racer.evaluate.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from racer.evaluate.outcome import Status

__all__ = ["Limits"]

_LONGEST = 1e9  # seconds
# an idle evaluation is stopped this many seconds, plus this many bounds, after its start
_START, _WALL = 1.0, 10.0


@suggesting
@dataclass(frozen=True)
class Limits:
    """What an evaluation may take, and how often it is tried again.

    Parameters
    ----------
    timeout : float, optional
        Seconds of wall time. With this or `memory` each evaluation runs in a process of its own
        (not on Windows), which is killed with all that it started. The call of a coroutine is
        cancelled instead.
    memory : int, optional
        Bytes that an evaluation may hold beyond its inherited memory (on Linux).
    retries : int
        Number of further attempts of a cell that fails, within the same evaluation; a cell that
        reached a limit is not tried again.

    Raises
    ------
    SettingError
        A limit that is not positive, or too large.

    Examples
    --------
    >>> import racer
    >>> racer.Limits(timeout=60, retries=1)
    Limits(timeout=60.0, memory=None, retries=1)
    """

    timeout: float | None = None
    memory: int | None = None
    retries: int = 0

    def __post_init__(self) -> None:
        if self.timeout is not None:
            if not (is_real(self.timeout) and 0 < self.timeout <= _LONGEST):
                raise SettingError(
                    f"timeout={reprlib.repr(self.timeout)}: give seconds, a number > 0, at most "
                    f"{_LONGEST:g}"
                )
            object.__setattr__(self, "timeout", float(self.timeout))
        if self.memory is not None:
            object.__setattr__(self, "memory", whole(self.memory, "memory (bytes)", least=2**20))
        object.__setattr__(self, "retries", whole(self.retries, "retries", least=0))

    @classmethod
    def of(cls, given: Limits | None) -> Limits:
        """Return the limits, none for None; SettingError for another object."""
        if not isinstance(given, Limits | None):
            raise SettingError(f"limits={reprlib.repr(given)}: give racer.Limits(timeout=60)")
        return given or cls()

    def forked(self, *, timed: bool) -> Limits | None:
        """Return the limits if evaluations need processes of their own, else None.

        SettingError if such processes are unsupported here. `timed`: run time is the cost.
        """
        if self.timeout is None and self.memory is None and not timed:
            return None
        if not hasattr(os, "fork"):
            raise SettingError(
                "timeout, memory and runtime need os.fork, which this system does not have: leave "
                "them out"
            )
        if self.memory is not None and not knows_memory():
            raise SettingError("memory needs /proc, as on Linux: leave it out (timeout works)")
        return self


deadline: ContextVar[tuple[float, float] | None] = ContextVar("deadline", default=None)
"""In the process of an evaluation, whose watcher ends all of it: deadline (monotonic), timeout."""


def _answer(
    attempt: Callable[[], Outcome],
    watcher: int,
    pipe: int | None,
    warned: int | None,
    until: tuple[float, float],
    writer: int,
) -> None:
    """Entry point of the evaluation subprocess: run it and send the outcome."""
    os.setsid()
    _notify(warned, os.getpid())  # before it can start anything
    die_with_parent(watcher)
    gc.freeze()  # a collection would write to, and so copy, memory shared with the watcher
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor in (pipe, warned):
        if descriptor is not None:
            os.close(descriptor)
    close_own_files(but=writer)
    deadline.set(until)
    # a replacement, a live display's say, may wait for a thread that no fork has
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    outcome = attempt()
    flush()
    write(writer, outcome)


def limited(
    attempt: Callable[[], Outcome],
    limits: Limits,
    *,
    lost: Callable[[], bool] | None = None,
    pipe: int | None = None,
    warned: int | None = None,
    tells: bool = False,
    bound: float | None = None,
) -> Outcome:
    """Run an evaluation in a process of its own, from a watcher; leave no process behind.

    With a `bound` it is stopped, as capped, after that many seconds of CPU time, if that is known.

    The watcher is made by `supervised`, which gives `pipe` (the descriptor that it writes to) and
    `lost` (whether the caller has ended), or by `warden`, which gives the descriptor `warned`.
    """
    me = os.getpid()
    before = own_children()
    own = (0, 0)
    if limits.memory:
        give_back_free_memory()
        own = anonymous_bytes(me), resident_bytes(me)
    start = time.monotonic()
    timeout = limits.timeout or math.inf
    until = start + timeout, timeout
    child = Child(functools.partial(_answer, attempt, me, pipe, warned, until))
    # a program's evaluation reports its own timeout, with the output: five seconds, on a busy machine
    patience = 5.0 if tells else 0.0
    watched = _Watched(child, limits, start, own, before, patience, bound)
    try:
        while (outcome := watched.look()) is None:
            if lost is not None and lost():
                _clear(child, before)
                os._exit(1)
        return outcome
    finally:
        _clear(child, before)
        os.close(child.reader)
        _notify(warned, 0)


def _notify(warned: int | None, group: int) -> None:
    if warned is not None:
        with suppress(OSError):  # the warden is gone
            os.write(warned, group.to_bytes(8))


class _Watched(NamedTuple):
    """A running evaluation and its limits."""

    child: Child
    limits: Limits
    start: float
    own: tuple[int, int]  # anonymous and resident bytes of the watcher before it
    before: set[int]  # child processes at its start
    patience: float  # seconds beyond the timeout
    bound: float | None  # of run time

    @property
    def time_limit(self) -> float:
        """Seconds after which it is stopped."""
        timeout = self.limits.timeout
        return math.inf if timeout is None else timeout + self.patience

    def look(self) -> Outcome | None:
        """Wait for one tick at most; return the outcome if there is one."""
        start, bound = self.start, self.bound
        # near the bound CPU time is looked at more often
        tick = TICK if bound is None else min(max(start + bound - time.monotonic(), 0.01), TICK)
        line = self.child.line(min(start + self.time_limit - time.monotonic(), tick))
        seconds = time.monotonic() - start
        if line is not None and seconds < self.time_limit:
            outcome = parse(line, seconds)
            return replace(outcome, seconds=seconds) if outcome.status == "timeout" else outcome
        if line is not None or self.child.status is None:
            # a late answer may come from a function that catches its own timeout
            return self._exceeded(seconds)
        how = self.child.how()
        memory = math.inf if self.limits.memory is None else self.limits.memory
        status: Status = "killed"
        why = "without an answer"
        if how.endswith("SIGKILL") and self.child.peak - self.own[1] > memory:  # by the OOM killer
            status, why = "memory", f"over {memory} bytes"
        return Outcome(status, None, seconds=seconds, message=f"its process {how}, {why}")

    def _exceeded(self, seconds: float) -> Outcome | None:
        """Return the outcome if a limit is exceeded, None if the evaluation may continue."""
        child, before = self.child.pid, self.before
        timeout, memory = self.limits.timeout, self.limits.memory
        if self.bound is not None and _took(child, seconds, before) >= self.bound:
            return Outcome("capped", self.bound, seconds=self.bound)
        if timeout is not None and seconds >= self.time_limit:
            return Outcome("timeout", None, seconds=seconds, message=took_more_than(timeout))
        if memory and (used := _used(child, self.own[0], memory, before)) > memory:
            return Outcome(
                "memory", None, seconds=seconds, message=f"held {used} bytes, more than {memory}"
            )
        return None


def _took(child: int, seconds: float, before: set[int]) -> float:
    """Return the CPU seconds of an evaluation so far; wall time where they are unknown."""
    if cpu_seconds() is None:
        return seconds
    roots = own_children() - before | {child}
    return max(cpu_seconds_of(roots | descendants(roots)), (seconds - _START) / _WALL)


def took_more_than(timeout: float) -> str:
    """Return the message for an evaluation that exceeded its time."""
    return f"took more than {timeout:g} s"


def _used(child: int, inherited: int, limit: int, before: set[int]) -> int:
    """Return a lower bound of the bytes of an evaluation; exact, and slow, near the limit."""
    roots = own_children() - before
    others = (roots | descendants(roots)) - {child}
    most = anonymous_bytes(child) - inherited
    if not others or most + sum(map(anonymous_bytes, others)) <= limit:
        return most
    return most + sum(map(private_bytes, others))


def _clear(child: Child, before: set[int]) -> None:
    """Kill a child and its descendants, and wait until they are gone, or none has ended for long."""
    # processes may start others faster than they are killed
    last = time.monotonic() + 60.0
    until = time.monotonic() + GRACE
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(OSError):
        if child.status is None:  # it may not lead a group yet
            os.kill(child.pid, signal.SIGKILL)
    while time.monotonic() < until:
        ended = child.ended(within=0.02)
        orphans = own_children() - before - {child.pid}
        if ended and not orphans:
            return
        for orphan in orphans:
            with suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
                if os.waitpid(orphan, os.WNOHANG)[0]:
                    until = min(time.monotonic() + GRACE, last)
