"""Races over correlated folds, five by four, in worlds where the truth is known.

The score of a candidate on a fold is its quality, an effect of the data set, which is the same on
all folds, and noise; of the variance around the quality, 1, the data set has the correlation of two
folds. Best on these data is who has the best quality and effect together, best in general who has
the best quality. Where all qualities are equal, "in general" is the mean fraction of the candidates
that is dropped.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from experiments.options import csv_option, number_option, run_options
from experiments.report import measured, pm, table, write
from racer import Outcome, Race
from racer.deciders import CorrelatedTRace, TRace
from racer.seeding import rng_for

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.report import Columns
    from racer import RaceResult
    from racer.deciders import Decider

__all__ = ["COLUMNS", "main", "race_over_folds"]

FOLDS, CORRELATION = 20, 0.2
RACES: dict[str, Decider] = {
    "folds, 0.95": CorrelatedTRace(CORRELATION, 0.95),
    "folds, 0.8": CorrelatedTRace(CORRELATION, 0.8),
    "independent, 0.95": CorrelatedTRace(0.0, 0.95),
    "t-race": TRace(),
}
COLUMNS: Columns = {
    "qualities": lambda row: f"sd {row['spread']:g}" if row["spread"] else "equal",
    "race": "{race}",
    "fits, %": pm("fits", 0, 100),
    "drops the best on these data, %": pm("best_here_dropped", 0, 100),
    "in general, %": pm("best_dropped", 0, 100),
    "regret against all fits": pm("regret"),
}


class Case(NamedTuple):
    """The standard deviation of qualities, and a race."""

    spread: float
    race: str


def race_over_folds(decider: str | Decider, costs: NDArray[np.float64], seed: int) -> RaceResult:
    """Return a race over folds of known costs (n, m), with a test after each fold from the third."""
    n, m = costs.shape
    race = Race.of(
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
        race.tell_all([Outcome("ok", costs[cell.block, cell.candidate]) for cell in cells])
    return race.result()


def dropped(m: int, case: Case, seed: int) -> dict[str, float]:
    """Return what a race of m candidates drops, takes and selects."""
    rng = rng_for(seed, "folds")
    quality = case.spread * rng.standard_normal(m)
    here = quality + np.sqrt(CORRELATION) * rng.standard_normal(m)
    costs = here + np.sqrt(1.0 - CORRELATION) * rng.standard_normal((FOLDS, m))
    result = race_over_folds(RACES[case.race], costs, seed)
    out = result.eliminations["candidate"].tolist()
    whole, chosen = int(costs.mean(axis=0).argmin()), result.survivors[0]
    return {
        "fits": result.evaluations / (FOLDS * m),
        "best_here_dropped": float(here.argmin() in out),
        "best_dropped": float(quality.argmin() in out) if case.spread else len(out) / m,
        "regret": float(quality[chosen] - quality[whole]),
    }


@click.command()
@number_option("--candidates", 10, least=2)
@run_options(200)
@csv_option
def main(candidates: int, repetitions: int, jobs: int, seed: int, csv_path: Path | None) -> None:
    """Print what races over correlated folds drop, and what they save."""
    cases = [Case(*each) for each in product((0.0, 0.5), RACES)]
    seeds = range(seed, seed + repetitions)
    rows = measured(partial(dropped, candidates), cases, seeds, jobs)
    print(table(rows, COLUMNS))
    write(csv_path, rows)
