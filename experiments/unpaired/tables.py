"""Level and power of tests of independent samples, beside Kruskal and Wallis and Brunner and Munzel.

The shrinkage of racer's test was chosen on other seeds of the first four worlds.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import joblib
import numpy as np
from scipy.stats import kruskal

from experiments.options import jobs_option, number_option
from racer.comparison.methods.base import compared
from racer.comparison.methods.unpaired import brunner_munzel
from racer.stats import bayesian_kruskal_wallis, holm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.random import Generator
    from numpy.typing import NDArray

__all__ = ["main"]

HERE = Path(__file__).parent
SHAPES = ((3, 5), (3, 10), (3, 30), (6, 5), (6, 10), (6, 30))  # algorithms, scores of each
ALPHA, DRAWS, PERMUTATIONS = 0.05, 2000, 499
FIRST_SEED = 1000


def _spreads(m: int) -> NDArray[np.float64]:
    return np.geomspace(1 / 3, 3, m)


def _unequal_sizes(rng: Generator, m: int, n: int) -> list[NDArray[np.float64]]:
    """Of the widest law there are fewest scores, n; of the narrowest 2.5 n."""
    sizes = np.linspace(2.5 * n, n, m).round().astype(int)
    return [rng.normal(0, sd, size) for sd, size in zip(_spreads(m), sizes, strict=True)]


def _one_better(
    rng: Generator, m: int, n: int, sd: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    return [rng.normal(-1.2 if k == 0 else 0.0, sd[k], n) for k in range(m)]


WORLDS: dict[str, Callable[[Generator, int, int], list[NDArray[np.float64]]]] = {
    "same law": lambda rng, m, n: list(rng.normal(size=(m, n))),
    "unequal spread": lambda rng, m, n: [rng.normal(0, sd, n) for sd in _spreads(m)],
    "unequal spread and sizes": _unequal_sizes,
    "many ties": lambda rng, m, n: list(rng.normal(size=(m, n)).round()),
    "one shape each": lambda rng, m, n: [
        np.sign(rng.normal(size=n)) * rng.exponential(size=n) ** power
        for power in np.linspace(0.2, 3, m)
    ],
    "one better": lambda rng, m, n: _one_better(rng, m, n, np.ones(m)),
    "one better, unequal spread": lambda rng, m, n: _one_better(
        rng, m, n, np.concatenate([[1.0], _spreads(m - 1)])
    ),
}


class Found(NamedTuple):
    """The answers to one draw of samples."""

    kruskal: bool  # rejects
    bayesian: bool  # rejects
    munzel: bool  # any pair, without a test before
    wrong: bool  # a statement of "kruskal-wallis" that is not true
    bayesian_wrong: bool
    right: float  # share of the true statements made; NaN if all are alike
    bayesian_right: float


def measured(world: str, m: int, n: int, seed: int) -> Found:
    """Test one draw."""
    samples = WORLDS[world](np.random.default_rng([seed, m, n]), m, n)
    true = {(0, k) for k in range(1, m)} if world.startswith("one better") else set()
    rejects = bool(kruskal(*samples).pvalue <= ALPHA)
    pairs = compared(m, None)
    p_values = holm(brunner_munzel(samples)[0][tuple(np.transpose(pairs))])
    told = {
        (i, j) if (samples[i][:, None] - samples[j] < 0).mean() > 0.5 else (j, i)
        for (i, j), p_value in zip(pairs, p_values, strict=True)
        if p_value <= ALPHA
    }
    found = bayesian_kruskal_wallis(samples, draws=DRAWS, permutations=PERMUTATIONS, seed=seed)
    accepted = {(statement.better, statement.worse) for statement in found.accepted}
    made = told if rejects else set()
    return Found(
        rejects,
        found.rejected,
        bool(told),
        bool(made - true),
        bool(accepted - true),
        len(made & true) / len(true) if true else np.nan,
        len(accepted & true) / len(true) if true else np.nan,
    )


@click.command("unpaired")
@number_option("--repetitions", 1000, help="Draws of each world and size.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Test independent samples in seven worlds; write experiments/unpaired/unpaired.csv."""
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    with (HERE / "unpaired.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("world", "algorithms", "scores", "repetitions", *Found._fields))
        for world in WORLDS:
            for m, n in SHAPES:
                found = joblib.Parallel(n_jobs=jobs, batch_size=50)(
                    joblib.delayed(measured)(world, m, n, seed) for seed in seeds
                )
                rates = _means(found)
                writer.writerow((world, m, n, repetitions, *rates))
                file.flush()
                click.echo(f"| {world} | {m} x {n} | {' | '.join(map(shown, rates))} |")


def _means(found: Iterable[Found]) -> list[str]:
    """Return the mean of each field, empty where it is unknown."""
    means = np.array(list(found), dtype=np.float64).mean(axis=0)
    return ["" if np.isnan(mean) else f"{mean:.4f}" for mean in means]


def shown(rate: str) -> str:
    """Return a rate of the CSV file in per cent, as on the page."""
    return f"{100 * float(rate):.1f}" if rate else "-"
