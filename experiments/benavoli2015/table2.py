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

from experiments.benavoli2015 import published, report
from experiments.benavoli2015.racing import DECIDERS, Cell, Design, Setting
from experiments.options import run_options
from experiments.report import markdown, plus_minus, write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["main"]

PUBLISHED_RACES = 200
Cells = dict[tuple[Setting, str], Cell]
HEAD = (
    *("q, rho", "decider", "ITER published", "ours", "difference"),
    *("MAE published", "ours", "difference", "observations", "MAE of halving"),
)


def summary(cells: Cells) -> str:
    """Return the figures of the Bayesian race, a column per setting."""
    ours = {setting: cell for (setting, decider), cell in cells.items() if decider == "bayesian"}
    printed = {setting: published.table_2()[setting.q, setting.rho, "bayesian"] for setting in ours}
    lines = []
    for indicator in ("iter", "mae"):
        name = indicator.upper()
        lines.append([f"{name} published", *(f"{row[indicator]:.2f}" for row in printed.values())])
        found = (plus_minus(*cell.mean(indicator)) for cell in ours.values())
        lines.append([f"{name} here", *found])
    halving = (plus_minus(*cell.mean("halving")) for cell in ours.values())
    lines.append(["MAE of halving on as many observations", *halving])
    return markdown(("q, rho", *(f"{setting.q}, {setting.rho:g}" for setting in ours)), lines)


def table(cells: Cells) -> str:
    """Return the table, a line per cell."""
    printed, lines = published.table_2(), []
    for (setting, decider), cell in cells.items():
        line = [f"{setting.q}, {setting.rho:g}", decider]
        for indicator in ("iter", "mae"):
            known = printed[setting.q, setting.rho, decider][indicator]
            mean, error = cell.mean(indicator)
            line += [f"{known:.2f}", plus_minus(mean, error), f"{mean - known:+.2f}"]
        line += [plus_minus(*cell.mean("observations"), 0), plus_minus(*cell.mean("halving"))]
        lines.append(line)
    return markdown(HEAD, lines)


def records(cells: Cells, design: Design) -> list[dict[str, Any]]:
    """Return the rows of the file."""
    printed, rows = published.table_2(), []
    for (setting, decider), cell in cells.items():
        row: dict[str, Any] = {"q": setting.q, "rho": setting.rho, "decider": decider}
        for indicator in ("iter", "mae"):
            known = printed[setting.q, setting.rho, decider][indicator]
            mean, error = cell.mean(indicator)
            row |= {f"{indicator}_published": known, indicator: mean, f"{indicator}_se": error}
            row[f"{indicator}_difference"] = mean - known
        for indicator in ("observations", "halving"):
            row[indicator], row[f"{indicator}_se"] = cell.mean(indicator)
        row["declared"], row["truly"] = cell.pairs
        rows.append(row | design.columns)
    return rows


def lower(
    cells: Cells, settings: Sequence[Setting], indicator: str, others: Sequence[str]
) -> tuple[bool, str]:
    """Return whether the Bayesian race has the lower mean in every row, and where it has not."""
    exceptions, clear = [], 0
    for setting in settings:
        differences = [
            cells[setting, "bayesian"].minus(cells[setting, other], indicator) for other in others
        ]
        if any(mean >= 0.0 for mean, _ in differences):
            exceptions.append(f"({setting})")
        clear += all(mean < -2.0 * error for mean, error in differences)
    where = f"not in {' '.join(exceptions)}; " if exceptions else ""
    counts = f"lower in {len(settings) - len(exceptions)} of {len(settings)} rows"
    return not exceptions, f"{counts}, {where}by more than two standard errors in {clear}"


def near(cells: Cells, decider: str, indicator: str) -> tuple[bool, str]:
    """Return whether all means of a decider are near those published, and how many are.

    ITER within .05; MAE within 15 % or two standard errors of the difference, the published one
    being a mean of 200 races as well.
    """
    printed, met, settings = published.table_2(), 0, 0
    for (setting, name), cell in cells.items():
        if name == decider:
            known = printed[setting.q, setting.rho, name][indicator]
            mean, error = cell.mean(indicator)
            error *= math.sqrt(1.0 + len(cell.frame) / PUBLISHED_RACES)
            room = 0.05 if indicator == "iter" else max(0.15 * known, 2.0 * error)
            met += abs(mean - known) <= room
            settings += 1
    return met == settings, f"{met} of {settings} rows"


@click.command()
@run_options(1000)
@report.racing_options
def main(settings: tuple[Setting, ...], design: Design, csv_path: Path | None) -> None:
    """Print Table 2 as published and as measured here."""
    report.announce("Table 2", settings, DECIDERS, design)
    cells = report.run(settings, DECIDERS, design)
    print(f"{summary(cells)}\n\n{table(cells)}")
    found = {
        "Bayesian ITER within 0.05 of the published": near(cells, "bayesian", "iter"),
        "Bayesian MAE within 15 % or two standard errors of the published": near(
            cells, "bayesian", "mae"
        ),
        "Bayesian MAE lowest in every row": lower(cells, settings, "mae", DECIDERS[1:]),
        "F-Race_S outperformed by the Bayesian race in MAE": lower(
            cells, settings, "mae", ["f-race-sign"]
        ),
        "F-Race_S outperformed by the Bayesian race in ITER": lower(
            cells, settings, "iter", ["f-race-sign"]
        ),
        report.TRULY_SO: report.truly_so(cells.values()),
    }
    print(f"\n{report.claims(found)}")
    write(csv_path, records(cells, design))
