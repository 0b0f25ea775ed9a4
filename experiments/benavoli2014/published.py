"""The figures printed in the paper, from the files in `data/`.

Benavoli, Mangili, Corani, Zaffalon, Ruggeri: A Bayesian Wilcoxon signed-rank test based on the
Dirichlet process (ICML 2014), Tables 1 to 3.
"""

from __future__ import annotations

from pathlib import Path

from experiments.report import read

__all__ = ["table"]

HERE = Path(__file__).parent / "data"


def table(number: int) -> dict[str, dict[int, float]]:
    """Return Table 1, 2 or 3: for each line the figure at each l1."""
    return {
        row["test"]: {int(k.removeprefix("l1=")): float(v) for k, v in row.items() if k != "test"}
        for row in read(HERE / f"table{number}.csv")
    }
