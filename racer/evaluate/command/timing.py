"""A program run once for its time: nothing is read while it runs, nothing else is forked."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from racer._checks import counted
from racer.evaluate.command.process import KEPT, attended, printable
from racer.evaluate.limits.processes import ending

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT_ONCE = 2**16
_LONGEST = 60  # bytes of a line that are shown


class Printout(NamedTuple):
    """Standard output: its digest and its beginning."""

    digest: bytes
    head: bytes

    def difference(self, other: Printout) -> str:
        """Return where another begins to differ, as far as the beginnings show it, after a colon."""
        ours, theirs = (one.head.splitlines(keepends=True) for one in (self, other))
        for number, (one, two) in enumerate(zip(ours, theirs, strict=False), 1):
            if one != two:
                return f": line {number} is {_shown(one)}, not {_shown(two)}"
        longer, shorter = len(ours), len(theirs)
        return "" if longer == shorter else f": {counted(longer, 'line')}, not {shorter}"


class Timed(NamedTuple):
    """The seconds of a run, wall and CPU, and why it failed; "" if it did not."""

    wall: float
    cpu: float
    failure: str
    output: Any  # of a program a `Printout`; None if it was not kept


def timed(argv: Sequence[str], program: str, cwd: str | None, *, keep: bool) -> Timed:
    """Run a program to its end, without input; `keep` its output, else it is discarded.

    CPU time is that of the program and of all processes that it has waited for.
    """
    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
        start = time.perf_counter()

        def follow(child: subprocess.Popen[bytes]) -> tuple[int, float, float]:
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, wall, usage.ru_utime + usage.ru_stime

        try:
            code, wall, cpu = attended(
                argv,
                follow,
                executable=program,
                stdin=subprocess.DEVNULL,
                stdout=out if keep else subprocess.DEVNULL,
                stderr=err,
                cwd=cwd,
            )
        except OSError as error:
            return Timed(0.0, 0.0, f"cannot be started ({error})", None)
        failure = ""
        if code:
            failure = ending(code)
            if line := _last_line(err):
                failure += f": {line}"
        printout = _printout(out) if keep else None
    return Timed(wall, cpu, failure, printout)


def _last_line(file: IO[bytes]) -> str:
    """Return the last line of a file that is not blank."""
    file.seek(max(file.seek(0, os.SEEK_END) - KEPT, 0))
    lines = [line for line in file.read().splitlines() if line.strip()]
    return printable(lines[-1]).strip() if lines else ""


def _printout(file: IO[bytes]) -> Printout:
    file.seek(0)
    head = data = file.read(_AT_ONCE)
    digest = hashlib.sha256()
    while data:
        digest.update(data)
        data = file.read(_AT_ONCE)
    return Printout(digest.digest(), head)


def _shown(line: bytes) -> str:
    text = repr(line[:_LONGEST].decode("utf-8", "backslashreplace"))
    return text if len(line) <= _LONGEST else f"{text}.."
