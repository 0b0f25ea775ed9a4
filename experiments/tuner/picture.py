"""Pictures of regret over the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["curves", "draw"]

COLUMNS = 4


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


def curves(found: pd.DataFrame) -> Figure:
    """Draw mean regrets, by (problem, budget), of each contender: axes for each problem."""
    names = list(dict.fromkeys(found.index.get_level_values("problem")))
    rows = -(-len(names) // COLUMNS)
    figure = Figure(figsize=(11.0, 2.8 * rows), layout="constrained")
    lines = {}
    for place, name in enumerate(names, 1):
        axes, part = figure.add_subplot(rows, COLUMNS, place), found.loc[name]
        for number, contender in enumerate(found.columns):
            line, style = part[contender].dropna(), "osv^Dx*+P"[number % 9]
            drawn = axes.plot(line.index, line, marker=style, color=f"C{number}", label=contender)
            lines[contender] = drawn[0]
        axes.set(xscale="log", yscale="log", title=name)
        axes.set_xticks(part.index, [f"{n}" for n in part.index])
        axes.minorticks_off()
    figure.supxlabel("evaluations")
    figure.supylabel("mean regret")
    figure.legend(lines.values(), lines.keys(), loc="outside right center", frameon=False)
    return figure
