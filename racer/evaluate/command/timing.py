"""A program run once for its time: nothing is read while it runs, nothing else is forked."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import time
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from racer.evaluate.command.process import KEPT, attended, printable
from racer.evaluate.limits.processes import ending

if TYPE_CHECKING:
    from collections.abc import Sequence


class Timed(NamedTuple):
    """The seconds of a run, wall and CPU, and why it failed; "" if it did not."""

    wall: float
    cpu: float
    failure: str
    output: Any  # of a program a digest; None if it was not kept


def timed(argv: Sequence[str], program: str, cwd: str | None, *, keep: bool) -> Timed:
    """Run a program to its end, without input; `keep` its output, else it is discarded.

    CPU time is of the program and of all processes that it has waited for.
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
        failure = ending(code) if code else ""
        if code and (line := _last_line(err)):
            failure += f": {line}"
        out.seek(0)
        digest = hashlib.file_digest(out, "sha256").digest() if keep else None
    return Timed(wall, cpu, failure, digest)


def _last_line(file: IO[bytes]) -> str:
    """Return the last line of a file that is not blank."""
    file.seek(max(file.seek(0, os.SEEK_END) - KEPT, 0))
    lines = [line for line in file.read().splitlines() if line.strip()]
    return printable(lines[-1]).strip() if lines else ""
