"""Time the Bayesian tests and models of racer.stats, at their default numbers of draws.

The CPU time of the fastest repeat, and the goal; then the Bayesian signed-rank test side by side with
baycomp's, in turns (pip install ".[bench]").
"""

from __future__ import annotations

import time
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from experiments.bench.tools import timed
from experiments.options import number_option
from experiments.report import table
from racer.stats import (
    bayesian_signed_rank_test,
    best_posterior,
    bradley_terry,
    plackett_luce,
    win_table,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["main"]

DRAWS = 50_000


def scores(n: int, k: int) -> NDArray[np.float64]:
    """Return costs of k algorithms on n data sets, in the order of a Plackett-Luce model."""
    rng = np.random.default_rng(k)
    return np.asarray(rng.standard_exponential((n, k)) / np.exp(rng.normal(size=k)))


CASES: dict[str, tuple[float, Callable[[], Any]]] = {  # by name the goal in seconds, and the call
    **{
        f"Bradley-Terry, {k} algorithms on {n} data sets": (
            goal,
            partial(bradley_terry, win_table(scores(n, k))),
        )
        for k, n, goal in ((5, 20, 0.05), (100, 30, 3.0))
    },
    **{
        f"Plackett-Luce, {n} rankings of {k}": (goal, partial(plackett_luce, scores(n, k)))
        for k, n, goal in ((8, 300, 0.2), (100, 5, 3.0))
    },
    "P(best), 50 candidates on 30 blocks": (0.002, partial(best_posterior, scores(30, 50))),
}


def fastest(call: Callable[[], Any], repeats: int) -> float:
    """Return the least CPU time that a call takes."""
    return min(timed(call, time.process_time)[0] for _ in range(repeats))


@click.command()
@number_option("--repeats", 5)
def main(repeats: int) -> None:
    """Print tables of CPU times."""
    rows = [
        {"name": name, "goal": goal, "seconds": fastest(call, repeats)}
        for name, (goal, call) in CASES.items()
    ]
    print(table(rows, {"": "{name}", "CPU s": "{seconds:.4f}", "goal": "{goal:g}"}), flush=True)
    try:
        import baycomp  # noqa: PLC0415  (an extra)
    except ImportError:
        raise click.ClickException("baycomp is missing: pip install '.[bench]'") from None
    beside = []
    for n, goal in ((54, 0.09), (500, 0.9)):
        z, zero = np.random.default_rng(n).normal(0.1, 1.0, n), np.zeros(n)
        ours = partial(bayesian_signed_rank_test, zero, z, draws=DRAWS)
        theirs = partial(baycomp.SignedRankTest.probs, zero, z, rope=0, nsamples=DRAWS)
        both = [(fastest(ours, 1), fastest(theirs, 1)) for _ in range(repeats)]  # in turns
        racer, other = map(min, zip(*both, strict=True))
        beside.append({"n": n, "racer": racer, "goal": goal, "baycomp": other})
    columns = {"n": "{n}", "racer, s": "{racer:.3f}", "goal, s": "{goal:g}"}
    version = metadata.version("baycomp")
    print(f"\nBayesian signed-rank test, {DRAWS} draws, and baycomp {version}\n")
    print(table(beside, columns | {"baycomp, s": "{baycomp:.3f}"}))
