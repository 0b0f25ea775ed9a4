"""Kill races at random moments and resume them, until the time is up.

Each race runs in a process group of its own with n_jobs 1, 2 or 4. The process that drives it
gets SIGKILL again and again, and is started again on the same store, until the race comes to its
end. Its result must be that of a race never interrupted, no recorded row may change or vanish, and on
Linux nothing that it started may live a second longer. In every second race the cost is run time,
with a limit per evaluation, and so processes of its own for each. Exits with 1 if one does not come
out the same.

`--one STORE` is one such race, to be killed by somebody else.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import click

import racer
from experiments.report import print_row

__all__ = ["main"]

MARK = "RACER_STRESS"  # in the environment of a race, its store
RUNTIME = racer.Runtime(20.0, slack=1.0)


def objective(milliseconds: float, *, timed: bool = False) -> Any:
    """Return an objective that takes about so long, fails now and then, and travels by value.

    One that is timed reports a run time, which is a function of its arguments.
    """

    def evaluate(config: int, instance: int, seed: int) -> float:
        import time  # noqa: PLC0415

        import numpy as np  # noqa: PLC0415

        rng = np.random.default_rng([seed, config, instance])
        time.sleep(milliseconds / 1e3 * float(rng.uniform(0.5, 1.5)))
        if rng.random() < 0.05:
            raise ValueError(f"no luck at {config}")
        value = config / 5 + float(rng.normal())
        return 4.0 * float(np.exp(value)) if timed else value

    return evaluate


def race(
    store: str | None,
    *,
    jobs: int,
    milliseconds: float,
    budget: int,
    seed: int,
    timeout: float = 0.0,
) -> str:
    """Begin or resume the race, and return its result as text."""
    result = racer.race(
        range(6),
        objective(milliseconds, timed=timeout > 0.0),
        range(10),
        budget=budget,
        decider="f-race-sign",
        seed=seed,
        n_jobs=jobs,
        store=store,
        timeout=timeout or None,
        runtime=RUNTIME if timeout else None,
    )
    said = [
        [result.best_index, result.survivors, result.ended, result.evaluations],
        repr(result.known.values(len(result.configs)).tolist()),
        result.eliminations.to_dict("records"),
        result.known.failures,
        list(result.probability_best.values()),
        sorted({*result.scores["status"]}),
    ]
    return json.dumps(said)


def outcomes(store: Path) -> set[tuple[Any, ...]]:
    """Return the recorded outcomes."""
    if not store.exists():
        return set()
    with closing(sqlite3.connect(store)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master").fetchall()
        if ("outcomes",) not in tables:
            return set()
        return set(connection.execute("SELECT * FROM outcomes"))


def start(store: Path, **settings: float) -> Any:
    """Start a race on a store; whatever it starts has a mark in its environment."""
    words = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", f"from {__name__} import main; main()", "--one", str(store), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, MARK: str(store)},
    )


def outliving(store: Path, seconds: float) -> int:
    """Return how many processes of a killed race are there after so long (Linux)."""
    mark, until = f"{MARK}={store}".encode(), time.monotonic() + seconds
    while True:
        there = 0
        for file in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):  # it has ended
                there += mark in file.read_bytes().split(b"\0")
        if not there or time.monotonic() > until:
            return there
        time.sleep(0.05)


def end_group(process: subprocess.Popen[str]) -> None:
    """End what a killed driver has left, and release its pipes."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def killed_and_resumed(
    folder: Path,
    jobs: int,
    rng: random.Random,
    budget: int,
    milliseconds: float,
    most: int,
    timeout: float,
    patience: float,
) -> tuple[int, list[str]]:
    """Run one race, killed again and again; return how often, and what went wrong."""
    seed = rng.randrange(2**31)
    settings = {"jobs": jobs, "milliseconds": milliseconds, "budget": budget, "seed": seed}
    store, kills = folder / f"run{seed}.db", 0
    wanted = race(None, jobs=1, milliseconds=0.0, budget=budget, seed=seed, timeout=timeout)
    known: set[tuple[Any, ...]] = set()
    wrong = []
    if timeout and '"capped"' not in wanted:
        wrong.append(f"{store}: no evaluation was capped")
    while True:
        process = start(store, timeout=timeout, **settings)
        # the first half second is the interpreter's own; then come opening, replay and race
        wait = rng.uniform(0.3, 0.8) if rng.random() < 0.3 else rng.uniform(0.5, 1.8)
        try:
            said, err = process.communicate(timeout=wait if kills < most else None)
        except subprocess.TimeoutExpired:
            process.kill()
            kills += 1
            process.wait()
            if left := outliving(store, patience):
                wrong.append(f"{store}: {left} processes outlived the driver by {patience:g} s")
            end_group(process)
            now = outcomes(store)
            if known - now:
                wrong.append(f"{store}: {len(known - now)} recorded rows changed or vanished")
            known = now
            continue
        if process.returncode:
            wrong.append(f"{store}: exit code {process.returncode}: {err}")
        elif json.loads(said) != json.loads(wanted):
            wrong.append(f"{store}: another result:\n{said}\n{wanted}")
        elif known - outcomes(store):
            wrong.append(f"{store}: recorded rows changed or vanished")
        return kills, wrong


@click.command()
@click.option("--minutes", type=float, default=10.0, show_default=True)
@click.option("--races", type=int, help="End after so many races instead.")
@click.option("--jobs", type=int, help="Only with so many jobs.  [default: 1, 2, 4 in turn]")
@click.option("--kills", type=int, default=30, show_default=True, help="Of a race, at most.")
@click.option("--budget", type=int, default=150, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--patience", type=float, default=1.0, help="Seconds that what it left may live.")
@click.option("--milliseconds", type=float, default=4.0, hidden=True)
@click.option("--timeout", type=float, default=0.0, hidden=True)
@click.option("--one", help="Run a single race on this store, and print its result.")
def main(
    *,
    minutes: float,
    races: int | None,
    jobs: int | None,
    kills: int,
    budget: int,
    seed: int,
    patience: float,
    milliseconds: float,
    timeout: float,
    one: str | None,
) -> None:
    """Kill races at random moments and resume them."""
    if one:
        settings = {"milliseconds": milliseconds, "budget": budget, "seed": seed}
        print(race(one, jobs=jobs or 1, timeout=timeout, **settings))  # type: ignore[arg-type]
        return
    rng, until = random.Random(seed), time.monotonic() + 60 * minutes  # noqa: S311
    tally = {n: [0, 0, 0, 0] for n in ((jobs,) if jobs else (1, 2, 4))}
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        done = 0
        while done < races if races else time.monotonic() < until:
            n = list(tally)[done % len(tally)]
            limit = 60.0 * (done // len(tally) % 2)
            count, faults = killed_and_resumed(
                Path(folder), n, rng, budget, milliseconds, kills, limit, patience
            )
            wrong += faults
            for place, more in enumerate((1, count > 0, count, not faults)):
                tally[n][place] += more
            done += 1
    print_row("n_jobs", "races", "killed", "kills", "finished identical", head=True)
    for n, numbers in tally.items():
        print_row(n, *numbers)
    for fault in wrong:
        print(fault, file=sys.stderr)
    sys.exit(bool(wrong))
