"""Time what a limit costs: an evaluation in a process of its own against one without.

Races of the same objective with a time-out and a limit of memory and without, turn by turn; figures are medians, per
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


LIMITS: dict[str, Any] = {"timeout": 60.0, "memory": 2**30}


@click.command()
@number_option("--evaluations", 200, least=100)
@number_option("--repeats", 7)
@number_option("--candidates", 20)
def main(evaluations: int, repeats: int, candidates: int) -> None:
    """Print a Markdown table: median milliseconds per evaluation, and of a bare fork."""
    print_row("workers", "without, ms", "with, ms", "a bare fork, ms", head=True)
    for backend, n_jobs in (("loky", 1), ("loky", 2), ("threading", 2)):
        kind = "`n_jobs=1`" if n_jobs == 1 else f"`n_jobs={n_jobs}`, {backend}"
        with joblib.parallel_config(backend=backend), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wall(5 * candidates, candidates, n_jobs, **LIMITS)  # starts the workers
            rows = []
            for _ in range(repeats):
                fork, free = bare_fork(), wall(evaluations, candidates, n_jobs)
                rows.append((free, wall(evaluations, candidates, n_jobs, **LIMITS), fork))
        times = (statistics.median(column) for column in zip(*rows, strict=True))
        print_row(kind, *(f"{t:.2f}" for t in times))
