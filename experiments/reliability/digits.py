"""Whether the digits of P(best) hold: its error beside a million random draws.

Tables of 3, 10, 30 and 50 candidates, complete and after races, with failures, few instances, folds,
a known number of blocks, heavy tails, and tunings. The error is the largest among the candidates of a
table; half of the last digit that is printed is .005. Seeds are others than those that the numbers of
points were chosen on, which were 0 to 11. Beside it: wins counted at 4 096 points, as before. Of
fronts of two metrics, P(on the front) of 65 536 draws, and of 4 096.
"""

from __future__ import annotations

import csv
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import click
import joblib
import numpy as np
import pandas as pd

import racer
from experiments.options import jobs_option, number_option
from experiments.reliability.tables import BUDGETS
from experiments.reliability.units import NOISE, SCALES, formulas, scaled
from experiments.report import markdown
from racer.stats import best, several, smallest
from racer.stats.locations import Locations, locations

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["main"]

HERE = Path(__file__).parent
FIRST_SEED = 100
CANDIDATES = (3, 10, 30, 50)
FRONTS = "fronts"  # of two metrics
KINDS = (
    *("complete", "after races", "failures", "few instances", "folds", "known blocks"),
    *("heavy tails", "tunings", FRONTS),
)
HALF = 0.005  # of the last digit that is printed
AT_ONCE = 20_000  # draws


def table(kind: str, m: int, seed: int) -> Locations:
    """Return the posterior of a table of m candidates."""
    rng = np.random.default_rng([seed, m, KINDS.index(kind)])
    n = int(rng.choice([5, 10, 20, 50]))
    noise = rng.standard_normal((n, m))
    if kind == "heavy tails":
        noise = rng.standard_t(2.5, (n, m)) * np.exp(0.5 * rng.standard_normal(m))
    costs = rng.choice([0.0, 0.2, 0.5, 1.0, 2.0]) * rng.random(m) + noise
    given: dict[str, Any] = {"by_block": True, "correlation": 0.0, "n_blocks": None}
    if kind == "few instances":
        instances = np.arange(n) % max(n // 4, 2)
        costs += rng.standard_normal((n, m))[instances]
        given["strata"] = (instances, bool(seed % 2))
    if kind == "after races" or (kind != "complete" and seed % 2):
        costs = raced(costs, rng)
    if kind == "failures":
        share = np.where(rng.random(m) < 0.5, rng.choice([0.03, 0.1, 0.3], m), 0.0)
        costs[(rng.random((n, m)) < share) & ~np.isnan(costs)] = np.inf
        costs = costs[np.isfinite(costs).any(axis=1)]
    if kind == "folds":
        given |= {"correlation": 0.1, "by_block": False}
    if kind == "known blocks":
        given["n_blocks"] = int(n * rng.choice([1.2, 2.0, 5.0]))
    return locations(costs, **given)


def raced(costs: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return costs (n, m) of a race that drops a sixth of the candidates now and then."""
    known, alive = costs.copy(), np.arange(costs.shape[1])
    for block in range(5, len(costs)):
        if len(alive) > 2 and rng.random() < 0.5:
            order = np.nanmean(known[:block], axis=0)[alive].argsort()
            gone = alive[order[-max(1, len(alive) // 6) :]]
            known[block:, gone] = np.nan
            alive = np.setdiff1d(alive, gone)
    return known


def tuning(seed: int) -> Locations:
    """Return the posterior of those that are compared in a tuning."""
    warnings.simplefilter("ignore", racer.RacerWarning)
    space, formula = list(formulas().values())[seed % 4]
    noise, apart = NOISE[seed // 4 % 2], list(SCALES.values())[seed // 8 % 2]
    evaluate = partial(scaled, formula, noise, apart)
    result = racer.tune(space, evaluate, range(30), budget=BUDGETS[seed % 2], seed=seed)
    function = smallest.probability_smallest
    with mock.patch.object(best, "probability_smallest", wraps=function) as call:
        _ = result.posterior
    parts, freedom, failing = call.call_args.args
    return Locations(parts, freedom, failing, 0, 1.0)


def by_chance(found: Locations, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how often each candidate is the smallest of random draws, (m,)."""
    m = len(found.mean)
    won = np.zeros(m)
    counts = rng.multinomial(draws, [part.weight for part in found.parts])
    for part, count in zip(found.parts, counts.tolist(), strict=True):
        root = smallest.root_of(part.covariance)
        for first in range(0, count, AT_ONCE):
            n = min(AT_ONCE, count - first)
            drawn = rng.standard_normal((n, m)) @ root.T
            drawn /= np.sqrt(rng.chisquare(found.freedom, n) / found.freedom)[:, None]
            drawn += part.mean
            if found.failing is not None:
                price, reliable, a, b, chance = found.failing
                own = (rng.random((n, m)) > reliable) & (rng.random((n, 1)) >= chance)
                drawn += price * own * rng.beta(a, b, (n, m))
            leads = drawn <= drawn.min(axis=1, keepdims=True) + 1e-9 * np.ptp(part.mean)
            won += (leads / leads.sum(axis=1, keepdims=True)).sum(axis=0)
    return won / draws


def counted(found: Locations) -> NDArray[np.float64]:
    """Return P(best) of wins that are counted at 4 096 points."""
    parts = [part._replace(own=None) for part in found.parts]
    with mock.patch.object(smallest, "_COUNTED", 0):
        return smallest.probability_smallest(parts, found.freedom, found.failing)


def errors_of_fronts(m: int, seed: int, draws: int) -> tuple[str, int, float, float]:
    """Return the error of P(on the front) in two metrics of m candidates, and with fewer draws."""
    rng = np.random.default_rng([seed, m])
    n = int(rng.choice([5, 10, 20, 50]))
    noise = rng.standard_normal((2, n, m))
    noise[1] += rng.choice([0.0, 0.7]) * noise[0]
    costs = rng.choice([0.2, 0.5, 1.0, 2.0]) * rng.random((2, 1, m)) + noise
    exact = np.zeros(2, dtype=np.bool_)
    model = several.Means(costs, exact, by_block=True, n_blocks=None)
    few = several.on_front(model.drawn()).mean(axis=0)
    now = several.drawn_fronts(costs, exact, n_blocks=None).mean(axis=0)
    with mock.patch.object(several, "lattice_points", partial(random_points, rng)):
        rounds = [several.on_front(model.drawn()).mean(axis=0) for _ in range(-(-draws // AT_ONCE))]
    expected = np.mean(rounds, axis=0)
    error, of_few = (float(np.abs(p - expected).max()) for p in (now, few))
    return FRONTS, m, error, of_few


def random_points(
    rng: np.random.Generator, m: int, **_: Any
) -> tuple[NDArray[np.float64], Callable[[float], NDArray[np.float64]]]:
    """Return random points in place of the lattice's."""

    def scale(freedom: float) -> NDArray[np.float64]:
        if np.isinf(freedom):
            return np.ones(AT_ONCE)
        return np.sqrt(rng.chisquare(freedom, AT_ONCE) / freedom)

    return rng.standard_normal((m, AT_ONCE)), scale


def errors(kind: str, seed: int, draws: int) -> tuple[str, int, float, float]:
    """Return the error of P(best) in a table, and with counted wins."""
    m = CANDIDATES[(seed + KINDS.index(kind)) % len(CANDIDATES)]
    if kind == FRONTS:
        return errors_of_fronts(m, seed, draws)
    found = tuning(seed) if kind == "tunings" else table(kind, m, seed)
    expected = by_chance(found, draws, np.random.default_rng(seed))
    now = smallest.probability_smallest(found.parts, found.freedom, found.failing)
    error, of_counted = (float(np.abs(p - expected).max()) for p in (now, counted(found)))
    return kind, len(expected), error, of_counted


@click.command("digits")
@number_option("--repetitions", 16, help="Tables of each kind.")
@number_option("--draws", 1_000_000, help="Random draws of each table.")
@jobs_option
def main(repetitions: int, draws: int, jobs: int) -> None:
    """Measure the error of P(best) and P(on the front), and write experiments/reliability/digits.csv."""
    calls = [
        joblib.delayed(errors)(kind, seed, draws)
        for kind in KINDS
        for seed in range(FIRST_SEED, FIRST_SEED + repetitions)
    ]
    found = joblib.Parallel(n_jobs=jobs)(calls)
    with (HERE / "digits.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("tables", "candidates", "error", "error_counted"))
        writer.writerows((kind, m, *(f"{error:.5f}" for error in both)) for kind, m, *both in found)
    click.echo("\n".join(lines(pd.read_csv(HERE / "digits.csv"))))


def lines(found: pd.DataFrame) -> list[str]:
    """Return the table of the page: a row for each kind, and for all."""
    rows = []
    for kind in (*KINDS, "all"):
        some = found if kind == "all" else found[found["tables"] == kind]
        cells = [
            f"{some[column].mean():.4f}, {some[column].max():.4f}, {(some[column] > HALF).mean():.2f}"
            for column in ("error", "error_counted")
        ]
        rows.append((kind, str(len(some)), *cells))
    head = ("", "tables", "now", "counted at 4 096 points")
    return markdown(head, rows).splitlines()
