"""Probabilities of winning over the budget."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from racer.errors import ScoresError
from racer.plots._canvas import COLOURS, MARKERS, SMALL, axes, clear, legend, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def evolution(frame: pd.DataFrame, *, caption: str = "budget", ax: Axes | None = None) -> Axes:
    """Draw the probability of winning over budgets, a line and a band per algorithm.

    The legend has the algorithms in the order of the largest budget. Bands are left out with more
    than eight, where they would hide each other.

    Parameters
    ----------
    frame : DataFrame
        From `racer.stats.plackett_luce_by_budget`: budget, algorithm, estimate, low, high.
    caption : str
        What the axis of budgets shows.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        A column is missing.

    References
    ----------
    Calvo et al.: Bayesian performance analysis for black-box optimization benchmarking (GECCO
    2019), Figure 5.

    Examples
    --------
    >>> from racer.stats import plackett_luce_by_budget
    >>> scores = {100: [[3, 2, 1]] * 5, 1000: [[1, 2, 3]] * 5}
    >>> ax = evolution(plackett_luce_by_budget(scores, names=["a", "b", "c"]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b', 'c']
    """
    needed = ["budget", "algorithm", "estimate", "low", "high"]
    if missing := [name for name in needed if name not in frame]:
        raise ScoresError(f"the frame has no column {missing[0]!r}: it must have {needed}")
    budgets = sorted(frame["budget"].unique())
    names = list(dict.fromkeys(frame["algorithm"]))
    ax = axes(ax, 7.0, max(4.0, 1.0 + 0.22 * len(names)))
    last = frame[frame["budget"] == budgets[-1]].set_index("algorithm")["estimate"]
    handles = {}
    for place, (name, marker) in enumerate(zip(names, cycle(MARKERS), strict=False)):
        mine = frame[frame["algorithm"] == name].sort_values("budget")
        colour = COLOURS[place % len(COLOURS)]
        style = ("-", (0, (5, 2)), (0, (1, 1.3)))[place // len(COLOURS) % 3]
        if len(names) <= 8:
            ax.fill_between(mine["budget"], mine["low"], mine["high"], color=colour, alpha=0.13)
        (handles[name],) = ax.plot(
            mine["budget"],
            mine["estimate"],
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=1.6,
            linestyle=style,
        )
    if budgets[0] > 0 and budgets[-1] >= 8 * budgets[0]:
        ax.set_xscale("log")
    ax.set_xticks(budgets, [f"{budget:g}" for budget in budgets])
    ax.set_xticks([], minor=True)
    ax.set(xlabel=plain(caption), ylabel="probability of winning")
    ax.set_ylim(bottom=0.0)
    ax.tick_params(labelsize=SMALL)
    ax.grid(alpha=0.3)
    clear(ax, "left", "bottom")
    order = sorted(names, key=lambda name: -float(last.get(name, 0.0)))
    legend(ax, [handles[name] for name in order], order, below=False)
    return ax
