"""Time the Bayesian tests and models of racer.stats, at their default numbers of draws.

The CPU time of the fastest repeat, the goal, and how the draws were made; then the
Bayesian signed-rank test side by side with baycomp's, in turns, if that is installed
(pip install 'racer-tuning[bench]'). --compared times `racer.compare` of many algorithms instead.
"""

from __future__ import annotations

import time
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pandas as pd

import racer
from experiments.bench.tools import timed
from experiments.options import number_option
from experiments.report import markdown
from racer.stats import (
    bayesian_signed_rank_test,
    best_posterior,
    bradley_terry,
    front_posterior,
    plackett_luce,
    win_table,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = ["main"]

DRAWS = 50_000


def scores(n: int, k: int) -> NDArray[np.float64]:
    """Return costs of k algorithms on n data sets, in the order of a Plackett-Luce model."""
    rng = np.random.default_rng(k)
    return np.asarray(rng.standard_exponential((n, k)) / np.exp(rng.normal(size=k)))


def normal(n: int, k: int) -> NDArray[np.float64]:
    """Return costs of k candidates on n blocks, which differ by less than the noise."""
    rng = np.random.default_rng(k)
    return np.asarray(0.3 * rng.normal(size=k) + rng.normal(size=(n, k)))


def raced(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs (n, k) of a race from which candidates go one after the other, the last never."""
    n, k = costs.shape
    last = 5 + np.arange(k) * (n - 5) // (k - 1)
    return np.where(np.arange(n)[:, None] < last, costs, np.nan)


def cases() -> Iterator[tuple[str, float | None, Callable[[], Any]]]:
    """Yield timed calls: the name of each, its goal in seconds or None, and the call."""
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
    for k, n in ((10, 30), (50, 30), (50, 100)):
        costs = normal(n, k)
        yield f"P(best), {k} candidates on {n} blocks", 0.002, partial(best_posterior, costs)
        name = f"P(best), {k} candidates after a race of {n} blocks"
        yield name, 0.002, partial(best_posterior, raced(costs))
    for k in (10, 30, 50):
        costs = np.stack([normal(20, k), normal(20, k + 1)[:, :k]])
        name = f"P(on the front), 2 metrics of {k} candidates on 20 blocks"
        yield name, None, partial(front_posterior, costs)


def compared() -> Iterator[tuple[str, float | None, Callable[[], Any]]]:
    """Yield timed calls of `racer.compare`, and of printing what it returns."""
    rng = np.random.default_rng(1)

    def normal_scores(n: int, k: int, apart: float) -> pd.DataFrame:
        table = rng.normal(size=(n, k)) + apart * np.arange(k) / (k - 1)
        return pd.DataFrame(table, columns=[f"algorithm {i}" for i in range(k)])

    many, one = normal_scores(200, 500, 1.0), normal_scores(1, 200, 3.0)
    friedman = partial(racer.compare, many, method="friedman")
    yield "Friedman's test, 500 algorithms on 200 data sets", 10.0, friedman
    comparison = friedman()
    yield "the same, printed", 0.5, lambda: str(comparison)
    for posthoc in ("wilcoxon-hochberg", "nemenyi", "conover"):
        yield f"the same, {posthoc}", 10.0, partial(friedman, posthoc=posthoc)
    kruskal = partial(racer.compare, many, method="kruskal-wallis", design="unpaired")
    yield "Kruskal-Wallis test, 500 algorithms, 200 scores each", 10.0, kruskal
    plackett = partial(racer.compare, one, method="plackett-luce")
    yield "Plackett-Luce, 200 algorithms on one data set", 5.0, plackett


def how(result: Any) -> str:
    """Return how the draws of a model were made."""
    posterior = getattr(result, "posterior", None)
    if posterior is None:
        return "-"
    return f"{posterior.method}, ESS {posterior.ess:.0f}, R-hat {posterior.r_hat:.3f}"


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time that a call takes, and what it returns."""
    return timed(call, time.process_time)


def beside_baycomp(repeats: int) -> str:
    """Return a table of the signed-rank test here and in baycomp, or how to get it."""
    try:
        import baycomp  # noqa: PLC0415  (an extra)
    except ImportError:
        return (
            "Not compared with baycomp, which is not installed: pip install 'racer-tuning[bench]'"
        )
    lines = []
    for n, goal in ((54, 10), (500, 20)):
        z, zero = np.random.default_rng(n).normal(0.1, 1.0, n), np.zeros(n)
        ours, theirs = [], []
        for _ in range(repeats):  # in turns, so that a busy minute hits both
            ours.append(cpu_seconds(partial(bayesian_signed_rank_test, zero, z, draws=DRAWS)))
            theirs.append(
                cpu_seconds(partial(baycomp.SignedRankTest.probs, zero, z, rope=0, nsamples=DRAWS))
            )
        fastest = min(taken for taken, _ in ours), min(taken for taken, _ in theirs)
        found = ours[0][1].probability, float(theirs[0][1][1])
        times = [f"{taken:.3f}" for taken in fastest]
        probabilities = [f"{p:.3f}" for p in found]
        lines.append([f"{n}", *times, f"{fastest[1] / fastest[0]:.1f}", f"{goal}", *probabilities])
    head = ["n", "racer, CPU s", "baycomp, CPU s", "times", "goal", "P, racer", "P, baycomp"]
    version = metadata.version("baycomp")
    return f"Signed-rank test, {DRAWS} draws, and baycomp {version}\n\n{markdown(head, lines)}"


@click.command()
@number_option("--repeats", 5)
@click.option("--compared", "compares", is_flag=True, help="Only comparisons of many algorithms.")
def main(repeats: int, *, compares: bool) -> None:
    """Print a table of CPU times."""
    lines = []
    for name, goal, call in compared() if compares else cases():
        runs = [cpu_seconds(call) for _ in range(repeats)]
        fastest = min(taken for taken, _ in runs)
        wanted = "-" if goal is None else f"{goal:g}"
        lines.append([name, f"{fastest:.4f}", wanted, how(runs[0][1])])
    print(markdown(["", "CPU s", "goal", "draws"], lines), flush=True)
    if compares:
        return
    print(f"\n{beside_baycomp(repeats)}")
