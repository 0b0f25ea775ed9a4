"""Time the store: what recording costs per evaluation, and how fast a race is replayed.

Run:  python scripts/bench_store.py [--evaluations 2000] [--repeats 5] [--outcomes 1000000]

Recording: races in which all stay, with and without a store, in turn; wall time per evaluation,
median over the repeats; beside it the time that this disk takes to keep 4 kB (write, fdatasync),
which is the least that a commit can take. Replay: a store with so many outcomes is written, then opened and
replayed by `racer.resume` in a process of its own, whose peak memory is told.
"""

from __future__ import annotations

import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import racer
from experiments.noise import evaluate
from racer.deciders import BayesianFriedman, Decider, FRace
from racer.store.recorder import Recorder
from racer.store.schema import OutcomeRow, checksum
from racer.store.setup import set_up
from racer.store.writer import Store

DECIDERS: dict[str, Decider] = {
    "f-race": FRace(),
    "bayesian-friedman, epsilon=0": BayesianFriedman(epsilon=0.0),
}


def wall(evaluations: int, store: Path | None, n_jobs: int) -> float:
    """Return wall milliseconds per evaluation of a race in which all stay."""
    start = time.perf_counter()
    result = racer.race(
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
    return (time.perf_counter() - start) / result.evaluations * 1e3


def one_sync(folder: Path, count: int = 200) -> float:
    """Return the median milliseconds that the disk takes to keep 4 kB more of a file."""
    times = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(count):
            start = time.perf_counter()
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


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
                OutcomeRow(race.n_blocks, c, 1, "ok", value, 0.001, "host:1234", "")
                for c, value in zip(race.alive, values, strict=True)
            ]
            connection.executemany(
                "INSERT INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [(*row, checksum(row)) for row in rows],
            )
            race.tell_block(values, seconds=math.fsum(row.seconds for row in rows))
        connection.execute("COMMIT")
        store.flush()
        return race.result().evaluations


@click.command()
@click.option("--evaluations", type=click.IntRange(100), default=2000, show_default=True)
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
@click.option("--outcomes", type=click.IntRange(1000), default=1_000_000, show_default=True)
@click.option("--folder", type=click.Path(exists=True), help="Where to write.")
@click.option("--replay", type=click.Path(exists=True), hidden=True)
def main(
    *, evaluations: int, repeats: int, outcomes: int, folder: str | None, replay: str | None
) -> None:
    """Time the store."""
    if replay:
        start, cpu = time.perf_counter(), time.process_time()
        racer.resume(replay, evaluate)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{seconds:.1f} s | {cpu:.1f} s | {peak:.0f} MB")
        return
    with tempfile.TemporaryDirectory(dir=folder) as name:
        header = "| n_jobs | unstored, ms | stored, ms | more, ms | one fdatasync, ms |"
        print(f"{header}\n|---|---|---|---|---|")
        for n_jobs in (1, 2):
            rows = []
            for repeat in range(repeats):
                path = Path(name) / f"{n_jobs}-{repeat}.db"
                plain, stored = wall(evaluations, None, n_jobs), wall(evaluations, path, n_jobs)
                rows.append((plain, stored, stored - plain, one_sync(Path(name))))
            medians = [f"{statistics.median(column):.3f}" for column in zip(*rows, strict=True)]
            print(f"| {n_jobs} | {' | '.join(medians)} |")
        header = "| decider | candidates | outcomes | file | open and replay | CPU | peak memory |"
        print(f"\n{header}\n|---|---|---|---|---|---|---|")
        for (decider, settings), candidates in (
            (item, m) for item in DECIDERS.items() for m in (10, 100)
        ):
            path = Path(name) / f"{decider}-{candidates}.db"
            count = write(path, candidates, outcomes, settings)
            size = path.stat().st_size / 2**20
            done = subprocess.run(  # noqa: S603
                [sys.executable, __file__, "--replay", str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            print(
                f"| `{decider}` | {candidates} | {count} | {size:.0f} MB | {done.stdout.strip()} |"
            )
            path.unlink()


if __name__ == "__main__":
    main()
