"""Posteriors: draws of one quantity, of three, predictive checks, probabilities over budgets."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import (
    BLACK,
    BLUE,
    COLOURS,
    DASHED,
    GREEN,
    MARKERS,
    NORMAL,
    ORANGE,
    SMALL,
    axes,
    check_columns,
    clear,
    curves,
    legend,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def posterior(
    draws: ArrayLike,
    *,
    reference: float = 0.5,
    caption: str = "",
    below: str = "",
    above: str = "",
    bounds: ArrayLike = (),
    ax: Axes | None = None,
) -> Axes:
    """Draw a histogram of draws, in two colours below and above a reference.

    Parameters
    ----------
    draws : array_like, shape (n,)
    reference : float
    caption : str
        Label of the axis.
    below, above : str
        Written on either side.
    bounds : array_like, shape (k, n), optional
        Other draws of the same quantity, such as under extreme priors: outlined.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        No draws, or more than one dimension.

    Examples
    --------
    >>> ax = posterior([0.4, 0.6, 0.7], below="y better", above="x better")
    >>> [text.get_text() for text in ax.texts]
    ['y better', 'x better']
    """
    values = np.asarray(draws, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ScoresError(f"draws of shape {values.shape}: give one list of numbers")
    ax = axes(ax, 5.6, 3.2)
    low, high = min(float(values.min()), reference), max(float(values.max()), reference)
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = (high - low) / 60.0
    start = reference - np.ceil((reference - low) / step) * step  # an edge falls on the reference
    edges = np.unique(np.clip(start + step * np.arange(62), low, high))  # none beyond the draws
    counts, _ = np.histogram(values, edges)
    widths = np.diff(edges)
    colours = [ORANGE if middle < reference else BLUE for middle in edges[:-1] + widths / 2.0]
    ax.bar(edges[:-1], counts / len(values), width=widths, align="edge", color=colours)
    for bound in np.asarray(bounds, dtype=np.float64):
        edges = np.arange(bound.min(), bound.max() + 2.0 * step, step)
        ax.stairs(np.histogram(bound, edges)[0] / len(bound), edges, color=BLACK)
    ax.axvline(reference, **DASHED)
    for x, text, side in ((0.01, below, "left"), (0.99, above, "right")):
        ax.text(x, 1.02, plain(text), transform=ax.transAxes, ha=side, va="bottom", fontsize=NORMAL)
    ax.set(xlabel=plain(caption), yticks=[])
    ax.tick_params(labelsize=SMALL)
    clear(ax, "bottom")
    return ax


_TOP = np.sqrt(0.75)


def simplex(
    shares: ArrayLike, labels: Sequence[str], *, band: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a posterior of three proportions as a cloud in a triangle.

    Parameters
    ----------
    shares : array_like, shape (draws, 3)
        Of the corners left, top, right; each row sums to 1. At most 4000 are drawn.
    labels : sequence of three str
        At the corners.
    band : float, optional
        Regions are separated by right less left, plus one, over two: below 1/2 - band, between,
        above 1/2 + band. By default: where each proportion is the largest.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        Another shape.

    References
    ----------
    Benavoli, Corani, Demsar, Zaffalon: Time for a change (JMLR 2017), section 4.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(1).dirichlet([2, 3, 10], size=500)
    >>> ax = simplex(draws, ["worse", "equivalent", "better"])
    >>> [text.get_text() for text in ax.texts]
    ['worse', 'equivalent', 'better']
    """
    points = np.asarray(shares, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 3 or len(labels) != 3:
        raise ScoresError(f"shares of shape {points.shape}: give (draws, 3), and three labels")
    points = points[:4000]
    ax = axes(ax, 5.2, 4.7)
    ax.set_axis_off()
    ax.set(xlim=(-0.05, 1.05), ylim=(-0.16, _TOP + 0.14), aspect="equal")
    x, y = points[:, 2] + points[:, 1] / 2.0, points[:, 1] * _TOP
    region = (
        np.argmax(points, axis=1) if band is None else 1 + (x >= 0.5 + band) - (x <= 0.5 - band)
    )
    for place, colour in enumerate((ORANGE, GREEN, BLUE)):
        mine = region == place
        ax.plot(x[mine], y[mine], ".", color=colour, markersize=2.5, alpha=0.35, rasterized=True)
    ax.plot([0, 0.5, 1, 0], [0, _TOP, 0, 0], color=BLACK, linewidth=1.2)
    for line in _borders(band):
        ax.plot(*line, **DASHED)
    places = ((0.0, -0.03, "left", "top"), (0.5, _TOP + 0.02, "center", "bottom"))
    for label, (px, py, ha, va) in zip(
        labels, (*places, (1.0, -0.03, "right", "top")), strict=True
    ):
        ax.text(px, py, plain(label), ha=ha, va=va, fontsize=NORMAL)
    return ax


def _borders(band: float | None) -> list[tuple[list[float], list[float]]]:
    """Return the lines between the regions."""
    if band is None:
        centre = _TOP / 3.0
        ends = ((0.5, 0.0), (0.25, _TOP / 2.0), (0.75, _TOP / 2.0))
        return [([0.5, x], [centre, y]) for x, y in ends]
    return [([x, x], [0.0, 2.0 * min(x, 1.0 - x) * _TOP]) for x in (0.5 - band, 0.5 + band)]


def predictive_check(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the fraction of counts within predictive intervals against their level.

    A model that fits stays on or above the diagonal, except by chance; above it because counts
    are whole numbers, and because the model was fitted to them.

    Parameters
    ----------
    frame : DataFrame
        From `BradleyTerryResult.predictive_check`: level, wins and, with Davidson's model, ties.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        A column is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> ax = predictive_check(pd.DataFrame({"level": [0.5, 0.9], "wins": [0.8, 1.0]}))
    >>> ax.get_xlabel()
    'level of the interval'
    """
    columns = [name for name in ("wins", "ties") if name in frame]
    if "level" not in frame or not columns:
        raise ScoresError("the frame must have the columns 'level' and 'wins'")
    ax = axes(ax, 4.2, 4.2)
    ax.plot([0, 1], [0, 1], label="as nominal", **DASHED)
    for name, colour, marker in zip(columns, (BLUE, ORANGE), ("o", "s"), strict=False):
        ax.plot(
            frame["level"],
            frame[name],
            color=colour,
            marker=marker,
            markersize=6,
            linewidth=1.6,
            label=name,
            clip_on=False,
        )
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    curves(ax, "level of the interval", "share of pairs within it")
    ax.legend(loc="lower right", fontsize=SMALL)
    return ax


def evolution(frame: pd.DataFrame, *, caption: str = "budget", ax: Axes | None = None) -> Axes:
    """Draw the probability of winning over budgets, a line and a band per algorithm.

    The legend has the algorithms in the order of the largest budget. Bands are left out with more
    than eight, where they would hide each other.

    Parameters
    ----------
    frame : DataFrame
        From `racer.stats.plackett_luce_by_budget`: budget, algorithm, estimate, low, high.
    caption : str
        Label of the axis of budgets.
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
    check_columns(frame, "budget", "algorithm", "estimate", "low", "high")
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
    ax.set_ylim(bottom=0.0)
    curves(ax, caption, "probability of winning")
    order = sorted(names, key=lambda name: -float(last.get(name, 0.0)))
    legend(ax, [handles[name] for name in order], order, below=False)
    return ax
