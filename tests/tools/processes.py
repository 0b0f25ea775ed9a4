"""Processes of a test: who is alive, who is below whom, and waiting for it to change."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

# the environment of a program that may import what tests import
TOOLS = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def alive(pid):
    """Say whether a process runs: one that has ended, and is not waited for, does not."""
    if not Path("/proc/self/stat").exists():  # macOS
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            return True
        return False
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def descendants(pid):
    """Return the processes below one, by /proc/*/stat."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # ended meanwhile
            parent = path.read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            parents.setdefault(int(parent), set()).add(int(path.parent.name))
    found, new = set(), {pid}
    while new := set().union(*(parents.get(parent, set()) for parent in new)):
        found |= new
    return found


def noted(folder):
    """Return the processes that left a file with their number as its name."""
    return [int(path.name) for path in Path(folder).iterdir() if path.name.isdigit()]


def python(*arguments, exits=0, **more):
    """Return what a Python did whose exit code is the one that is named; None is any."""
    words = [sys.executable, *map(str, arguments)]
    given = {"capture_output": True, "text": True, "timeout": 250, **more}
    done = subprocess.run(words, check=False, **given)
    assert exits in {None, done.returncode}, done.stdout + done.stderr
    return done


def wait_for(condition, seconds=120.0):
    """Say whether a condition comes true: at once, but for a machine that is busy."""
    # of other processes, files and threads that nobody can notify
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:  # as above
            return False
        time.sleep(0.02)  # so that they run
    return True
