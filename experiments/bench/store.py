"""Time the store: what recording costs per evaluation, and how fast a store is opened.

Recording: races in which all stay, with and without a store, in turn; wall time per evaluation,
median over the repeats; beside it the time that this disk takes to keep 4 kB (write, fdatasync),
which is the least that a commit can take. Opening: the CPU seconds of commands on a store of so many
outcomes, start included, with its result in it and without; it is written by a race, so in memory
(--folder /dev/shm) sooner.
"""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import click

import racer
from experiments.bench.tools import evaluate, median_ms, timed
from experiments.options import number_option
from experiments.report import print_row

__all__ = ["main", "resume"]

ROOT = Path(__file__).parents[2]
COMMANDS = {"racer show": "show", "racer check": "check"}


def race(evaluations: int, store: Path | None, n_jobs: int = 1) -> racer.RaceResult:
    """Race ten candidates of which all stay."""
    return racer.race(
        range(10),
        evaluate,
        range(50),
        decider=racer.deciders.FRace(first_test=evaluations // 10),
        budget=evaluations,
        n_jobs=n_jobs,
        seed=1,
        store=store,
    )


def wall(evaluations: int, store: Path | None, n_jobs: int) -> float:
    """Return wall milliseconds per evaluation."""
    seconds, result = timed(lambda: race(evaluations, store, n_jobs))
    return seconds / result.evaluations * 1e3


def one_sync(folder: Path, count: int = 200) -> float:
    """Return the median milliseconds that the disk takes to keep 4 kB more of a file."""
    with (folder / "sync").open("wb", buffering=0) as file:

        def sync() -> None:
            file.write(bytes(4096))
            os.fdatasync(file.fileno())

        return median_ms(timed(sync)[0] for _ in range(count))


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


def opening(folder: Path, outcomes: int) -> None:
    """Print what commands on a store take."""
    whole, bare, path = (folder / f"{name}.db" for name in ("whole", "bare", "opened"))
    race(outcomes, whole)
    shutil.copyfile(whole, bare)
    with closing(sqlite3.connect(bare)) as connection:
        connection.execute("UPDATE recorded SET result = NULL")
        connection.commit()
    calls = {
        name: f"from racer.cli import main; main({[*words.split(), str(path)]!r})"
        for name, words in COMMANDS.items()
    }
    for name, budget in (("", None), (", a larger budget", outcomes + 10)):
        calls[f"racer.resume{name}"] = (
            f"from {__name__} import resume; resume({str(path)!r}, {budget})"
        )
    print()
    print_row("command", "with its result, CPU", "without, CPU", head=True)
    for name, code in calls.items():
        taken = []
        for store in (whole, bare):
            shutil.copyfile(store, path)
            taken.append(cpu(code))
        print_row(f"`{name}`", *(f"{took:.1f} s" for took in taken))


def cpu(code: str) -> float:
    """Return the CPU seconds of a process that runs this code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [sys.executable, "-c", code]
    subprocess.run(call, stdout=subprocess.DEVNULL, check=True, cwd=ROOT)  # noqa: S603
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def resume(path: str, budget: int | None) -> None:
    """Go on with a race of noise."""
    racer.resume(path, evaluate, budget=budget)


@click.command()
@number_option("--evaluations", 2000, least=100)
@number_option("--repeats", 5)
@number_option("--outcomes", 1_000_000, least=20_000)
@click.option("--only-opening", is_flag=True, help="Time the opening of a store alone.")
@click.option("--folder", type=click.Path(exists=True), help="Where to write.")
def main(
    *, evaluations: int, repeats: int, outcomes: int, folder: str | None, only_opening: bool
) -> None:
    """Time the store."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        if only_opening:
            opening(Path(name), outcomes)
        else:
            recording(Path(name), evaluations, repeats)
