"""Races over correlated folds in worlds where the truth is known.

The score of a candidate on a fold is its quality, an effect of the data set, which is the same on
all folds, and noise; of the variance around the quality, 1, the data set has the correlation of two
folds. Best on these data is who has the best quality and effect together, best in general who has
the best quality. Where all qualities are equal, "drops the best in general" is the mean fraction of
the candidates that is dropped.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import click
import joblib
import numpy as np

from experiments.options import csv_option, number_option, run_options
from experiments.report import markdown, mean_and_error, plus_minus, with_progress, write
from racer import Race
from racer.deciders import CorrelatedTRace
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from racer import RaceResult
    from racer.deciders import Decider

__all__ = ["main", "race_over_folds", "table"]

FOLDS = {"5": (5, 0.2), "10": (10, 0.1), "5 x 4": (20, 0.2), "10 x 10": (100, 0.1)}
SPREADS = (0.0, 0.5)  # standard deviation of qualities
RACES = ("folds, 0.95", "folds, 0.8", "independent, 0.95", "t-race", "f-race", "bayesian-friedman")
COUNTS = ("fits", "any_dropped", "best_here_dropped", "best_dropped", "regret")
HEAD = (
    *("folds", "qualities", "race", "fits, %", "drops any, %", "drops the best on these data, %"),
    *("drops the best in general, %", "regret against all fits"),
)


def _decider(name: str, correlation: float) -> str | Decider:
    kind, _, confidence = name.partition(", ")
    if not confidence:
        return name
    return CorrelatedTRace(correlation if kind == "folds" else 0.0, float(confidence))


def race_over_folds(decider: str | Decider, costs: NDArray[np.float64], seed: int) -> RaceResult:
    """Return a race over folds of known costs (n, m), with a test after each fold from the third."""
    n, m = costs.shape
    race = Race(
        range(m),
        range(n),
        decider=decider,
        budget=n * m,
        deterministic=True,
        each_test=1,
        first_test=3,
        seed=seed,
    )
    while cells := race.ask():
        race.tell_block(costs[cells[0].block, list(race.alive)])
    return race.result()


def _counts(name: str, folds: str, spread: float, m: int, seed: int) -> list[float]:
    n, correlation = FOLDS[folds]
    rng = rng_for(seed, "folds")
    quality = spread * rng.standard_normal(m)
    here = quality + np.sqrt(correlation) * rng.standard_normal(m)
    costs = here + np.sqrt(1.0 - correlation) * rng.standard_normal((n, m))
    result = race_over_folds(_decider(name, correlation), costs, seed)
    out = result.eliminations["candidate"].tolist()
    best = float(quality.argmin() in out) if spread else len(out) / m
    whole = int(costs.mean(axis=0).argmin())
    chosen = result.survivors[0]
    return [
        result.evaluations / (n * m),
        float(bool(out)),
        float(here.argmin() in out),
        best,
        float(quality[chosen] - quality[whole]),
    ]


@click.command()
@number_option("--candidates", 10, least=2)
@run_options(200)
@csv_option
def main(candidates: int, repetitions: int, jobs: int, seed: int, csv_path: Path | None) -> None:
    """Print what races over correlated folds drop, and what they save."""
    cells = list(product(FOLDS, SPREADS, RACES))
    seconds = [repetitions * (0.05 if folds == "10 x 10" else 0.01) for folds, _, _ in cells]
    print(f"{candidates} candidates, {repetitions} races per cell.")
    rows: list[dict[str, Any]] = []
    with joblib.Parallel(n_jobs=jobs) as pool:
        for folds, spread, name in with_progress(cells, seconds, jobs, str):
            one = joblib.delayed(_counts)
            each = range(seed, seed + repetitions)
            counts = np.array(pool(one(name, folds, spread, candidates, i) for i in each))
            row: dict[str, Any] = {"folds": folds, "spread": spread, "race": name}
            for count, values in zip(COUNTS, counts.T, strict=True):
                row[count], row[f"{count}_se"] = mean_and_error(values)
            rows.append(row)
    print(table(rows))
    write(csv_path, rows)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table in Markdown."""
    lines = [
        [
            row["folds"],
            f"sd {row['spread']:g}" if row["spread"] else "equal",
            row["race"],
            *(plus_minus(100 * row[c], 100 * row[f"{c}_se"], 0) for c in COUNTS[:4]),
            plus_minus(row["regret"], row["regret_se"]) if row["spread"] else "-",
        ]
        for row in rows
    ]
    return markdown(HEAD, lines)
