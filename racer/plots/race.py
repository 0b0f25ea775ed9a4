"""A race: candidates x blocks, with eliminations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import (
    ABOVE,
    COLOURS,
    MARKERS,
    SMALL,
    VERMILION,
    axes,
    beside,
    entries,
    entry,
    plain,
    rows,
    shortened,
    whole_ticks,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray


def mean_so_far(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean rank of each candidate up to each block: inf counts as last, NaN is absent.

    A block on which all failed ranks none of them.
    """
    here, failed = ~np.isnan(ranks), np.isposinf(ranks)
    ranked = here & ~(here == failed).all(axis=1, keepdims=True)
    total = np.where(ranked, np.where(failed, 1.0, ranks), 0.0).cumsum(axis=0)
    n = ranked.cumsum(axis=0)
    return np.where(here & (n > 0), total / np.maximum(n, 1), np.nan)


class _Gone(NamedTuple):
    candidate: int
    block: int
    reason: str
    words: str


def race(
    ranks: ArrayLike,
    order: Sequence[int],
    names: Sequence[str],
    gone: Sequence[tuple[int, int, str, str]] = (),
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the mean rank so far, a row per candidate, and when and why each was eliminated.

    Parameters
    ----------
    ranks : array_like, shape (blocks, m)
        Which part of the others in the block was better: 0 first, 1 last; NaN not evaluated, inf
        failed: last, or not ranked where all failed.
    order : sequence of int, length m
        The candidates from the top.
    names : sequence of str, length m
    gone : sequence of (int, int, str, str)
        Eliminations: candidate (a column), block after which it left (a row), reason, and all
        that in words; of more than 45 candidates, only the legend has the reasons.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        Lengths that do not agree.

    Examples
    --------
    >>> ax = race([[0, 1], [0, 1]], [0, 1], ["a", "b"], [(1, 1, "inferior", "inferior to a")])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b']
    """
    table = np.asarray(ranks, dtype=np.float64)
    m = len(names)
    if table.ndim != 2 or table.shape[1] != m or sorted(order) != list(range(m)):
        raise ScoresError(f"ranks {table.shape}, {m} names, order {len(order)}: sizes differ")
    few = m <= 45
    row = min(0.2, 9.0 / m)
    ax = axes(ax, 7.6 if few else 6.6, 1.3 + max(row * m, 0.6))
    shown = table[:, list(order)].T
    so_far = mean_so_far(table)[:, list(order)].T
    n = max(len(table), 1)
    picture = ax.pcolormesh(
        np.arange(n + 1) + 0.5,  # runs count from one
        np.arange(m + 1) - 0.5,
        np.ma.masked_invalid(so_far if len(table) else np.full((m, 1), np.nan)),
        cmap="viridis",
        vmin=0.0,
        vmax=1.0,
        rasterized=True,
    )
    y, x = np.nonzero(np.isposinf(shown))
    marks = []
    if len(x):
        many = len(x) > 500
        marks = ax.plot(
            x + 1, y, "x", color=VERMILION, markersize=4, label="failed", rasterized=many
        )
    at = {candidate: place for place, candidate in enumerate(order)}
    left = [_Gone(*one) for one in gone]
    if marks := [*marks, *_mark_gone(ax, left, at, few=few)]:
        place = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "handletextpad": 0.2}
        ax.legend(**entries(marks), **place, **ABOVE)
    step = 1 if few else -(-m // 25)
    stay = m - len({one.candidate for one in left})
    named = [place for place in range(m) if place % step == 0 or (few and place < stay)]
    labels = [shortened(names[order[place]]) for place in named]
    rows(ax, named, labels, SMALL - (few and m > 30))
    ax.set(xlabel="run", ylim=(m - 0.5, -0.5))
    whole_ticks(ax)
    if len(table):
        bar = ax.figure.colorbar(
            picture, ax=ax, location="top", shrink=0.4, aspect=30, anchor=(0.0, 0.0), pad=0.01
        )
        bar.set_ticks([0.0, 1.0], labels=["mean rank so far: best", "worst"], fontsize=SMALL)
        bar.ax.get_xticklabels()[0].set_horizontalalignment("left")
        bar.ax.get_xticklabels()[1].set_horizontalalignment("right")
        bar.outline.set_visible(False)
    return ax


def _mark_gone(ax: Axes, gone: Sequence[_Gone], at: dict[int, int], *, few: bool) -> list[Line2D]:
    """Mark where each left, by its reason; with words beside it if there are few."""
    marks = []
    reasons = list(dict.fromkeys(one.reason for one in gone))
    for place, reason in enumerate(reasons):
        some = [one for one in gone if one.reason == reason]
        marks += ax.plot(
            [one.block + 1.5 for one in some],
            [at[one.candidate] for one in some],
            linestyle="",
            marker=MARKERS[place % len(MARKERS)],
            markersize=4.5 if few else 3.0,
            color=COLOURS[(3, 0, 2, 4, 1)[place % 5]],
            label=entry(reason),
            clip_on=False,
        )
    if few:
        for one in gone:
            words, spot = plain(shortened(one.words, 60)), (one.block + 1.5, at[one.candidate])
            beside(ax, words, spot, (6, 0), SMALL - 1.5, va="center", annotation_clip=False)
        if gone:
            last = max(one.block for one in gone)
            ax.set_xlim(right=max(ax.get_xlim()[1], last + 2.2))
    return marks
