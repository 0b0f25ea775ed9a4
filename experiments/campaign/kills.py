"""Contests of every kind, whose driver gets SIGKILL at random moments, and which are resumed.

A driver is forked, so that a kill falls into its work and not into its start. All that it leaves
behind becomes a child of the campaign, and has a second to end. The result has to be that of a
contest that was never interrupted; no recorded row may change or vanish.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import itertools
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from experiments.campaign.contests import CONTESTS
from experiments.report import print_row

__all__ = ["main"]

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_PATIENCE = 1.0, 20.0  # seconds that what a driver left may live, and must not
_LONGEST = 120.0  # seconds that a contest may take


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
) -> tuple[Counter[str], str]:
    """Run one contest, killed up to `most` times; return counts of its events, and its faults."""
    tally, wrong, own = Counter(runs=1), [], left_behind()
    with tempfile.TemporaryDirectory() as plain:  # no workers here: drivers are forked
        ended(start(name, Path(plain), seed), _LONGEST)
        wanted = (Path(plain) / "result").read_text()
        import_all((Path(plain) / "modules").read_text().split("\n"))
    outliving(own)
    known: set[tuple[Any, ...]] = set()
    code = None
    while code is None:
        pid, is_last = start(name, folder, seed), tally["kills"] >= most
        code = ended(pid, _LONGEST if is_last else rng.uniform(0.0, takes))
        if code is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            if is_last:
                return tally, "it hangs"
            tally["kills"] += 1
        slow, left = outliving(own)
        if "executor" not in name:  # whose workers are the caller's
            tally.update(slow=slow, left=left)
        now = outcomes(folder)
        if known - now:
            wrong.append(f"{len(known - now)} rows changed or vanished")
        known = now
    if code:
        wrong.append(f"exit code {code}: {(folder / 'said').read_text()[-2000:]}")
    elif (found := (folder / "result").read_text()) != wanted:
        wrong.append(f"another result:\n{found}\n{wanted}")
    else:
        tally["identical"] += 1
    return tally, "\n".join(wrong)


@click.command()
@click.option("-n", "number", default=400, show_default=True, help="Kills.")
@click.option("--seed", default=0, show_default=True)
@click.option("--each", default=5, show_default=True, help="Kills of a contest, at most.")
@click.option("--only", default="", help="Contests with this in their name.")
def main(*, number: int, seed: int, each: int, only: str) -> None:
    """Kill contests of every kind at random moments, resume them, and compare their results."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    rng = random.Random(seed)  # noqa: S311
    tallies: dict[str, Counter[str]] = {name: Counter() for name in CONTESTS if only in name}
    takes, is_wrong = dict.fromkeys(tallies, 1.0), False
    for name in itertools.cycle(tallies):
        with tempfile.TemporaryDirectory() as folder:
            began, contest_seed = time.monotonic(), rng.randrange(2**31)
            new, wrong = run_one(name, Path(folder), contest_seed, rng, each, takes[name])
            took = (time.monotonic() - began) / (new["kills"] + 2)
            takes[name] = 0.5 * takes[name] + 0.5 * max(took, 0.3)
        tallies[name].update(new)
        if wrong:
            is_wrong = True
            print(f"{name}, seed {contest_seed}: {wrong}", file=sys.stderr, flush=True)
        kills = sum(tally["kills"] for tally in tallies.values())
        print(f"{kills} kills", file=sys.stderr, flush=True)
        if kills >= number:
            break
    heads = {"runs": "runs", "kills": "kills", "identical": "identical"}
    heads |= {"slow": "processes after 1 s", "left": "after 20 s"}
    print_row("contest", *heads.values(), head=True)
    for name, tally in (*tallies.items(), ("**all**", sum(tallies.values(), Counter()))):
        print_row(name, *(tally[key] for key in heads))
    sys.exit(is_wrong)
