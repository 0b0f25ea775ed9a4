"""The runs that the analyses are of: what each optimiser reached, and when.

Five functions in five dimensions, eleven instances of each (a shift and a rotation), as many as
the paper has. An instance stands for a run: all optimisers meet the same ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from experiments.calvo2019.optimisers import OPTIMISERS, best_so_far
from racer.cli.demo.problems import FUNCTIONS, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["BUDGETS", "NAMES", "RUNS", "TARGETS", "fixed_budget", "fixed_target", "play"]

RUNS = Path(__file__).parent / "runs.csv"
NAMES = tuple(OPTIMISERS)
DIMENSION, INSTANCES = 5, 11
BUDGETS = (50, 100, 200, 500, 1000, 2000, 5000)
TARGETS = (1.0, 0.01)


def _row(name: str, problem: Problem, evaluations: int, seed: int) -> dict[str, Any]:
    best = best_so_far(name, problem, evaluations, seed)
    row: dict[str, Any] = {
        "function": problem.function,
        "instance": problem.variant,
        "optimiser": name,
    }
    for budget in BUDGETS:
        row[f"best_{budget}"] = float(best[min(budget, evaluations) - 1])
    for target in TARGETS:
        reached = np.flatnonzero(best <= target)
        row[f"hit_{target:g}"] = int(reached[0]) + 1 if len(reached) else ""
    return row | {"seed": seed}


def play(
    functions: Sequence[str], instances: int, evaluations: int, seed: int, jobs: int
) -> list[dict[str, Any]]:
    """Return a row per function, instance and optimiser.

    best_B is the least value within B evaluations, hit_T how many evaluations it took to reach
    T, empty where that was never reached.
    """
    one = joblib.delayed(_row)
    rows: list[dict[str, Any]] = joblib.Parallel(n_jobs=jobs)(
        one(name, Problem(function, DIMENSION, instance), evaluations, seed)
        for function in functions
        for instance in range(instances)
        for name in NAMES
    )
    return rows


def _table(rows: Sequence[dict[str, Any]], function: str, column: str) -> NDArray[np.float64]:
    """Return one column for a function, instances x optimisers; an empty cell is infinite."""
    found = [row for row in rows if row["function"] == function]
    instances = sorted({int(row["instance"]) for row in found})
    table = np.full((len(instances), len(NAMES)), np.nan)
    for row in found:
        place = instances.index(int(row["instance"])), NAMES.index(row["optimiser"])
        table[place] = float(row[column] if row[column] != "" else np.inf)
    return table


def fixed_budget(
    rows: Sequence[dict[str, Any]], functions: Sequence[str] = tuple(FUNCTIONS)
) -> dict[float, NDArray[np.float64]]:
    """Return for each budget the values reached, (instances of all functions, optimisers)."""
    return {
        budget: np.concatenate([_table(rows, f, f"best_{budget}") for f in functions])
        for budget in BUDGETS
    }


def fixed_target(
    rows: Sequence[dict[str, Any]], function: str, target: float
) -> NDArray[np.float64]:
    """Return the evaluations until the target, (instances, optimisers); inf: never reached."""
    return _table(rows, function, f"hit_{target:g}")
