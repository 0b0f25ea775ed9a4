"""Races over folds beside grid, random and halving searches and TPE, on nine real data sets.

Of each data set 300 rows at most are searched with, the others are held out. Three kinds of
classifiers with 24 candidates each; scores are accuracies. All candidates are fitted once on five
folds, repeated four times, and on ten folds; searches are replayed on these tables, but for
halving, which is run. Vs grid 20: how much better the held-out score is than that of the candidate
with the best mean of all 20 folds.
"""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import optuna
from scipy.stats import rankdata

from experiments.options import csv_option, run_options, words_option
from experiments.report import markdown, mean_and_error, plus_minus, with_progress, write
from experiments.sklearn_folds.data import DATA, ESTIMATORS
from experiments.sklearn_folds.record import Recorded, record
from experiments.sklearn_folds.searches import Found, OneSearch, searches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Cell = tuple[str, str, int]  # data set, classifier, seed

__all__ = ["main", "table"]

FOLDS = {"5 folds": 5, "10 folds": 10, "5 folds, 4 times": 20}
DEFAULT = ("5 folds, 4 times", "race, folds, 0.8")
SECONDS = 4.0  # to record a cell
HEAD = (
    *("folds", "search", "fits", "% of the grid's", "CPU s", "same winner, %"),
    *("held-out score vs own grid, %", "vs grid 20, %", "mean rank"),
)


def _scores(recorded: Recorded, n: int) -> NDArray[np.float64]:
    return recorded.ten if n == 10 else recorded.twenty[:n]


def _read(path: Path) -> dict[Cell, Recorded]:
    found: dict[Cell, Recorded] = {}
    with np.load(path) as file:
        for cell in {name.rpartition("|")[0] for name in file.files}:
            data, estimator, seed = cell.split("|")
            values = (file[f"{cell}|{name}"] for name in Recorded._fields)
            found[data, estimator, int(seed)] = Recorded(*values)
    return dict(sorted(found.items()))


def _write(path: Path, found: Mapping[Cell, Recorded]) -> None:
    arrays: dict[str, Any] = {
        f"{data}|{estimator}|{seed}|{name}": array
        for (data, estimator, seed), recorded in found.items()
        for name, array in recorded._asdict().items()
    }
    np.savez_compressed(path, **arrays)


def _rows(
    found: Mapping[tuple[str, str], list[Found]], tables: list[Recorded]
) -> list[dict[str, Any]]:
    """Return a row per search: means and standard errors over the cells."""
    held_out = np.array([table.held_out for table in tables])
    places = np.arange(len(tables))
    reference = held_out[places, [found["5 folds, 4 times", "grid"][i].best for i in places]]
    chosen = np.array([held_out[places, [each.best for each in told]] for told in found.values()])
    ranks = rankdata(-chosen, axis=0).mean(axis=1)
    rows = []
    for (folds, name), told, scores, rank in zip(found, found.values(), chosen, ranks, strict=True):
        whole = found[folds, "grid"]
        own = held_out[places, [each.best for each in whole]]
        rows.append(
            {
                "folds": folds,
                "search": name,
                "fits": np.mean([each.fits for each in told]),
                "share": np.mean(
                    [one.fits / all_.fits for one, all_ in zip(told, whole, strict=True)]
                ),
                "cpu_seconds": np.mean([each.seconds for each in told]),
                "same": np.mean(
                    [one.best == all_.best for one, all_ in zip(told, whole, strict=True)]
                ),
                **_pair("vs_own_grid", scores - own),
                **_pair("vs_grid_20", scores - reference),
                "mean_rank": rank,
                "cells": len(tables),
            }
        )
    return rows


def _pair(name: str, values: NDArray[np.float64]) -> dict[str, float]:
    mean, error = mean_and_error(values)
    return {name: mean, f"{name}_se": error}


def _line(row: Mapping[str, Any]) -> list[str]:
    cells = [
        row["folds"],
        row["search"],
        f"{row['fits']:.0f}",
        plus_minus(100 * row["share"], math.nan, 0),
        f"{row['cpu_seconds']:.2f}",
        plus_minus(100 * row["same"], math.nan, 0),
        plus_minus(100 * row["vs_own_grid"], 100 * row["vs_own_grid_se"]),
        plus_minus(100 * row["vs_grid_20"], 100 * row["vs_grid_20_se"]),
        f"{row['mean_rank']:.2f}",
    ]
    if row["search"] == "halving":  # no grid has its folds
        cells[0], cells[3], cells[5], cells[6] = "its own 5", "-", "-", "-"
    return [f"**{cell}**" for cell in cells] if cells[:2] == [*DEFAULT] else cells


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of searches in Markdown, the default in bold."""
    return markdown(HEAD, [_line(row) for row in rows])


def _calibration(found: Mapping[tuple[str, str], list[Found]], name: str) -> str:
    """Return how often what P(best) is said of is the best of the survivors on held-out rows."""
    lines = []
    for folds in FOLDS:
        told = [each for each in found[folds, name] if not np.isnan(each.chance)]
        several = [each for each in told if each.chance < 1.0]
        for low, high in ((0.0, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 1.0)):
            within = [each for each in several if low <= each.chance < high]
            if within:
                said = np.mean([each.chance for each in within])
                true = mean_and_error(np.array([each.is_best for each in within]))
                lines.append([folds, f"{low:g} to {high:g}", str(len(within)), f"{said:.2f}", plus_minus(*true)])  # fmt: skip
    return markdown(
        ("folds", "P(best)", "searches", "mean", "best of the survivors, held out"), lines
    )


@click.command()
@words_option("--data", DATA)
@words_option("--estimators", ESTIMATORS)
@run_options(10)
@csv_option
@click.option(
    "--tables",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep the recorded tables in this file (.npz), and use them if it is there.",
)
def main(
    data: tuple[str, ...],
    estimators: tuple[str, ...],
    repetitions: int,
    jobs: int,
    seed: int,
    csv_path: Path | None,
    tables: Path | None,
) -> None:
    """Print fits, CPU time and held-out scores of searches, and how good P(best) is."""
    import joblib  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    cells = [
        (*each, seed - 1 + i) for i in range(repetitions) for each in product(data, estimators)
    ]
    found = _read(tables) if tables is not None and tables.exists() else {}
    missing = [cell for cell in cells if cell not in found]
    if missing:
        seconds = [SECONDS] * len(missing)
        print(f"{len(missing)} tables to record.")
        pool: Any = joblib.Parallel(n_jobs=jobs, return_as="generator", batch_size=1)
        recorded = pool(joblib.delayed(record)(*cell) for cell in missing)
        for cell in with_progress(missing, seconds, jobs, str):
            found[cell] = next(recorded)
        if tables is not None:
            _write(tables, found)
    told: dict[tuple[str, str], list[Found]] = {}
    for cell in cells:
        given = OneSearch(found[cell], cell[1], cell[2])
        for folds, n in FOLDS.items():
            for name, search in searches(n).items():
                one = search(_scores(found[cell], n), given)
                told.setdefault((folds, name), []).append(one)
    rows = _rows(told, [found[cell] for cell in cells])
    print(
        f"{len(cells)} cells: {len(data)} data sets, {len(estimators)} classifiers, {repetitions} splits.\n"
    )
    print(table(rows), "\n")
    print(_calibration(told, "race, folds, 0.8"))
    write(csv_path, rows)
