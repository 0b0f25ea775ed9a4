"""Tune the pipeline on four real data sets, and compare it with its default.

Eleven parameters, four of them conditional. Half of the rows
of each data set are for tuning: instances divide them into rows to train on and rows to test on.
The other half is held out: the configurations are trained on the first half and tested on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

import racer
from experiments.classifier.pipeline import DATA, DEFAULT, error_rate, held_out, instances, space
from experiments.options import csv_option, number_option
from experiments.report import markdown, mean_and_error, plus_minus, write

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["main"]

SPLITS = 25


@click.command()
@number_option("--seeds", 5)
@number_option("--budget", 2_000, least=500)
@click.option("--jobs", type=int, default=2, show_default=True)
@csv_option
def main(seeds: int, budget: int, jobs: int, csv_path: Path | None) -> None:
    """Print the error rates on the held-out halves, default and tuned, and the configurations."""
    default = [error_rate(DEFAULT, instance, 0) for instance in held_out()]
    tuned: list[list[float]] = []
    for seed in range(seeds):
        result = racer.tune(
            space(),
            error_rate,
            instances(SPLITS),
            budget=budget,
            deterministic=True,
            initial=[DEFAULT],
            test_instances=held_out(),
            seed=seed,
            n_jobs=jobs,
            progress=True,
        )
        if result.best is None:
            raise click.ClickException(f"seed {seed}: {result.ended.message}")
        tuned.append(result.tests[result.best_index].tolist())
        print(
            f"seed {seed}: {result.best}, best of {len(result.configs)} with probability "
            f"{result.probability_best[result.elites[0]]:.2f}, indistinguishable from "
            f"{len(result.indistinguishable) - 1} others on {result.blocks} instances"
        )
    rates = np.array(tuned)
    rows = [
        (name, f"{100 * default[i]:.2f}", plus_minus(*mean_and_error(100 * rates[:, i])))
        for i, name in enumerate(DATA)
    ]
    mean = mean_and_error(100 * rates.mean(axis=1))
    rows.append(("mean", f"{100 * np.mean(default):.2f}", plus_minus(*mean)))
    print()
    print(markdown(("held-out error, %", "default", f"tuned, {seeds} seeds"), rows))
    write(
        csv_path,
        [
            {"seed": seed, "data": name, "default": default[i], "tuned": rates[seed, i]}
            for seed in range(seeds)
            for i, name in enumerate(DATA)
        ],
    )
