"""The frontier as a picture: a panel per world, a line per decider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.frontier.runs import HALVING
from experiments.pictures import shrink

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from experiments.frontier.runs import Point

__all__ = ["draw"]

# Okabe and Ito's palette, told apart by colour-blind readers too; a second marker from the ninth on
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#B0A000", "#777777")
MARKERS = "o^"


def draw(found: Sequence[Point], path: Path) -> None:
    """Write a picture of regret against observations, both on log scales: the most candidates.

    Raises
    ------
    ImportError
        Without matplotlib.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415  (an extra)

    most = max(point.candidates for point in found)
    found = [point for point in found if point.candidates == most]
    worlds = list(dict.fromkeys(point.world for point in found))
    names = [name for name in dict.fromkeys(p.decider for p in found) if name != HALVING]
    budgets = list(dict.fromkeys(point.budget for point in found))
    columns = min(3, len(worlds))
    lines = -(-len(worlds) // columns)
    figure = Figure(figsize=(4.6 * columns, 3.6 * lines + 1.2), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for panel in panels[len(worlds) :]:
        panel.remove()
    for panel, world in zip(panels, worlds, strict=False):
        for place, name in enumerate([*names, HALVING]):
            mine = [p for p in found if (p.world, p.decider) == (world, name)]
            if name == HALVING:
                _line(panel, mine, "black", "s", 2.5)
            else:
                _line(panel, mine, COLOURS[place % 8], MARKERS[place // 8], 1.2)
        panel.set(title=world, xlabel="observations", ylabel="regret", xscale="log", yscale="log")
        panel.grid(alpha=0.3, which="both")
        panel.set_xticks(budgets, map(str, budgets))
        panel.set_xticks([], minor=True)
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter("{x:g}")
        panel.tick_params(labelsize=8, which="both")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9)
    figure.savefig(path, dpi=130)
    shrink(path)


def _line(panel: Axes, mine: Sequence[Point], colour: str, marker: str, width: float) -> None:
    panel.errorbar(
        [point.observations for point in mine],
        [max(point.regret, 1e-4) for point in mine],
        yerr=[point.regret_se for point in mine],
        label=mine[0].decider,
        color=colour,
        marker=marker,
        markersize=5,
        linewidth=width,
        elinewidth=0.8,
    )
