"""What deciders reach as those of a tuner: regrets on the half of the suite that choices are made on.

With --instances, few of a problem's instances are there to tune on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click
import pandas as pd

from experiments.options import csv_option, number_option, words_option
from experiments.tuner.contenders import by_racer
from experiments.tuner.suite import CHOSEN, SUITE
from experiments.tuner.tables import tables

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["main"]

DECIDERS = ("best-for-budget", "bayesian-friedman", "f-race", "halving")
USUAL = DECIDERS[:2]
BUDGETS = (1_000, 3_000)


@click.command()
@number_option("--seeds", 10, least=2)
@number_option("--first-seed", 200, least=0)
@words_option("--problems", CHOSEN, click.Choice(list(SUITE)))
@words_option("--budgets", BUDGETS, click.IntRange(200))
@words_option("--deciders", USUAL, click.Choice(DECIDERS))
@click.option("--instances", type=click.IntRange(1), help="To tune on, at most.")
@csv_option
def main(
    seeds: int,
    first_seed: int,
    problems: tuple[str, ...],
    budgets: tuple[int, ...],
    deciders: tuple[str, ...],
    instances: int | None,
    csv_path: Path | None,
) -> None:
    """Print regrets by decider, and the verdicts of the first on the others."""
    rows = []
    for name in problems:
        for seed in range(first_seed, first_seed + seeds):
            problem = SUITE[name].draw(seed)
            problem = replace(problem, tuning=min(instances or problem.tuning, problem.tuning))
            for budget in budgets:
                for decider in deciders:
                    quality = problem.quality(by_racer(problem, budget, seed, decider=decider))
                    rows.append((name, budget, decider, seed, quality, problem.reference))
    names = ["problem", "budget", "contender", "seed", "quality", "reference"]
    found = pd.DataFrame(rows, columns=names)
    if csv_path is not None:
        found.to_csv(csv_path, index=False, float_format="%.6g")
    print(tables(found, deciders))
