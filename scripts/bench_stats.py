"""Time the Bayesian tests and models of racer.stats, at their default numbers of draws.

Run:  python scripts/bench_stats.py [--repeats 5]

Prints the CPU time of the fastest repeat, the goal, and how the draws were made.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from experiments.report import markdown
from racer.stats import bayesian_signed_rank_test, bradley_terry, plackett_luce, win_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray


def scores(n: int, k: int) -> NDArray[np.float64]:
    """Return costs of k algorithms on n data sets, in the order of a Plackett-Luce model."""
    rng = np.random.default_rng(k)
    return np.asarray(rng.standard_exponential((n, k)) / np.exp(rng.normal(size=k)))


def cases() -> Iterator[tuple[str, float, Callable[[], Any]]]:
    """Yield what is timed: a name, the goal in seconds, a call."""
    for n, goal in ((54, 0.09), (500, 0.9)):
        z = np.random.default_rng(n).normal(0.1, 1.0, n)
        yield (
            f"Bayesian signed-rank test, 50 000 draws, n = {n}",
            goal,
            partial(bayesian_signed_rank_test, np.zeros(n), z),
        )
    for k, n, goal in ((5, 20, 0.05), (16, 132, 0.1), (100, 30, 3.0)):
        table = win_table(scores(n, k))
        name = f"Bradley-Terry, {k} algorithms on {n} data sets"
        yield name, goal, partial(bradley_terry, table)
    for k, n, goal in ((8, 300, 0.2), (100, 100, 3.0), (100, 5, 3.0)):
        yield f"Plackett-Luce, {n} rankings of {k}", goal, partial(plackett_luce, scores(n, k))


def how(result: Any) -> str:
    """Return how the draws of a model were made."""
    posterior = getattr(result, "posterior", None)
    if posterior is None:
        return "-"
    return f"{posterior.method}, ESS {posterior.ess:.0f}, R-hat {posterior.r_hat:.3f}"


@click.command()
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True)
def main(repeats: int) -> None:
    """Print a table of CPU times."""
    lines = []
    for name, goal, call in cases():
        taken = []
        for _ in range(repeats):
            start = time.process_time()
            result = call()
            taken.append(time.process_time() - start)
        lines.append([name, f"{min(taken):.3f}", f"{goal:g}", how(result)])
    print(markdown(["", "CPU s", "goal", "draws"], lines))


if __name__ == "__main__":
    main()
