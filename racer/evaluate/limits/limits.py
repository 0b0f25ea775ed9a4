"""One evaluation in a process of its own, which ends when it has taken too much.

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
from typing import TYPE_CHECKING, NamedTuple

from racer._checks import is_real, whole
from racer.errors import SettingError
from racer.evaluate.limits.forks import close_own_files
from racer.evaluate.limits.linux import (
    cpu_seconds,
    cpu_seconds_of,
    descendants,
    die_with_parent,
    give_back_free_memory,
    held,
    held_alone,
    knows_memory,
    own_children,
    resident,
)
from racer.evaluate.limits.processes import GRACE, TICK, Child, flush, parse, write
from racer.evaluate.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

_LAST_WORDS = 0.5  # seconds beyond its timeout for an evaluation that tells itself why it ends
_LEAST_MEMORY = 2**20
_LONGEST = 1e9  # seconds
_FINE = 0.01  # seconds between two looks at the CPU time, near the bound
_START, _WALL = (
    1.0,
    10.0,
)  # who uses no CPU time is stopped so long, and so many bounds, after its start


class Limits(NamedTuple):
    """What one evaluation may take: seconds of wall time, bytes beyond the inherited; or None."""

    timeout: float | None = None
    memory: int | None = None


deadline: ContextVar[tuple[float, float] | None] = ContextVar("deadline", default=None)
"""In the process of an evaluation that tells why it ends: when (monotonic), and the timeout."""


def limits_for(timeout: float | None, memory: int | None, *, timed: bool = False) -> Limits | None:
    """Return the limits, None without any; SettingError if one is wrong or cannot be kept here."""
    if timeout is None and memory is None and not timed:
        return None
    if timeout is not None and not (is_real(timeout) and 0 < timeout <= _LONGEST):
        raise SettingError(
            f"timeout={reprlib.repr(timeout)}: give seconds, a number > 0, at most {_LONGEST:g}"
        )
    if memory is not None:
        whole(memory, "memory (bytes)", least=_LEAST_MEMORY)
    if not hasattr(os, "fork"):
        raise SettingError(
            "timeout=, memory= and runtime= need os.fork, which this system does not have: leave "
            "them out"
        )
    if memory is not None and not knows_memory():
        raise SettingError("memory= needs /proc, as on Linux: leave it out (timeout= works)")
    return Limits(
        None if timeout is None else float(timeout), None if memory is None else int(memory)
    )


def _answer(
    attempt: Callable[[], Outcome],
    watcher: int,
    pipe: int | None,
    warned: int | None,
    until: tuple[float, float] | None,
    writer: int,
) -> None:
    """Be the process of one evaluation: send its outcome."""
    os.setsid()
    _tell(warned, os.getpid())  # before it can start anything
    die_with_parent(watcher)
    gc.freeze()  # a collection would write to, and so copy, all that is shared with the watcher
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for descriptor in (pipe, warned):
        if descriptor is not None:
            os.close(descriptor)
    close_own_files(but=writer)
    deadline.set(until)
    # what stands in their place may wait for a thread that is not here, a live display's say
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    outcome = attempt()
    flush()
    write(writer, outcome)


def _never() -> bool:
    return False


def limited(
    attempt: Callable[[], Outcome],
    limits: Limits,
    *,
    lost: Callable[[], bool] = _never,
    pipe: int | None = None,
    warned: int | None = None,
    tells: bool = False,
    bound: float | None = None,
) -> Outcome:
    """Run an evaluation in a process of its own, from a watcher; leave nothing of it.

    With a `bound` it is stopped, as capped, after so many seconds of CPU time, if that is known.

    The watcher is made by `supervised`, which gives `pipe` (the descriptor that it writes to) and
    `lost` (whether the caller has ended), or by `warden`, which gives the descriptor `warned`.
    """
    me = os.getpid()
    before = own_children()
    own = (0, 0)
    if limits.memory:
        give_back_free_memory()
        own = held(me), resident(me)
    start = time.monotonic()
    until = (start + limits.timeout, limits.timeout) if tells and limits.timeout else None
    child = Child(functools.partial(_answer, attempt, me, pipe, warned, until))
    patience = _LAST_WORDS if tells else 0.0
    watched = _Watched(child, limits, start, own, before, patience, bound)
    try:
        while (outcome := watched.look()) is None:
            if lost():
                _clear(child, before)
                os._exit(1)
        return outcome
    finally:
        _clear(child, before)
        os.close(child.reader)
        _tell(warned, 0)


def _tell(warned: int | None, group: int) -> None:
    if warned is not None:
        with suppress(OSError):  # the warden is gone
            os.write(warned, group.to_bytes(8))


class _Watched(NamedTuple):
    """An evaluation that runs, and what it may take."""

    child: Child
    limits: Limits
    start: float
    own: tuple[int, int]  # bytes held, and resident, before it
    before: set[int]  # processes that were there
    patience: float  # seconds beyond the timeout
    bound: float | None  # of run time

    @property
    def longest(self) -> float:
        """The seconds after which it is stopped."""
        timeout = self.limits.timeout
        return math.inf if timeout is None else timeout + self.patience

    def look(self) -> Outcome | None:
        """Wait for a tick at most; return the outcome if there is one."""
        start, bound = self.start, self.bound
        tick = TICK if bound is None else min(max(start + bound - time.monotonic(), _FINE), TICK)
        line = self.child.line(min(start + self.longest - time.monotonic(), tick))
        seconds = time.monotonic() - start
        if line is not None:
            outcome = parse(line, seconds)
            return outcome._replace(seconds=seconds) if outcome.status == "timeout" else outcome
        if self.child.status is None:
            return self._exceeded(seconds)
        how = self.child.how()
        memory = math.inf if self.limits.memory is None else self.limits.memory
        if how.endswith("SIGKILL") and self.child.peak - self.own[1] > memory:  # by the system
            return Outcome("memory", None, seconds, f"its process {how}, over {memory} bytes")
        return Outcome("killed", None, seconds, f"its process {how}, without an answer")

    def _exceeded(self, seconds: float) -> Outcome | None:
        """Return the outcome where a limit is exceeded, None where the evaluation may continue."""
        child, (timeout, memory), before = self.child.pid, self.limits, self.before
        if self.bound is not None and _took(child, seconds, before) >= self.bound:
            return Outcome("capped", self.bound, seconds)
        if timeout is not None and seconds >= self.longest:
            return Outcome("timeout", None, seconds, took_more_than(timeout))
        if memory and (used := _used(child, self.own[0], memory, before)) > memory:
            return Outcome("memory", None, seconds, f"held {used} bytes, more than {memory}")
        return None


def _took(child: int, seconds: float, before: set[int]) -> float:
    """Return the CPU time of an evaluation so far; wall time where that is not known."""
    if cpu_seconds() is None:
        return seconds
    roots = own_children() - before | {child}
    return max(cpu_seconds_of(roots | descendants(roots)), (seconds - _START) / _WALL)


def took_more_than(timeout: float) -> str:
    """Say so."""
    return f"took more than {timeout:g} s"


def _used(child: int, inherited: int, limit: int, before: set[int]) -> int:
    """Return at most the bytes that an evaluation holds: exact, and slow, where that matters."""
    roots = own_children() - before
    others = (roots | descendants(roots)) - {child}
    most = held(child) - inherited
    if not others or most + sum(map(held, others)) <= limit:
        return most
    return most + sum(map(held_alone, others))


def _clear(child: Child, before: set[int]) -> None:
    """Kill a child and whatever it has started, and wait until they are gone."""
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
                os.waitpid(orphan, os.WNOHANG)
