"""A picture of what a larger budget gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt

from experiments.report import shrink

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

__all__ = ["draw"]


def draw(found: pd.DataFrame, path: Path) -> None:
    """Draw mean regrets over the budget: `found` has a row for each, and a column a problem."""
    figure, axes = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
    for number, name in enumerate(found.columns):
        axes.plot(found.index, found[name], marker="osv^Dx*+P"[number % 9], label=name)
    axes.set(xscale="log", yscale="log", xlabel="evaluations", ylabel="mean regret")
    axes.set_xticks(found.index, [f"{n:,}".replace(",", " ") for n in found.index])
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(path, dpi=100)
    shrink(path)
    plt.close(figure)
