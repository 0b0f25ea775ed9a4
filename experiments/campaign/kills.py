"""Contests of every kind, whose driver gets SIGKILL at random moments, and which are resumed.

A driver is forked, so that a kill falls into its work and not into its start. All that it leaves
behind becomes a child of the campaign, and has a second to end. The result has to be that of a
contest that was never interrupted; no recorded row may change or vanish.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import math
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from experiments.campaign.contests import CONTESTS
from experiments.report import print_row

__all__ = ["main"]

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_PATIENCE = 1.0, 20.0  # seconds that what a driver left may live, and must not
_LONGEST = 120.0  # seconds that a contest may take


@dataclass
class Tally:
    """What happened to the contests of one kind."""

    runs: int = 0
    kills: int = 0
    identical: int = 0
    slow: int = 0
    left: int = 0
    wrong: list[str] = field(default_factory=list)


def outcomes(folder: Path) -> set[tuple[Any, ...]]:
    """Return the recorded outcomes."""
    store = folder / "run.db"
    if not store.exists():
        return set()
    with contextlib.suppress(sqlite3.OperationalError), closing(sqlite3.connect(store)) as opened:
        return set(opened.execute("SELECT * FROM outcomes"))
    return set()


def start(name: str, folder: Path, seed: int) -> int:
    """Fork a driver, which writes its result to a file."""
    pid = os.fork()
    if pid:
        return pid
    try:
        with (folder / "said").open("a") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        text = CONTESTS[name](folder, seed)
        (folder / "modules").write_text("\n".join(sys.modules))
        (folder / "result.part").write_text(text)
        (folder / "result.part").rename(folder / "result")
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def import_all(modules: list[str]) -> None:
    """Import what a driver has imported, so that the drivers to come begin with it."""
    for module in modules:
        if module not in sys.modules and not module.startswith("__"):
            with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
                importlib.import_module(module)


def ended(pid: int, seconds: float) -> int | None:
    """Return the exit code of a process, None if it has none after so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


def left_behind() -> list[int]:
    """Return the processes that are children of this one, those that have ended reaped."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            rest = file.read_text().rpartition(")")[2].split()
            if int(rest[1]) == os.getpid():
                found.append(int(file.parent.name))
    alive = []
    for pid in found:
        with contextlib.suppress(ChildProcessError):
            if not os.waitpid(pid, os.WNOHANG)[0]:
                alive.append(pid)
    return alive


def outliving(own: list[int]) -> tuple[int, int]:
    """Return how many processes live on for longer than they may, and than they must; end them."""
    counts = []
    began = time.monotonic()
    for seconds in _PATIENCE:
        while (left := {*left_behind()} - {*own}) and time.monotonic() < began + seconds:
            time.sleep(0.02)
        counts.append(len(left))
    for pid in left:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return counts[0], counts[1]


def run_one(
    name: str, folder: Path, seed: int, rng: random.Random, most: int, takes: float
) -> Tally:
    """Run one contest, killed up to `most` times."""
    tally, own = Tally(runs=1), left_behind()
    with tempfile.TemporaryDirectory() as plain:  # no workers here: drivers are forked
        ended(start(name, Path(plain), seed), _LONGEST)
        wanted = (Path(plain) / "result").read_text()
        import_all((Path(plain) / "modules").read_text().split("\n"))
    outliving(own)
    known: set[tuple[Any, ...]] = set()
    while True:
        pid = start(name, folder, seed)
        wait = _LONGEST if tally.kills >= most else rng.uniform(0.0, takes)
        code = ended(pid, wait)
        if code is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            if tally.kills >= most:
                tally.wrong.append(f"{name}, seed {seed}: it hangs")
                return tally
            tally.kills += 1
        slow, left = outliving(own)
        if "executor" not in name:  # whose workers are the caller's
            tally.slow += slow
            tally.left += left
        now = outcomes(folder)
        if known - now:
            tally.wrong.append(f"{name}, seed {seed}: {len(known - now)} rows changed or vanished")
        known = now
        if code is None:
            continue
        if code:
            said = (folder / "said").read_text()[-2000:]
            tally.wrong.append(f"{name}, seed {seed}: exit code {code}: {said}")
        elif (folder / "result").read_text() != wanted:
            found = (folder / "result").read_text()
            tally.wrong.append(f"{name}, seed {seed}: another result:\n{found}\n{wanted}")
        else:
            tally.identical += 1
        return tally


@click.command()
@click.option("-n", "number", default=400, show_default=True, help="Kills.")
@click.option("--seed", default=0, show_default=True)
@click.option("--each", default=5, show_default=True, help="Kills of a contest, at most.")
@click.option("--only", default="", help="Contests with this in their name.")
@click.option("--minutes", type=float, help="Begin no contest after so many.")
def main(*, number: int, seed: int, each: int, only: str, minutes: float | None) -> None:
    """Kill contests of every kind at random moments, resume them, and compare their results."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    rng = random.Random(seed)  # noqa: S311
    names = [name for name in CONTESTS if only in name]
    tallies = {name: Tally() for name in names}
    takes = dict.fromkeys(names, 1.0)
    turn, until = 0, time.monotonic() + 60.0 * (minutes or math.inf)
    while sum(tally.kills for tally in tallies.values()) < number and time.monotonic() < until:
        name = names[turn % len(names)]
        turn += 1
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            new = run_one(name, Path(folder), rng.randrange(2**31), rng, each, takes[name])
            took = (time.monotonic() - began) / (new.kills + 2)
            takes[name] = 0.5 * takes[name] + 0.5 * max(took, 0.3)
        tally = tallies[name]
        tally.runs += new.runs
        tally.kills += new.kills
        tally.identical += new.identical
        tally.slow += new.slow
        tally.left += new.left
        tally.wrong += new.wrong
        print(f"{sum(t.kills for t in tallies.values())} kills", file=sys.stderr, flush=True)
        for fault in new.wrong:
            print(fault, file=sys.stderr, flush=True)
    print_row(
        "contest", "runs", "kills", "identical", "processes after 1 s", "after 20 s", head=True
    )
    for name, tally in tallies.items():
        print_row(name, tally.runs, tally.kills, tally.identical, tally.slow, tally.left)
    keys = ("runs", "kills", "identical", "slow", "left")
    print_row("**all**", *(sum(getattr(t, key) for t in tallies.values()) for key in keys))
    sys.exit(any(tally.wrong for tally in tallies.values()))
