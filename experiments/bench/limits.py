"""Time what a limit costs: an evaluation in a process of its own against one without.

Races of the same objective with and without limits, turn by turn; figures are medians, per
evaluation and per worker. Beside them a fork of this process that does nothing, in the same
turns: it says how busy the machine was.
"""

from __future__ import annotations

import os
import statistics
import warnings
from functools import partial
from typing import Any

import click
import joblib

import racer
from experiments.bench.tools import Withheld, evaluate, median_ms, timed
from experiments.options import number_option
from experiments.report import print_row
from racer.deciders import FRace

__all__ = ["main"]


def wall(evaluations: int, m: int, n_jobs: int, **limits: Any) -> float:
    """Milliseconds of wall time per evaluation and worker."""
    race = partial(racer.race, range(m), evaluate, range(evaluations // m), seed=1, n_jobs=n_jobs)
    seconds, result = timed(partial(race, decider=Withheld(FRace()), budget=evaluations, **limits))
    if result.known.failures:  # (`result.failures` would load pandas, and make each fork dearer)
        raise RuntimeError(result.known.failures[0].message)
    return seconds / result.evaluations * n_jobs * 1e3


def bare_fork() -> float:
    """Milliseconds of wall time for a child that says it is there, and ends."""

    def fork() -> None:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(writer, b"x")
            os._exit(0)
        os.read(reader, 1)
        os.waitpid(pid, 0)
        os.close(reader)
        os.close(writer)

    return median_ms(timed(fork)[0] for _ in range(50))


LIMITS: dict[str, dict[str, Any]] = {
    "timeout": {"timeout": 60.0},
    "timeout and memory": {"timeout": 60.0, "memory": 2**30},
}


def measure(
    evaluations: int, repeats: int, candidates: int, n_jobs: int, limits: dict[str, Any]
) -> tuple[float, ...]:
    """Return the medians: without limits, with them, the difference, a bare fork."""
    wall(5 * candidates, candidates, n_jobs, **limits)  # starts the workers
    rows = []
    for _ in range(repeats):
        fork = bare_fork()
        free = wall(evaluations, candidates, n_jobs)
        limited = wall(evaluations, candidates, n_jobs, **limits)
        rows.append((free, limited, limited - free, fork))
    return tuple(statistics.median(column) for column in zip(*rows, strict=True))


@click.command()
@number_option("--evaluations", 200)
@number_option("--repeats", 7)
@number_option("--candidates", 20)
def main(evaluations: int, repeats: int, candidates: int) -> None:
    """Print a Markdown table: median milliseconds per evaluation, and what the limits add."""
    head = ("limits", "without, ms", "with, ms", "more, ms", "a bare fork, ms")
    print_row("workers", *head, head=True)
    for backend, n_jobs in (("loky", 1), ("loky", 2), ("threading", 2)):
        kind = "`n_jobs=1`" if n_jobs == 1 else f"`n_jobs={n_jobs}`, {backend}"
        for name, limits in LIMITS.items():
            with joblib.parallel_config(backend=backend), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                times = measure(evaluations, repeats, candidates, n_jobs, limits)
            print_row(kind, name, *(f"{t:.2f}" for t in times))
