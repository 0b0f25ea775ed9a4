"""What progress costs at a millisecond per evaluation.

Its parts are timed, as the whole is less than what one run differs from the next: what is done for
each evaluation, and each drawing in a terminal. How often is drawn is counted in a real one.
"""

from __future__ import annotations

import io
import os
import sys
import time
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

import racer
from experiments.bench.tools import median_ms
from racer.run.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]


def evaluate(config: int, instance: Any, seed: int) -> float:  # noqa: ARG001
    """Take a millisecond."""
    time.sleep(1e-3)
    return config * 1e-9 + seed % 1000


def drawings_a_second(evaluations: int) -> float:
    """Return how often progress is drawn in a terminal, a second."""
    outer, inner = os.openpty()
    written = []

    def read() -> None:
        with suppress(OSError):
            while part := os.read(outer, 65536):
                written.append(part)

    Thread(target=read, daemon=True).start()
    with os.fdopen(inner, "w") as terminal:
        before, sys.stderr = sys.stderr, terminal
        begun = time.perf_counter()
        try:
            racer.race(range(20), evaluate, budget=evaluations, seed=1, progress=True)
        finally:
            sys.stderr = before
    return b"".join(written).count(b"candidates left") / (time.perf_counter() - begun)


def milliseconds(job: Callable[[], object], n: int) -> float:
    """Return the processor milliseconds of a job: the median of nine times n of them."""
    taken = []
    for _ in range(9):
        begun = time.process_time()
        for _ in range(n):
            job()
        taken.append((time.process_time() - begun) / n)
    return median_ms(taken)


@click.command()
@click.option("--evaluations", type=click.IntRange(200), default=4000, show_default=True)
def main(evaluations: int) -> None:
    """Time the parts of progress, and add them up."""
    race = racer.Race(range(20), budget=evaluations, seed=1)
    outcome = racer.Outcome("ok", 1.0, seconds=1e-3)
    with Progress(Console(file=io.StringIO(), force_terminal=True, width=80)) as progress:
        progress.begin(race, 1, lambda: 1)
        told = milliseconds(lambda: progress.told(outcome), 10_000)
        drawn = milliseconds(progress.live.refresh, 100)
    log = Progress(Console(file=io.StringIO()))
    told_log = milliseconds(lambda: log.told(outcome), 10_000)
    rate = drawings_a_second(evaluations)
    print(f"each evaluation {1e3 * told:.2f} us in a terminal, {1e3 * told_log:.2f} us in a log")
    print(f"each drawing {drawn:.2f} ms, {rate:.1f} times a second")
    print(f"in all, of evaluations of 1 ms: {told + drawn * rate * 1e-3:.2%}; log {told_log:.2%}")
