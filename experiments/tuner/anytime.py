"""What each contender has found after few evaluations: a table, and a curve for each problem."""

from __future__ import annotations

from pathlib import Path

import click

from experiments.options import csv_option, file_in_a_directory, number_option, words_option
from experiments.pictures import save
from experiments.tuner.contenders import CONTENDERS
from experiments.tuner.suite import SUITE
from experiments.tuner.tables import recorded, regrets, tables

__all__ = ["main"]

BUDGETS = (50, 100, 200, 500)
PROBLEMS = (
    "many-parameters",
    "heavy-tails",
    "hierarchy",
    "failures",
    "large-noise",
    "eighty",
    "ant-colony",
    "walksat",
)
OTHERS = ("racer", "tpe", "tpe-2", "halving", "random")


@click.command()
@words_option("--problems", PROBLEMS, click.Choice(list(SUITE)))
@words_option("--contenders", OTHERS, click.Choice(list(CONTENDERS)))
@words_option("--budgets", BUDGETS, click.IntRange(20))
@number_option("--seeds", 6)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=file_in_a_directory,
    help="Draw the curves to this file.",
)
@csv_option
def main(
    problems: tuple[str, ...],
    contenders: tuple[str, ...],
    budgets: tuple[int, ...],
    seeds: int,
    *,
    plot: Path | None,
    csv_path: Path | None,
) -> None:
    """Print regrets after few evaluations. Runs that the file of --csv has are not repeated."""
    rows = recorded(problems, contenders, budgets, seeds, csv_path)
    print(tables(rows))
    if plot is not None:
        from experiments.tuner.picture import curves  # noqa: PLC0415  (an extra)

        found = regrets(rows).groupby(["problem", "budget"]).mean()
        save(curves(found[[name for name in CONTENDERS if name in found]]), plot)
