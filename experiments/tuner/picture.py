"""A picture of what a larger budget gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

from experiments.tuner.tables import OWN, regrets

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

__all__ = ["draw"]


def draw(rows: pd.DataFrame, path: Path) -> None:
    """Draw the mean regret of racer.tune over the budget, a line for each problem."""
    found = regrets(rows).pivot_table(index="budget", columns="problem", values=OWN)
    figure, axes = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
    for number, name in enumerate(found.columns):
        axes.plot(found.index, found[name], marker="osv^Dx*+P"[number % 9], label=name)
    axes.set(xscale="log", yscale="log", xlabel="evaluations", ylabel="mean regret")
    axes.set_xticks(found.index, [f"{n:,}".replace(",", " ") for n in found.index])
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(path, dpi=100)
    plt.close(figure)
