"""Table 2: speed and error of three races.

First the Bayesian race, published beside ours; then all three.
ITER (fraction of the iterations used) and MAE (candidates better than the one selected), with
standard errors; the observations used; and, as a yardstick, the MAE of sequential halving on the
same number of observations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from experiments.benavoli2015 import published
from experiments.benavoli2015.racing import (
    DECIDERS,
    TRULY_SO,
    Cell,
    Cells,
    Size,
    claims,
    races,
    settings_option,
    summary,
    truly_so,
)
from experiments.options import csv_option, number_option, run_options
from experiments.report import cell_of, mean_and_error, pm, table, wide, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from experiments.report import Columns

    Row = dict[str, Any]

__all__ = ["main", "records"]

PUBLISHED_RACES = 200
BAYESIAN: Columns = {
    "ITER published": "{iter_published:.2f}",
    "ITER here": pm("iter"),
    "MAE published": "{mae_published:.2f}",
    "MAE here": pm("mae"),
    "MAE of halving on as many observations": pm("halving"),
}
COLUMNS: Columns = {
    "q, rho": "{q}, {rho:g}",
    "decider": "{decider}",
    "ITER published": "{iter_published:.2f}",
    "ITER": pm("iter"),
    "ITER, difference": "{iter_difference:+.2f}",
    "MAE published": "{mae_published:.2f}",
    "MAE": pm("mae"),
    "MAE, difference": "{mae_difference:+.2f}",
    "observations": pm("observations", 0),
    "MAE of halving": pm("halving"),
}


def records(cells: Cells, size: Size) -> list[Row]:
    """Return the rows of the file."""
    printed, rows = published.table_2(), []
    for cell, frame in cells.items():
        row: Row = summary(cell, frame, ("iter", "mae", "observations", "halving"))
        for name, known in printed[row["q"], row["rho"], cell.decider].items():
            row |= {f"{name}_published": known, f"{name}_difference": row[name] - known}
        rows.append(row | {"repetitions": size.repetitions, "seed": size.seed})
    return rows


def bayesian(rows: Sequence[Row]) -> str:
    """Return the figures of the Bayesian race, a column per setting."""
    lines = [
        {**row, "line": name, "text": cell_of(row, column)}
        for name, column in BAYESIAN.items()
        for row in rows
        if row["decider"] == "bayesian"
    ]
    return wide(lines, {"q, rho": "{line}"}, "{q}, {rho:g}", "{text}")


def lower(cells: Cells, indicator: str, others: Iterable[str]) -> tuple[bool, str]:
    """Return whether the Bayesian race has the lower mean in every row, and where it has not."""
    exceptions, clear = [], 0
    settings = dict.fromkeys(cell.setting for cell in cells)
    for setting in settings:
        ours, *theirs = (
            cells[Cell(setting, name)][indicator].to_numpy(dtype=np.float64)
            for name in ("bayesian", *others)
        )
        differences = [mean_and_error(ours - other) for other in theirs]
        if any(mean >= 0.0 for mean, _ in differences):
            exceptions.append(f"({setting})")
        clear += all(mean < -2.0 * error for mean, error in differences)
    where = f"not in {' '.join(exceptions)}; " if exceptions else ""
    counts = f"lower in {len(settings) - len(exceptions)} of {len(settings)} rows"
    return not exceptions, f"{counts}, {where}by more than two standard errors in {clear}"


def near(rows: Sequence[Row], indicator: str) -> tuple[bool, str]:
    """Return whether all means of the Bayesian race are near those published, and how many are.

    ITER within .05; MAE within 15 % or two standard errors of the difference, the published one
    being a mean of 200 races as well.
    """
    met = []
    for row in (row for row in rows if row["decider"] == "bayesian"):
        error = row[f"{indicator}_se"] * math.sqrt(1.0 + row["repetitions"] / PUBLISHED_RACES)
        mae = max(0.15 * row[f"{indicator}_published"], 2.0 * error)
        met.append(abs(row[f"{indicator}_difference"]) <= (0.05 if indicator == "iter" else mae))
    return all(met), f"{sum(met)} of {len(met)} rows"


@click.command()
@settings_option
@run_options(1000)
@number_option("--first-look", 2, help="Rounds of five observations before F-Race tests.")
@csv_option
def main(
    settings: tuple[str, ...],
    repetitions: int,
    jobs: int,
    seed: int,
    first_look: int,
    csv_path: Path | None,
) -> None:
    """Print Table 2 as published and as measured here."""
    size = Size(repetitions, jobs, seed, first_look)
    cells = races(settings, DECIDERS, size)
    rows = records(cells, size)
    print(f"{bayesian(rows)}\n\n{table(rows, COLUMNS)}")
    sign, others = ["f-race-sign"], ["f-race-sign", "f-race-mean-rank"]
    found = {
        "Bayesian ITER within 0.05 of the published": near(rows, "iter"),
        "Bayesian MAE within 15 % or two standard errors of the published": near(rows, "mae"),
        "Bayesian MAE lowest in every row": lower(cells, "mae", others),
        "F-Race_S outperformed by the Bayesian race in MAE": lower(cells, "mae", sign),
        "F-Race_S outperformed by the Bayesian race in ITER": lower(cells, "iter", sign),
        TRULY_SO: truly_so(cells),
    }
    print(f"\n{claims(found)}")
    write(csv_path, rows)
