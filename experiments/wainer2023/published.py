"""The figures printed in the paper, from the files in `data/`.

Wainer: A Bayesian Bradley-Terry model to compare multiple ML algorithms on multiple data sets
(JMLR 2023), Tables 3, 4, 6 and 7.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.report import read
from racer.stats import WinTable

__all__ = ["NAMES", "counts", "missing_counts", "summary"]

HERE = Path(__file__).parent / "data"
NAMES = ("dt", "lda", "lgbm", "xgb", "svm")
MISSING = {("dt", "xgb"): (2, 17), ("lda", "xgb"): (6, 13), ("lgbm", "xgb"): (10, 9)}
MISSING |= {("xgb", "svm"): (10, 9)}  # Table 7a where it differs from 3b


def counts(name: str) -> WinTable:
    """Return Table 3a ("table3a_wins_ties") or 3b ("table3b_wins", ties spread)."""
    wins, ties = np.zeros((5, 5)), np.zeros((5, 5))
    for row in read(HERE / f"{name}.csv"):
        i, j = NAMES.index(row["alg1"]), NAMES.index(row["alg2"])
        wins[i, j], wins[j, i] = float(row["win1"]), float(row["win2"])
        ties[i, j] = ties[j, i] = float(row.get("ties", 0))
    return WinTable(wins, ties, NAMES)


def missing_counts() -> WinTable:
    """Return Table 7a: Table 3b without xgb on the first two data sets."""
    wins = counts("table3b_wins").wins.copy()
    for (first, second), (won, lost) in MISSING.items():
        i, j = NAMES.index(first), NAMES.index(second)
        wins[i, j], wins[j, i] = won, lost
    return WinTable(wins, names=NAMES)


def summary(name: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return Tables 4 and 6 ("table4_table6") or 7b ("table7_missing"), a line per pair."""
    return {
        (row.pop("better"), row.pop("worse")): {k: float(v) for k, v in row.items()}
        for row in read(HERE / f"{name}.csv")
    }
