"""Time the store: what recording costs per evaluation, and how fast a race is replayed.

Recording: races in which all stay, with and without a store, in turn; wall time per evaluation,
median over the repeats; beside it the time that this disk takes to keep 4 kB (write, fdatasync),
which is the least that a commit can take. Replay: a store with so many outcomes is written, then
opened and replayed by `racer.resume` in a process of its own, whose peak memory is printed. Opening:
the CPU seconds of commands on the same store, start included, with its snapshot and without. Checks:
what it takes to notice that something else has changed a store: CPU time, the fastest repeat.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

import racer
from experiments.bench.tools import evaluate, median_ms, timed
from experiments.options import number_option
from experiments.report import print_row
from racer.deciders import BayesianFriedman, Decider, FRace
from racer.evaluate.outcome import Cell, Outcome
from racer.store.contest import set_up
from racer.store.log import Pages, damage_to_log
from racer.store.memory import Recorded
from racer.store.reader import open_to_read
from racer.store.replay import Recorder
from racer.store.schema import ADD_OUTCOME, OutcomeRow, VerdictRow, checksum
from racer.store.writer import Store

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main", "replay"]

DECIDERS: dict[str, Decider] = {
    "f-race": FRace(),
    "bayesian-friedman, epsilon=0": BayesianFriedman(epsilon=0.0),
}
_IN_THE_LOG = 1000  # outcomes, before it is emptied


def wall(evaluations: int, store: Path | None, n_jobs: int) -> float:
    """Return wall milliseconds per evaluation of a race in which all stay."""
    seconds, result = timed(
        lambda: racer.race(
            range(10),
            evaluate,
            range(50),
            decider="f-race",
            first_test=evaluations // 10,
            budget=evaluations,
            n_jobs=n_jobs,
            seed=1,
            store=store,
        )
    )
    return seconds / result.evaluations * 1e3


def one_sync(folder: Path, count: int = 200) -> float:
    """Return the median milliseconds that the disk takes to keep 4 kB more of a file."""
    with (folder / "sync").open("wb", buffering=0) as file:

        def sync() -> None:
            file.write(bytes(4096))
            os.fdatasync(file.fileno())

        return median_ms(timed(sync)[0] for _ in range(count))


def write(path: Path, candidates: int, outcomes: int, decider: Decider) -> int:
    """Write a race of noise with so many outcomes, in one transaction; return how many."""
    rng = np.random.default_rng(0)
    with Store(path) as store:
        recorder = Recorder(store.conclude)
        race = racer.Race(
            range(candidates),
            range(100),
            decider=decider,
            budget=outcomes,
            seed=1,
            callbacks=[recorder],
        )
        store.begin(
            set_up(race.description(), evaluate, {"retries": 0, "timeout": None, "memory": None})
        )
        connection = store.reader.connection
        connection.execute("BEGIN")
        while race.ended is None:
            values = rng.normal(size=len(race.alive)).tolist()
            rows = [
                OutcomeRow(
                    race.n_blocks, c, 1, "ok", value, None, None, 0.001, "host:1", "", 0, 0.0
                )
                for c, value in zip(race.alive, values, strict=True)
            ]
            connection.executemany(ADD_OUTCOME, [(*row, checksum(row)) for row in rows])
            race.tell_block(values, seconds=math.fsum(row.seconds for row in rows))
        connection.execute("COMMIT")
        store.flush()
        return race.result().evaluations


def recording(folder: Path, evaluations: int, repeats: int) -> None:
    """Print what recording takes."""
    print_row(*("n_jobs", "unstored, ms", "stored, ms", "more, ms", "one fdatasync, ms"), head=True)
    for n_jobs in (1, 2):
        rows = []
        for repeat in range(repeats):
            path = folder / f"{n_jobs}-{repeat}.db"
            plain, stored = wall(evaluations, None, n_jobs), wall(evaluations, path, n_jobs)
            rows.append((plain, stored, stored - plain, one_sync(folder)))
        print_row(n_jobs, *(f"{statistics.median(times):.3f}" for times in zip(*rows, strict=True)))


def replaying(folder: Path, outcomes: int) -> None:
    """Print what opening and replaying takes, each store in a process of its own."""
    print()
    print_row(
        *("decider", "candidates", "outcomes", "file", "open and replay", "CPU", "peak memory"),
        head=True,
    )
    for (decider, settings), candidates in product(DECIDERS.items(), (10, 100)):
        path = folder / f"{decider}-{candidates}.db"
        count = write(path, candidates, outcomes, settings)
        size = path.stat().st_size / 2**20
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", f"from {__name__} import replay; replay({str(path)!r})"],
            capture_output=True,
            text=True,
            check=True,
        )
        print_row(f"`{decider}`", candidates, count, f"{size:.0f} MB", done.stdout.strip())
        path.unlink()


COMMANDS = {
    "racer show": "show",
    "racer watch --once": "watch --once",
    "racer check --quick": "check --quick",
    "racer check": "check",
}


def opening(folder: Path, outcomes: int, candidates: int = 10) -> None:
    """Print what commands on a store take."""
    whole, path = folder / "whole.db", folder / "opened.db"
    write(whole, candidates, outcomes, FRace())
    racer.resume(whole, evaluate)  # writes the snapshot
    calls = {
        name: f"from racer.cli import main; main({[*words.split(), str(path)]!r})"
        for name, words in COMMANDS.items()
    }
    resume = f"from {__name__} import resume; resume({str(path)!r}"
    calls |= {
        "racer.resume": f"{resume})",
        "racer.resume, a larger budget": f"{resume}, {outcomes + candidates})",
    }
    print()
    print_row("command", "with a snapshot, CPU", "without, CPU", head=True)
    for name, code in calls.items():
        taken = []
        for ends in (("", ".snapshot"), ("",)):
            for end in ends:
                shutil.copyfile(f"{whole}{end}", f"{path}{end}")
            taken.append(cpu(code))
            for end in ("", ".snapshot"):
                Path(f"{path}{end}").unlink(missing_ok=True)
        print_row(f"`{name}`", *(f"{took:.1f} s" for took in taken))


def checks(folder: Path, outcomes: int, repeats: int, candidates: int = 10) -> None:
    """Print the CPU time per evaluation of checking a store: its log, and its file at the end."""
    path = folder / "checked.db"
    write(path, candidates, outcomes, FRace())
    recorded, pages = known_of(path)
    race = racer.Race(range(candidates), range(100), decider=FRace(), budget=10**6, seed=1)
    how = {"retries": 0, "timeout": None, "memory": None}
    logs, files, rows = [], [], []
    with Store(folder / "log.db") as store:
        store.begin(set_up(race.description(), evaluate, how))
        for n in range(1, 10 * repeats * _IN_THE_LOG):
            block, candidate = divmod(n - 1, candidates)
            cell = Cell(block, candidate, None, None, seed=0)
            store.append(cell, Outcome("ok", n / 7, seconds=1e-6))
            if candidate == candidates - 1:
                store.conclude(VerdictRow(block, 0, "[]"))
            if n % _IN_THE_LOG == _IN_THE_LOG - 1:  # the next one empties it
                took = cpu_of(lambda: damage_to_log(store.path, Pages()) == "")
                logs.append(took / _IN_THE_LOG)
            if n % (10 * _IN_THE_LOG) == 0:  # in turn
                files.append(cpu_of(lambda: bool(recorded.image_in(str(path), pages))) / outcomes)
                rows.append(cpu_of(lambda: recorded.is_in(str(path))) / outcomes)
    log, file, by_rows = (1e6 * min(times) for times in (logs, files, rows))
    print()
    print_row("what is read again", "CPU, us an evaluation", head=True)
    print_row("the log, before it is emptied", f"{log:.2f}")
    print_row("the file, at the end", f"{file:.2f}")
    print_row("**both** (goal: 2)", f"{log + file:.2f}")
    print_row("a file with other pages than it should have, row by row", f"{by_rows:.2f}")


def cpu(code: str) -> float:
    """Return the CPU seconds of a process that runs this code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def resume(path: str, budget: int | None = None) -> None:
    """Go on with a race of noise."""
    racer.resume(path, evaluate, budget=budget)


def cpu_of(is_whole: Callable[[], bool]) -> float:
    """Return the CPU seconds of a check."""
    begun = time.process_time()
    if not is_whole():
        raise RuntimeError("the store does not hold the outcomes that were written")
    return time.process_time() - begun


def known_of(path: Path) -> tuple[Recorded, Pages]:
    """Return what its writer knows of a store."""
    recorded = Recorded()
    with open_to_read(str(path)) as reader:
        reader.remember = recorded.add
        for _ in reader.outcomes():
            pass
        return recorded, Pages(reader.connection.serialize())


def replay(path: str) -> None:
    """Open and replay a store, and print what it takes."""
    cpu = time.process_time()
    seconds, _ = timed(lambda: racer.resume(path, evaluate))
    cpu = time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.1f} s | {cpu:.1f} s | {peak:.0f} MB")


@click.command()
@number_option("--evaluations", 2000, least=100)
@number_option("--repeats", 5)
@number_option("--outcomes", 1_000_000, least=1000)
@click.option("--only-opening", is_flag=True, help="Time the opening of a store alone.")
@click.option("--only-checks", is_flag=True, help="Time the search for changes alone.")
@click.option("--folder", type=click.Path(exists=True), help="Where to write.")
def main(
    evaluations: int,
    repeats: int,
    outcomes: int,
    folder: str | None,
    *,
    only_opening: bool,
    only_checks: bool,
) -> None:
    """Time the store."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        if not (only_opening or only_checks):
            recording(Path(name), evaluations, repeats)
            replaying(Path(name), outcomes)
        if not only_checks:
            opening(Path(name), outcomes)
        if not only_opening:
            checks(Path(name), outcomes, repeats)
