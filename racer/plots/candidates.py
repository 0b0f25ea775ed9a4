"""Candidates side by side: boxes of values, bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer.plots._canvas import (
    BLACK,
    COLOURS,
    GREY,
    VERMILION,
    axes,
    beside,
    empty,
    name_rows,
    plain,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

_BOXED = 8  # values; of fewer a box would show more than there is
_LARGEST = 1e300  # size of a value: beside the largest float Matplotlib has no room for ticks


def boxes(
    samples: Sequence[ArrayLike], names: Sequence[str], caption: str, *, ax: Axes | None = None
) -> Axes:
    """Draw all values of each candidate, the first on top, with a box around eight or more.

    With fewer, a line marks the median; with more than 60, only the box and outliers are drawn.

    Parameters
    ----------
    samples : sequence of array_like
        The values of each candidate; infinities and NaN are left out. Beyond 1e300 none is drawn.
    names : sequence of str, of that length
    caption : str
        Label of the values.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> ax = boxes([[1, 2, 3], [2, 3, 4]], ["a", "b"], "cost")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b']
    """
    n = len(samples)
    ax = axes(ax, 7.2, 0.9 + max(0.26 * n, 0.6))
    from matplotlib.cbook import boxplot_stats  # noqa: PLC0415  (an extra)

    finite = [v[np.isfinite(v)] for v in (np.asarray(s, dtype=np.float64) for s in samples)]
    if any((np.abs(values) > _LARGEST).any() for values in finite):
        return empty(f"Some values are beyond {_LARGEST:g}, too large to be drawn.", ax=ax)
    for place, values in enumerate(finite):
        few, many, low, high = len(values) < _BOXED, len(values) > 60, place - 0.3, place + 0.3
        if not few:  # not by Axes.boxplot, which imports pyplot
            (box,) = boxplot_stats(values)
            q1, q3, ends = box["q1"], box["q3"], (box["whislo"], box["whishi"])
            ax.plot([q1, q3, q3, q1, q1], [low, low, high, high, low], color=BLACK, linewidth=0.9)
            ax.hlines([place] * 2, (ends[0], q3), (q1, ends[1]), color=GREY, linewidth=0.9)
            ax.vlines(ends, place - 0.15, place + 0.15, color=GREY, linewidth=1.0)
        if len(values):
            ax.vlines(np.median(values), low, high, color=VERMILION, linewidth=1.6)
            some = box["fliers"] if many else values
            up = 0.0 if many or len(some) == 1 else np.linspace(-0.2, 0.2, len(some))
            style: dict[str, Any] = {
                "color": GREY if many else COLOURS[0],
                "markersize": 6 if few else 3,
            }
            ax.plot(some, place + up * np.ones(len(some)), ".", alpha=0.7, **style)
    name_rows(ax, list(map(shortened, names)), caption)
    return ax


def bars(
    values: ArrayLike,
    names: Sequence[str],
    caption: str,
    *,
    notes: Sequence[str] = (),
    limits: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a bar per name, the first on top, with a note at the end of each.

    Parameters
    ----------
    values : array_like, shape (n,)
    names : sequence of str, length n
    caption : str
        Label of the values.
    notes : sequence of str, optional
        Of length n.
    limits : pair of float, optional
        Of the axis.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> ax = bars([0.7, 0.3], ["a", "b"], "P(best)", limits=(0, 1))
    >>> len(ax.patches)
    2
    """
    size = np.asarray(values, dtype=np.float64)
    n = len(size)
    ax = axes(ax, 6.4, 0.9 + max(0.22 * n, 0.5))
    places: Any = range(n)
    ax.barh(places, size, height=0.62, color=[COLOURS[0] if v >= 0 else COLOURS[3] for v in size])
    for place, note in enumerate(notes):
        beside(ax, plain(note), (max(size[place], 0.0), place), (4, 0), va="center")
    ax.axvline(0.0, color=BLACK, linewidth=0.8)
    name_rows(ax, list(map(shortened, names)), caption)
    if limits is not None:
        ax.set_xlim(limits)
    return ax
