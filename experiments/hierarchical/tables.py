"""How often the hierarchical model errs, and how near its estimates are, in worlds that are known.

Two algorithms on twenty data sets, ten folds each. Differences on the folds of a data set have a
correlation of 1/10 around its true difference, in units of the usual standard deviation of folds.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import click
import joblib
import numpy as np

from experiments.options import jobs_option, number_option
from racer.stats import bayesian_signed_rank_test, hierarchical_t_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

__all__ = ["main"]

HERE = Path(__file__).parent
DATA_SETS, FOLDS, CORRELATION = 20, 10, 0.1
FIRST_SEED = 1000
WORLDS: dict[str, tuple[float, Callable[[Generator], NDArray[np.float64]]]] = {
    # by name: the mean difference, and the differences of the data sets around it
    "equal on all data sets": (0.0, lambda rng: 0.0 * rng.random(DATA_SETS)),
    "equal on average": (0.0, lambda rng: 0.5 * rng.normal(size=DATA_SETS)),
    "equal on average, outliers": (0.0, lambda rng: 0.3 * rng.standard_t(2, DATA_SETS)),
    "better by 0.3 on average": (0.3, lambda rng: 0.5 * rng.normal(size=DATA_SETS)),
}
# shares of claims by the model, and by the signed-rank test on means; shares of intervals, of the
# mean and of data sets, that hold the truth; errors of data sets, in standard deviations of a fold
COLUMNS = ("claimed", "signed_rank", "covered", "covered_each", "error", "error_of_mean")


def compared(world: str, seed: int) -> tuple[float, ...]:
    """Return what is claimed of two algorithms, and how far off the estimates are."""
    centre, around = WORLDS[world]
    rng = np.random.default_rng([seed, DATA_SETS])
    deltas = centre + around(rng)
    spread = np.exp(rng.normal(0.0, 0.5, (DATA_SETS, 1)))
    shared = np.sqrt(CORRELATION) * rng.normal(size=(DATA_SETS, 1))
    noise = shared + np.sqrt(1.0 - CORRELATION) * rng.normal(size=(DATA_SETS, FOLDS))
    gaps = deltas[:, None] + spread * noise
    nothing = np.zeros_like(gaps)
    found = hierarchical_t_test(nothing, gaps, correlation=CORRELATION)
    ranks = bayesian_signed_rank_test(nothing[:, 0], gaps.mean(axis=1))
    inside = (found.lows <= deltas) & (deltas <= found.highs)
    return (
        float(max(found.mean.better, found.mean.worse) > 0.95),
        float(max(ranks.better, ranks.worse) > 0.95),
        float(found.low <= centre <= found.high),
        float(inside.mean()),
        float(np.abs(found.estimates - deltas).mean()),
        float(np.abs(found.means - deltas).mean()),
    )


@click.command("hierarchical")
@number_option("--repetitions", 100)
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Count claims and coverage world by world; write experiments/hierarchical/hierarchical.csv."""
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    with (HERE / "hierarchical.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("world", *COLUMNS))
        for world in WORLDS:
            calls = (joblib.delayed(compared)(world, seed) for seed in seeds)
            found = np.mean(joblib.Parallel(n_jobs=jobs)(calls), axis=0)
            writer.writerow((world, *(f"{value:.4f}" for value in found)))
            pairs = zip(COLUMNS, found, strict=True)
            click.echo(f"{world}: {', '.join(f'{name} {value:.3f}' for name, value in pairs)}")
