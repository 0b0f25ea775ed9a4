"""Time what a limit costs: an evaluation in a process of its own against one without.

Run:  python scripts/bench_limits.py [--evaluations 200] [--repeats 7]

Races of the same objective with and without limits, turn by turn; figures are medians, per
evaluation and per worker. Beside them a fork of this process that does nothing, in the same
turns: it says how busy the machine was.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import joblib

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import racer
from experiments.noise import evaluate
from racer.deciders import Blocks, FRace, Verdict


@dataclass(frozen=True)
class Nobody:
    """A decider that never drops anyone."""

    def start(self, n_candidates: int, rng: Any) -> Any:
        """Start F-Race."""
        return FRace().start(n_candidates, rng)

    def decide(self, state: Any, blocks: Blocks) -> tuple[Any, Verdict]:
        """Decide, and keep everyone."""
        state, verdict = FRace().decide(state, blocks)
        return state, verdict._replace(dropped=())


def wall(evaluations: int, m: int, n_jobs: int, **limits: Any) -> float:
    """Milliseconds of wall time per evaluation and worker."""
    start = time.perf_counter()
    result = racer.race(
        range(m),
        evaluate,
        range(evaluations // m),
        decider=Nobody(),
        budget=evaluations,
        seed=1,
        n_jobs=n_jobs,
        **limits,
    )
    if result.known.failures:  # (`result.failures` would load pandas, and make each fork dearer)
        raise RuntimeError(result.known.failures[0].message)
    return (time.perf_counter() - start) / result.evaluations * n_jobs * 1e3


def bare_fork() -> float:
    """Milliseconds of wall time for a child that says it is there, and ends."""
    times = []
    for _ in range(50):
        start = time.perf_counter()
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(writer, b"x")
            os._exit(0)
        os.read(reader, 1)
        os.waitpid(pid, 0)
        os.close(reader)
        os.close(writer)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


LIMITS: dict[str, dict[str, Any]] = {
    "timeout": {"timeout": 60.0},
    "timeout and memory": {"timeout": 60.0, "memory": 2**30},
}


@click.command()
@click.option("--evaluations", default=200, show_default=True)
@click.option("--repeats", default=7, show_default=True)
@click.option("--candidates", default=20, show_default=True)
def main(evaluations: int, repeats: int, candidates: int) -> None:
    """Print a Markdown table: median milliseconds per evaluation, and what the limits add."""
    print("| workers | limits | without, ms | with, ms | more, ms | a bare fork, ms |")
    print("|---|---|---|---|---|---|")
    for backend, n_jobs in (("loky", 1), ("loky", 2), ("threading", 2)):
        for name, limits in LIMITS.items():
            pairs, forks = [], []
            with joblib.parallel_config(backend=backend):
                wall(5 * candidates, candidates, n_jobs, **limits)  # starts the workers
                for _ in range(repeats):
                    forks.append(bare_fork())
                    free = wall(evaluations, candidates, n_jobs)
                    pairs.append((free, wall(evaluations, candidates, n_jobs, **limits)))
            free, limited = (statistics.median(column) for column in zip(*pairs, strict=True))
            more = statistics.median(b - a for a, b in pairs)
            kind = "`n_jobs=1`" if n_jobs == 1 else f"`n_jobs={n_jobs}`, {backend}"
            times = (free, limited, more, statistics.median(forks))
            print(
                f"| {kind} | {name} | " + " | ".join(f"{t:.2f}" for t in times) + " |", flush=True
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
