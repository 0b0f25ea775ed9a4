"""A picture of what a larger budget gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["draw"]


def draw(found: pd.DataFrame) -> Figure:
    """Draw mean regrets over the budget: `found` has a row for each, and a column a problem."""
    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for number, name in enumerate(found.columns):
        axes.plot(found.index, found[name], marker="osv^Dx*+P"[number % 9], label=name)
    axes.set(xscale="log", yscale="log", xlabel="evaluations", ylabel="mean regret")
    axes.set_xticks(found.index, [f"{n:,}".replace(",", " ") for n in found.index])
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    return figure
