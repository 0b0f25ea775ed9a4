"""Tables 2 and 3: speed and error of three races, and candidates dropped as indistinguishable.

First the Bayesian race, published beside ours; then all three; then Table 3, of the Bayesian race.
ITER (fraction of the iterations used) and MAE (candidates better than the one selected), with
standard errors; the observations used; and, as a yardstick, the MAE of sequential halving on the
same number of observations. *Truly so*: the fraction of the pairs declared indistinguishable that win
against each other with probability within 0.5 +- 0.05.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from experiments.benavoli2015 import published
from experiments.benavoli2015.racing import (
    DECIDERS,
    Cell,
    Cells,
    Size,
    claims,
    races,
    settings_option,
    summary,
)
from experiments.options import csv_option, number_option, run_options
from experiments.report import cell_of, mean_and_error, pm, table, wide, write

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from experiments.report import Columns

    Row = dict[str, Any]

__all__ = ["main", "records"]

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
INDISTINGUISHABLE: Columns = {
    "q, rho": "{q}, {rho:g}",
    "published": lambda row: f"{published.table_3()[row['q'], row['rho']]:.1f}",
    "ours": lambda row: f"{row['declared'] / row['repetitions']:.2f}",
    "truly so": "{truly} of {declared}",
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
    """Print Tables 2 and 3 as published and as measured here."""
    size = Size(repetitions, jobs, seed, first_look)
    cells = races(settings, DECIDERS, size)
    rows = records(cells, size)
    print(f"{bayesian(rows)}\n\n{table(rows, COLUMNS)}")
    ours = [row for row in rows if row["decider"] == "bayesian"]
    print(f"\n{table(ours, INDISTINGUISHABLE)}")
    declared, truly = (sum(row[name] for row in ours) for name in ("declared", "truly"))
    sign, others = ["f-race-sign"], ["f-race-sign", "f-race-mean-rank"]
    found = {
        "Bayesian MAE lowest in every row": lower(cells, "mae", others),
        "F-Race_S outperformed by the Bayesian race in MAE": lower(cells, "mae", sign),
        "F-Race_S outperformed by the Bayesian race in ITER": lower(cells, "iter", sign),
        "pairs declared indistinguishable are truly so": (
            truly == declared if declared else None,
            f"{truly} of {declared} pairs",
        ),
    }
    print(f"\n{claims(found)}")
    write(csv_path, rows)
