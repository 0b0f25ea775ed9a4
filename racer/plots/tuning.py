"""A tuning: quality over evaluations, sampled values, the elites in parallel coordinates."""

from __future__ import annotations

from collections.abc import Sequence  # noqa: TC003  (of a NamedTuple)
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.plots._canvas import (
    ABOVE,
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    SMALL,
    VERMILION,
    axes,
    beside,
    canvas,
    clear,
    curves,
    entries,
    entry,
    plain,
    shortened,
    whole_ticks,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

_PANELS = 30  # parameters in one picture


class _Scale(NamedTuple):
    name: str
    places: Sequence[float]
    values: Sequence[str]


def quality(
    evaluations: ArrayLike,
    gap: ArrayLike,
    error: ArrayLike,
    others: tuple[ArrayLike, ArrayLike] = ((), ()),
    *,
    caption: str = "behind the best, on the runs that both have seen",
    ax: Axes | None = None,
) -> Axes:
    """Draw how far behind the best in the end each race's leader was.

    Parameters
    ----------
    evaluations, gap, error : array_like, shape (races,)
        Used so far; how far the leader was behind; the standard error of that, NaN unknown.
    others : pair of array_like
        Evaluations and gaps of all other candidates, in grey.
    caption : str
        Label of the gaps.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> ax = quality([100, 200], [1.0, 0.0], [0.2, 0.0])
    >>> ax.get_xlabel()
    'evaluations'
    """
    x, y, e = (np.asarray(v, dtype=np.float64) for v in (evaluations, gap, error))
    ax = axes(ax, 7.2, 3.8)
    at, height = (np.asarray(v, dtype=np.float64) for v in others)
    e = np.nan_to_num(e)
    top = float(np.nanmax(y + e, initial=0.0))
    if np.isfinite(height).any():
        top = max(top, float(np.nanpercentile(height[np.isfinite(height)], 75)))
    bottom = min(float(np.nanmin(y - e, initial=0.0)), 0.0)
    room = 0.06 * (top - bottom) or 1.0
    over = height > top + room
    grey, many = "#AAAAAA", len(at) > 500
    near = at[~over], height[~over]
    ax.plot(*near, ".", color=grey, markersize=4, label="a candidate", rasterized=many)
    if over.any():
        far = at[over], np.full(int(over.sum()), top + room)
        ax.plot(*far, "2", color=grey, markersize=6, label="farther behind")
    ax.errorbar(
        x,
        y,
        e,
        color=BLUE,
        marker="o",
        markersize=5,
        linewidth=1.8,
        elinewidth=1.0,
        capsize=2.5,
        label="the leader, ± standard error",
    )
    ax.axhline(0.0, color=VERMILION, linewidth=1.0, linestyle=(0, (4, 3)), label="the best")
    ax.set_ylim(bottom - room, top + 2 * room)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), columnspacing=1.0, **ABOVE)
    curves(ax, "evaluations", caption)
    ax.yaxis.label.set_fontsize(SMALL)
    return ax


def sampling(
    races: ArrayLike,
    places: ArrayLike,
    scales: Sequence[tuple[str, Sequence[float], Sequence[str]]],
    elites: Sequence[int] = (),
) -> Figure:
    """Draw the values sampled in each race, a panel per parameter.

    Parameters
    ----------
    races : array_like, shape (n,)
        The race that each candidate entered first.
    places : array_like, shape (n, d)
        Positions of its parameters in their ranges, 0 to 1, NaN where one does not exist.
    scales : sequence of (str, sequence of float, sequence of str), length d
        The name of each parameter, and some of its values with their places; of more than 30
        parameters the first are drawn.
    elites : sequence of int
        Which candidates are marked, the best first. Of more than 400 others some are drawn.

    Examples
    --------
    >>> figure = sampling([0, 1], [[0.2], [0.4]], [("x", (0, 1), ("0", "1"))])
    >>> [ax.get_title() for ax in figure.axes]
    ['x']
    """
    x, y = np.asarray(races, dtype=np.float64), np.asarray(places, dtype=np.float64)
    y = y.reshape(len(x), len(scales))
    shown = [_Scale(*scale) for scale in scales[:_PANELS]]
    columns = min(len(shown), 4)
    rows = -(-len(shown) // columns)
    figure = canvas(max(2.5 * columns, 3.6), 1.9 * rows + 0.5)
    rng = np.random.default_rng(0)
    jitter = x + rng.uniform(-0.3, 0.3, len(x))
    some = slice(None, None, -(-len(x) // 400) or 1)
    best, others = list(elites[:1]), list(elites[1:])
    marked = (others, BLUE, "o", 4.0), (best, VERMILION, "D", 5.5)
    for place, scale in enumerate(shown):
        ax = figure.add_subplot(rows, columns, place + 1)
        up = y[:, place] + rng.uniform(-0.02, 0.02, len(x)) * (len(scale.values) < 8)
        ax.plot(jitter[some], up[some], ".", color=GREY, markersize=2.5, alpha=0.5, rasterized=True)
        for chosen, colour, marker, size in marked:
            ax.plot(x[chosen], y[chosen, place], marker, color=colour, markersize=size)
        ax.set_title(plain(shortened(scale.name, 26)), fontsize=SMALL)
        ax.set_yticks(scale.places, [plain(shortened(v, 10)) for v in scale.values])
        ax.set_ylim(-0.06, 1.06)
        ax.set_xlim(float(x.min(initial=0.0)) - 0.5, float(x.max(initial=0.0)) + 0.5)
        whole_ticks(ax)
        ax.tick_params(labelsize=SMALL - 1.5)
        clear(ax, "left", "bottom")
    every = f", grey: 1 of {some.step} others" if some.step > 1 else ""
    more = f"; the first {_PANELS} of {len(scales)} parameters" if len(scales) > _PANELS else ""
    figure.supxlabel(
        f"race (orange diamond: the best, blue: other elites{every}{more})", fontsize=SMALL
    )
    return figure


def parallel(
    places: ArrayLike,
    scales: Sequence[tuple[str, Sequence[float], Sequence[str]]],
    names: Sequence[str],
    background: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw configurations as lines through their parameters' places.

    Parameters
    ----------
    places : array_like, shape (k, d)
        Positions from 0 to 1, the best first; NaN where a parameter does not exist.
    scales : sequence of (str, sequence of float, sequence of str), length d
        As of `sampling`.
    names : sequence of str, length k
    background : array_like, shape (n, d), optional
        Others, in grey.
    ax : matplotlib Axes, optional

    Examples
    --------
    >>> scales = [("x", (0, 1), ("0", "1")), ("y", (0, 1), ("a", "b"))]
    >>> ax = parallel([[0.2, 0.7]], scales, ["#3"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['#3']
    """
    shown = [_Scale(*scale) for scale in scales[:_PANELS]]
    n, d = len(scales), len(shown)
    lines = np.asarray(places, dtype=np.float64).reshape(len(names), n)[:, :d]
    ax = axes(ax, min(max(5.0, 1.6 + 0.75 * d), 6.0 + 0.16 * d), 4.2)
    x = np.arange(d)
    if background is not None:
        behind: NDArray[np.float64] = np.asarray(background, dtype=np.float64).reshape(-1, n)[:, :d]
        style = "." if d == 1 else "-"
        ax.plot(
            x,
            behind.T,
            style,
            color="#CCCCCC",
            linewidth=0.5,
            # so many points take less room as an image
            rasterized=behind.size > 5000,
            zorder=1,
        )
    drawn = []
    for place in reversed(range(len(lines))):
        drawn += ax.plot(
            x,
            lines[place],
            color=COLOURS[(3, 0, 1, 2, 4, 5, 6, 7)[place % 8]],
            marker=MARKERS[place % len(MARKERS)],
            markersize=5,
            linewidth=2.4 if place == 0 else 1.1,
            label=entry(shortened(names[place])),
            zorder=3,
        )
    for at, scale in enumerate(shown):
        ax.axvline(at, color="#999999", linewidth=0.7, zorder=0)
        if d <= 14:
            for height, value in zip(scale.places, scale.values, strict=True):
                words = plain(shortened(value, 12))
                beside(ax, words, (at, height), (3, 2), SMALL - 2, color="#555555", zorder=2)
    turn = d > 6 or max((len(s.name) for s in shown), default=0) > 12
    ax.set_xticks(
        x,
        [plain(shortened(scale.name, 26)) for scale in shown],
        rotation=60 if turn else 0,
        ha="right" if turn else "center",
        rotation_mode="anchor" if turn else "default",
        fontsize=SMALL,
    )
    if n > d:
        ax.set_xlabel(f"the first {d} of {n} parameters", fontsize=SMALL)
    ax.set(ylim=(-0.05, 1.08), yticks=[])
    clear(ax)
    if drawn:
        ax.legend(
            **entries(drawn[::-1]),
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0.0,
            fontsize=SMALL,
            frameon=False,
            title="best first",
            title_fontsize=SMALL,
        )
    return ax
