"""Process control that only Linux has; elsewhere no-ops, except for `leave_behind`."""

from __future__ import annotations

import ctypes
import functools
import os
import select
import signal
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


@functools.cache
def _prctl() -> Callable[[int, int], int]:
    if sys.platform != "linux":
        return lambda *_: -1
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = ctypes.c_int, ctypes.c_ulong
    return prctl


def die_with_parent(parent: int) -> None:
    """Die as soon as the thread that started this process is gone; exit now if it is."""
    _prctl()(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def dying_with(parent: int) -> Callable[[], None]:
    """Return `die_with_parent` for a child to call: nothing is loaded then."""
    _prctl()
    return functools.partial(die_with_parent, parent)


def die_with_process(parent: int) -> None:
    """Die as soon as the parent process is gone, whichever of its threads started this one."""
    if sys.platform == "win32":  # no signal can be asked for, and the parent's id never changes
        return
    if sys.platform != "linux" or os.getpid() in _children_of_thread(parent, parent):
        die_with_parent(parent)
        return
    with suppress(AttributeError, OSError):  # an old kernel, a Python built on one, or it is gone
        ends = os.pidfd_open(parent), os.pidfd_open(os.getpid())
        leave_behind(functools.partial(_kill_after, *ends))
        for descriptor in ends:
            os.close(descriptor)
    if os.getppid() != parent:
        os._exit(1)


def go_on_if_stopped(pid: int) -> None:
    """Continue a process that was stopped, by SIGSTOP for example."""
    with suppress(OSError):  # it has ended
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            stopped = file.read().rpartition(b")")[2].split()[0] == b"T"
        if stopped:
            os.kill(pid, signal.SIGCONT)


_FORK = threading.Lock()


@contextmanager
def fork_unwarned() -> Iterator[None]:
    """Fork and silence Python's multi-thread DeprecationWarning."""
    with _FORK, warnings.catch_warnings():  # one at a time: the filters are global
        warnings.filterwarnings("ignore", ".*multi-threaded", DeprecationWarning)
        yield


def fork() -> int:
    """Fork without a warning; the child has this thread alone."""
    with fork_unwarned():
        return os.fork()


def leave_behind(run: Callable[[], None]) -> None:
    """Start a detached process, which is not found among our descendants."""
    middle = fork()
    if middle == 0:
        try:
            if os.fork() == 0:
                os.setsid()
                run()
        finally:
            os._exit(0)
    with suppress(ChildProcessError):  # where SIGCHLD is ignored, there is no child to wait for
        os.waitpid(middle, 0)


def _kill_after(parent: int, child: int) -> None:
    """Kill a child once its parent has ended; both are descriptors."""
    os.dup2(parent, 0)
    os.dup2(child, 1)
    os.closerange(2, 2**16)  # else nobody sees the child's pipes close
    poll = select.poll()
    for descriptor in (0, 1):
        poll.register(descriptor, select.POLLIN)
    poll.poll()
    signal.pidfd_send_signal(1, signal.SIGKILL)  # an error if the child has ended


def adopt_orphans() -> None:
    """Adopt descendants whose parent ends."""
    _prctl()(_PR_SET_CHILD_SUBREAPER, 1)


def prefer_as_victim() -> None:
    """Make this process, and its children, the first victims of the OOM killer."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_bytes(b"1000")


def wait_for_end(pid: int, seconds: float) -> None:
    """Wait until a child has ended, `seconds` at most; elsewhere, for a moment."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):  # another system, an old kernel, a Python built on one
        time.sleep(min(seconds, 0.0002))
        return
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(seconds * 1000)
    finally:
        os.close(descriptor)


def _children_of_thread(pid: int, thread: int | str) -> set[int]:
    try:
        with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123  (faster)
            return set(map(int, file.read().split()))
    except OSError:  # it has ended
        return set()


def own_children() -> set[int]:
    """Return the children of this process's main thread, zombies included."""
    return _children_of_thread(os.getpid(), os.getpid())


def _children(pid: int) -> set[int]:
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  (faster)
    except OSError:
        return set()
    return set().union(*(_children_of_thread(pid, thread) for thread in threads))


def descendants(pids: set[int]) -> set[int]:
    """Return the children of processes, their children, and so on."""
    found: set[int] = set()
    new = pids
    while new := set().union(*map(_children, new)) - found:
        found |= new
    return found


def _kilobytes(path: str, fields: tuple[bytes, ...]) -> int:
    """Return the sum of some lines ``Field:  number kB``; 0 for a process that is gone."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            lines = file.read().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(fields))


def cpu_seconds() -> float | None:
    """Return the CPU time of this process and of children it has waited for; None if unknown."""
    if sys.platform != "linux":
        return None
    import resource  # noqa: PLC0415  (not on Windows)

    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def cpu_seconds_of(pids: set[int]) -> float:
    """Return the CPU time of processes and of children they have waited for."""
    ticks = 0
    for pid in pids:
        with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  (faster)
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def give_back_free_memory() -> None:
    """Return freed memory to the system: a fork could fill it without an increase."""
    with suppress(AttributeError, OSError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def anonymous_bytes(pid: int) -> int:
    """Return the memory of a process, resident or swapped out, that no file backs."""
    return 1024 * _kilobytes(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:", b"VmSwap:"))


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def private_bytes(pid: int) -> int:
    """Return the memory that a process shares with no other; slow for a large one."""
    return 1024 * _kilobytes(f"/proc/{pid}/smaps_rollup", (b"Private_Dirty:", b"Swap:"))


def knows_memory() -> bool:
    """Return True if `anonymous_bytes` works here."""
    return anonymous_bytes(os.getpid()) > 0
