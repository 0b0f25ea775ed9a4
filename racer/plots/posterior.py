"""Draws of one quantity, as a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import BLACK, BLUE, NORMAL, ORANGE, SMALL, axes, clear, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


def posterior(
    draws: ArrayLike,
    *,
    reference: float = 0.5,
    caption: str = "",
    below: str = "",
    above: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a histogram of draws, in two colours below and above a reference.

    Parameters
    ----------
    draws : array_like, shape (n,)
    reference : float
    caption : str
        What the axis shows.
    below, above : str
        Written on either side.
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
    edges = start + step * np.arange(62)
    counts, _ = np.histogram(values, edges)
    colours = [ORANGE if edge + step / 2.0 < reference else BLUE for edge in edges[:-1]]
    ax.bar(edges[:-1], counts / len(values), width=step, align="edge", color=colours)
    ax.axvline(reference, color=BLACK, linewidth=0.9, linestyle=(0, (4, 3)))
    for x, text, side in ((0.01, below, "left"), (0.99, above, "right")):
        ax.text(x, 1.02, plain(text), transform=ax.transAxes, ha=side, va="bottom", fontsize=NORMAL)
    ax.set(xlabel=plain(caption), yticks=[])
    ax.tick_params(labelsize=SMALL)
    clear(ax, "bottom")
    return ax
