"""Races over folds beside grid, random and halving searches and TPE, on nine real data sets.

Of each data set 300 rows at most are searched with, the others are held out. Three kinds of
classifiers with 24 candidates each; scores are accuracies. All candidates are fitted once on five
folds, repeated four times, and on ten folds; searches are replayed on these tables, but for
halving, which is run. Vs grid 20: how much better the held-out score is than that of the candidate
with the best mean of all 20 folds.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import click
import joblib

from experiments.options import csv_option, run_options, words_option
from experiments.report import averaged, cell_of, pm, table, with_progress, write
from experiments.sklearn_folds.data import DATA, ESTIMATORS
from experiments.sklearn_folds.searches import DEFAULT, replayed

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.report import Column, Columns, Row

__all__ = ["COLUMNS", "main"]


def _shown(column: Column, *, of_grid: bool = False) -> Column:
    """Return a column that is bold for the default; `of_grid`: where no grid has the folds, "-"."""

    def text(row: Row) -> str:
        if row["search"] == "halving" and of_grid:
            return "-"
        shown = cell_of(row, column)
        is_default = (row["folds"], row["search"]) == ("5 folds, 4 times", DEFAULT)
        return f"**{shown}**" if is_default else shown

    return text


COLUMNS: Columns = {
    "folds": _shown("{folds}"),
    "search": _shown("{search}"),
    "fits": _shown("{fits:.0f}"),
    "% of the grid's": _shown(pm("share", 0, 100, error=False), of_grid=True),
    "CPU s": _shown("{cpu_seconds:.2f}"),
    "same winner, %": _shown(pm("same", 0, 100, error=False), of_grid=True),
    "held-out score vs grid 20, %": _shown(pm("vs_grid_20", 2, 100)),
}


@click.command()
@words_option("--data", DATA)
@words_option("--estimators", ESTIMATORS)
@run_options(10)
@csv_option
def main(
    data: tuple[str, ...],
    estimators: tuple[str, ...],
    repetitions: int,
    jobs: int,
    seed: int,
    csv_path: Path | None,
) -> None:
    """Print fits, CPU time and held-out scores of searches."""
    splits = range(seed - 1, seed - 1 + repetitions)
    cells = [(*each, split) for split in splits for each in product(data, estimators)]
    pool: Any = joblib.Parallel(n_jobs=jobs, return_as="generator", batch_size=1)
    results = pool(joblib.delayed(replayed)(*cell) for cell in cells)
    found = [next(results) for _ in with_progress(cells)]
    rows = [
        {"folds": folds, "search": search, **averaged([each[folds, search] for each in found])}
        for folds, search in found[0]
    ]
    print(f"{len(data)} data sets, {len(estimators)} classifiers, {repetitions} splits.\n")
    print(table(rows, COLUMNS))
    write(csv_path, [row | {"cells": len(cells)} for row in rows])
