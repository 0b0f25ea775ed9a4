"""The critical-difference diagram: mean ranks on a line, bars over those not told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import BLACK, BLUE, GREY, NORMAL, SMALL, axes, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

__all__ = ["critical_difference", "groups", "levels"]

_LINE, _BAR = 0.235, 0.13  # inches per label and per level of bars


def groups(ranks: NDArray[np.float64], alike: NDArray[np.bool_]) -> list[list[int]]:
    """Return groups of candidates all alike, best first, so that each pair alike is in one.

    First the longest runs of neighbours on the line; then, as being alike need not carry over
    from neighbour to neighbour, a group for each pair that is left, filled up.

    Parameters
    ----------
    ranks : ndarray, shape (m,)
    alike : ndarray of bool, shape (m, m)
        Symmetric.
    """
    order = np.argsort(ranks, kind="stable").tolist()
    found: list[list[int]] = []
    for start in range(len(order)):
        run = [order[start]]
        for one in order[start + 1 :]:
            if not alike[one, run].all():
                break
            run.append(one)
        if len(run) > 1 and not any(set(run) <= set(group) for group in found):
            found.append(run)
    for start, one in enumerate(order):
        for other in order[start + 1 :]:
            if alike[one, other] and not any({one, other} <= set(group) for group in found):
                group = [one, other]
                for c in order:
                    if c not in group and alike[c, group].all():
                        group.append(c)
                found.append(sorted(group, key=order.index))
    return [group for group in found if not any(set(group) < set(other) for other in found)]


def levels(spans: Sequence[tuple[float, float]], gap: float) -> list[int]:
    """Return for each span the first level on which it comes no nearer to others than `gap`."""
    ends: list[float] = []
    chosen = [0] * len(spans)
    for place in sorted(range(len(spans)), key=lambda k: spans[k]):
        low, high = spans[place]
        level = next((k for k, end in enumerate(ends) if low >= end + gap), len(ends))
        ends[level:] = [high, *ends[level + 1 :]]
        chosen[place] = level
    return chosen


def critical_difference(
    names: Sequence[str],
    mean_ranks: ArrayLike,
    alike: ArrayLike,
    *,
    distance: float | None = None,
    caption: str = "mean rank",
    ax: Axes | None = None,
) -> Axes:
    """Draw mean ranks on a line, with bars over candidates that are not told apart.

    A bar has a dot at each candidate that it covers, and says nothing of others that it passes.

    Parameters
    ----------
    names : sequence of str, length m
    mean_ranks : array_like, shape (m,)
        1 is best, and stands on the left.
    alike : array_like of bool, shape (m, m)
        Which pairs are not told apart.
    distance : float, optional
        Drawn above the line as the critical difference, CD.
    caption : str
        What the line shows.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ScoresError
        Lengths that do not agree.
    MissingExtraError
        Without matplotlib.

    References
    ----------
    Demsar: Statistical comparisons of classifiers over multiple data sets (JMLR 2006), Figure 1.

    Examples
    --------
    >>> ax = critical_difference(
    ...     ["a", "b", "c"], [1.2, 1.9, 2.9], [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> [text.get_text() for text in ax.texts if "2.90" in text.get_text()]
    ['2.90  c']
    """
    ranks, same = np.asarray(mean_ranks, dtype=np.float64), np.asarray(alike).astype(bool)
    m = len(names)
    if ranks.shape != (m,) or same.shape != (m, m):
        raise ScoresError(
            f"{m} names, mean_ranks {ranks.shape} and alike {same.shape}: sizes differ"
        )
    low, high = _ends(ranks)
    pad = (high - low) * 0.02
    found = groups(ranks, same)
    spans = [(float(ranks[g].min()) - pad / 2, float(ranks[g].max()) + pad / 2) for g in found]
    level = levels(spans, pad)
    under = 0.14 + _BAR * (max(level, default=-1) + 1)
    above = 0.62 if distance is not None else 0.36
    rows = -(-m // 2)
    height = above + under + _LINE * rows
    ax = axes(ax, 7.2, height + 0.1)
    ax.set_axis_off()
    ax.set(xlim=(low - pad, high + pad), ylim=(-under - _LINE * rows, above))

    ax.plot([low, high], [0, 0], color=BLACK, linewidth=1.2)
    ticks = np.arange(low, high + 0.25, 1.0 if high - low < 14 else 2.0)
    for tick in ticks:
        ax.plot([tick, tick], [0, 0.06], color=BLACK, linewidth=1.0)
        ax.text(tick, 0.09, f"{tick:g}", ha="center", va="bottom", fontsize=SMALL)
    ax.text(
        high + pad * 2, 0.09, plain(caption), ha="left", va="bottom", fontsize=SMALL, color=GREY
    )
    if distance is not None:
        _ruler(ax, low, distance, high)

    order = np.argsort(ranks, kind="stable").tolist()
    for place, one in enumerate(order):
        left = place < rows
        row = place if left else m - 1 - place
        y, side = -under - _LINE * (row + 0.4), low - pad * 2 if left else high + pad * 2
        ax.plot([ranks[one]] * 2 + [side], [0, y, y], color=GREY, linewidth=0.8, clip_on=False)
        label = f"{names[one]}  {ranks[one]:.2f}" if left else f"{ranks[one]:.2f}  {names[one]}"
        x = side - pad / 2 if left else side + pad / 2
        ax.text(x, y, plain(label), ha="right" if left else "left", va="center", fontsize=NORMAL)
    for group, (start, end), place in zip(found, spans, level, strict=True):
        y = -0.12 - _BAR * place
        ax.plot([start, end], [y, y], color=BLUE, linewidth=3.2, solid_capstyle="butt")
        ax.plot(ranks[group], [y] * len(group), "o", color=BLUE, markersize=5.5)
    return ax


def _ends(ranks: NDArray[np.float64]) -> tuple[float, float]:
    low, high = float(np.floor(ranks.min())), float(np.ceil(ranks.max()))
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def _ruler(ax: Axes, low: float, distance: float, high: float) -> None:
    """Draw the critical difference, cut off where it is longer than the line."""
    end = min(low + distance, high)
    y = 0.36
    ax.plot([low, end], [y, y], color=BLACK, linewidth=1.2)
    for x in (low, end):
        ax.plot([x, x], [y - 0.04, y + 0.04], color=BLACK, linewidth=1.2)
    longer = " (longer than the line)" if low + distance > high else ""
    ax.text(low, y + 0.06, f"CD = {distance:.2f}{longer}", ha="left", va="bottom", fontsize=SMALL)
