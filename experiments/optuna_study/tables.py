"""What racing does for an Optuna study, side by side with WilcoxonPruner.

How often an equal challenger is ever pruned and how soon a worse one is, at the default settings;
and what a study finds on a noisy objective with 20 instances at an equal
number of evaluations.
"""

from __future__ import annotations

import click

from experiments.options import number_option, run_options, words_option
from experiments.optuna_study.pruning import errors
from experiments.optuna_study.search import search

__all__ = ["main"]

PARTS = ("errors", "search")


@click.command()
@words_option("--parts", PARTS)
@number_option("--seeds", 20, least=2)
@words_option("--budgets", (400, 1000), click.IntRange(40))
@run_options(200, least=8)
def main(
    parts: tuple[str, ...],
    repetitions: int,
    seeds: int,
    budgets: tuple[int, ...],
    jobs: int,
    seed: int,
) -> None:
    """Print the tables."""
    tables = {
        "errors": lambda: errors(repetitions, jobs, seed),
        "search": lambda: search(budgets, seeds, jobs, seed),
    }
    for part in parts:
        print(f"{part}\n\n{tables[part]()}\n", flush=True)
