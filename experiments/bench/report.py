"""Time what the report of a long tuning takes, from its store, and how large it is."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

import racer
from experiments.bench.tools import timed
from experiments.options import number_option
from experiments.report import print_row
from racer.evaluate.limits.linux import cpu_seconds

__all__ = ["main"]

PARAMETERS = (5, 11, 100)


def evaluate(config: dict[str, Any], instance: int, seed: int) -> float:
    """Return a noisy sum of squares."""
    noise = np.random.default_rng(seed).standard_normal()
    return float(sum(x * x for x in config.values()) + 0.1 * instance + noise)


def clock() -> float:
    """Return the processor seconds of this process and its children, NaN where that is unknown."""
    return cpu_seconds() or math.nan


@click.command()
@number_option("--evaluations", 20_000)
@number_option("--repeats", 3)
def main(evaluations: int, repeats: int) -> None:
    """Print a Markdown table: the median processor time of `racer report`, and the page's size."""
    print_row("parameters", "CPU, s", "size, MB", head=True)
    with tempfile.TemporaryDirectory() as made:
        store, page = Path(made) / "run.db", Path(made) / "report.html"
        for n in PARAMETERS:
            store.unlink(missing_ok=True)
            space = racer.Space({f"x{i}": racer.Real(-5.0, 5.0) for i in range(n)})
            instances = list(range(20))
            racer.tune(space, evaluate, instances, budget=evaluations, store=store, seed=1)
            command = [sys.executable, "-m", "racer", "report", str(store), "-o", str(page)]
            run = partial(subprocess.run, command, check=True, capture_output=True)
            seconds = statistics.median(timed(run, clock)[0] for _ in range(repeats))
            print_row(str(n), f"{seconds:.1f}", f"{page.stat().st_size / 1e6:.2f}")
