"""How often P(best) is true where evaluations fail: by chance, or some candidates at rates of their own.

Tables, races of four candidates that differ by .2 standard deviations of the noise, and tunings. The
best has the least expected cost at the price of P(best): a failure that is by chance costs nobody
anything, and one at a candidate's own rate fifty standard deviations of a block's costs.
"""

from __future__ import annotations

import csv
import math
import warnings
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import joblib
import numpy as np
import pandas as pd

import racer
from experiments.options import jobs_option, number_option
from experiments.report import markdown
from racer.stats import best_posterior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["main"]

HERE = Path(__file__).parent
SIZES = ((5, 10), (5, 30), (10, 30), (30, 30))  # candidates, blocks
RACED = np.array([0.0, 0.2, 0.4, 0.6])
FIRST_SEED = 500
TUNED = 300
ALIKE = {"all at .02": 0.02, "all at .1": 0.1}
KINDS = (*ALIKE, "half never", "each its own")
QUALITIES, NOISE = 0.5, 1.0  # standard deviations in tables
PRICE = 50.0 * math.hypot(QUALITIES, NOISE)  # of a failure


class Counted(NamedTuple):
    """The probability of the best of one table, race or tuning, and whether it is true."""

    said: float
    true: float
    log: float  # of the probability of the true best
    covered: float  # by the credible set


def rates(kind: str, m: int, rng: np.random.Generator) -> Floats:
    """Return the share of evaluations that fail, of each candidate."""
    if kind in ALIKE:
        return np.full(m, ALIKE[kind])
    if kind == "half never":
        return np.where(rng.random(m) < 0.5, 0.0, rng.uniform(0.0, 0.3, m))
    return rng.beta(1.0, 9.0, m)


def counted(found: Any, expected: Floats) -> Counted:
    """Return whether the candidate of least expected cost is said to be the best."""
    best = int(expected.argmin())
    probability = found.probability_best
    return Counted(
        float(probability[found.best]),
        float(found.best == best),
        float(np.log(max(probability[best], 1e-4))),
        float(best in found.credible_set()),
    )


def in_table(kind: str, m: int, n: int, seed: int) -> Counted:
    """Return the probability of the best of m candidates on n blocks, and whether it is true."""
    rng = np.random.default_rng([seed, m, n])
    quality, rate = rng.normal(0.0, QUALITIES, m), rates(kind, m, rng)
    costs = quality + rng.normal(0.0, NOISE, (n, m))
    costs[rng.random((n, m)) < rate] = np.inf
    return counted(best_posterior(costs), quality + PRICE * rate)


def noisy(rate: float, draw: int, candidate: int, instance: int, seed: int) -> float:
    """Return a cost, or fail."""
    rng = np.random.default_rng([draw, candidate, instance, seed])
    if rng.random() < rate:
        raise ValueError("by chance")
    return float(RACED[candidate] + rng.normal())


def in_race(kind: str, decider: str, seed: int) -> Counted:
    """Return the probability of the best of a race of four candidates, and whether it is true."""
    warnings.simplefilter("ignore", racer.RacerWarning)
    evaluate = partial(noisy, ALIKE[kind], seed)
    race = racer.race(range(4), evaluate, range(50), budget=160, seed=seed, decider=decider)
    return counted(race.posterior, RACED)


def of_space(rate: float, draw: int, config: Any, instance: int, seed: int) -> float:
    """Return the cost of a configuration, or fail."""
    rng = np.random.default_rng([draw, zlib.crc32(repr(config).encode()), instance, seed])
    if rng.random() < rate:
        raise ValueError("by chance")
    return quality(config) + 0.1 * float(rng.normal())


def quality(config: Any) -> float:
    """Return the expected cost of a configuration."""
    return float((config["x"] - 0.3) ** 2 + (config["y"] - 0.6) ** 2)


def in_tuning(kind: str, seed: int) -> Counted:
    """Return the probability of the best that a tuning compares, and whether it is true."""
    warnings.simplefilter("ignore", racer.RacerWarning)
    space = racer.Space({name: racer.Real(0.0, 1.0) for name in "xy"})
    rate = ALIKE.get(kind, 0.0)
    result = racer.tune(space, partial(of_space, rate, seed), range(30), budget=TUNED, seed=seed)
    expected = np.full(len(result.configs), np.inf)
    compared = [*result.compared]
    expected[compared] = [quality(result.configs[c]) for c in compared]
    return counted(result.posterior, expected)


@click.command("failures")
@number_option("--repetitions", 200, help="Tables, or races, of each kind.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Count how often P(best) is true where evaluations fail; write failures.csv."""
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    calls: dict[tuple[str, str], Any] = {
        (kind, f"{m} on {n}"): partial(in_table, kind, m, n) for kind in KINDS for m, n in SIZES
    }
    calls |= {
        (kind, f"race, {decider}"): partial(in_race, kind, decider)
        for kind in ALIKE
        for decider in ("bayesian-friedman", "best-for-budget")
    }
    calls |= {
        (kind, f"tuning, {TUNED} evaluations"): partial(in_tuning, kind)
        for kind in ("none", *ALIKE)
    }
    with (HERE / "failures.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("failures", "of", *Counted._fields))
        for (kind, of), call in calls.items():
            rows = joblib.Parallel(n_jobs=jobs)(joblib.delayed(call)(seed) for seed in seeds)
            writer.writerow((kind, of, *(f"{mean:.4f}" for mean in np.mean(rows, axis=0))))
    click.echo("\n".join(lines(pd.read_csv(HERE / "failures.csv"))))


def lines(found: pd.DataFrame) -> list[str]:
    """Return the table of the page, with the means of the kinds of tables."""
    tables = found[found["of"].str.contains(" on ")]
    means = tables.groupby("of", sort=False).mean(numeric_only=True).reset_index()
    means.insert(0, "failures", "all four kinds")
    found = pd.concat([tables, means, found.drop(tables.index)])
    rows = [
        (kind, of, f"{said:.2f} → {true:.2f}", f"{log:.2f}", f"{covered:.2f}")
        for kind, of, said, true, log, covered in found.itertuples(index=False)
    ]
    return markdown(
        ("failures", "candidates on blocks", "said → true", "log", "set"), rows
    ).splitlines()
