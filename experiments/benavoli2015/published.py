"""The figures printed in the paper, from the files in `data/`.

Benavoli, Mangili, Corani, Zaffalon: A Bayesian nonparametric procedure for comparing algorithms
(ICML 2015), Tables 1 to 3. The wins and losses in Table 1 are those its p-values imply; the paper
does not print them.
"""

from __future__ import annotations

from pathlib import Path

from experiments.report import read

__all__ = ["table_1", "table_2", "table_3"]

HERE = Path(__file__).parent / "data"


def table_1() -> dict[str, dict[str, float]]:
    """Return, for each statement, its p-value, 1 - marginal and 1 - joint posterior."""
    columns = ("p_sign_test", "one_minus_posterior", "one_minus_joint_posterior")
    return {
        row["statement"]: {column: float(row[column]) for column in columns}
        for row in read(HERE / "table1.csv")
    }


def table_2() -> dict[tuple[int, float, str], dict[str, float]]:
    """Return ITER and MAE for each q, rho and decider."""
    return {
        (int(row["q"]), float(row["rho"]), row["decider"]): {
            "iter": float(row["iter"]),
            "mae": float(row["mae"]),
        }
        for row in read(HERE / "table2.csv")
    }


def table_3() -> dict[tuple[int, float], float]:
    """Return the number declared indistinguishable for each q and rho."""
    return {
        (int(row["q"]), float(row["rho"])): float(row["indistinguishable"])
        for row in read(HERE / "table3.csv")
    }
