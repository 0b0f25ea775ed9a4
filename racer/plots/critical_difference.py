"""The critical-difference diagram: mean ranks on a line, bars over candidates not separated."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import BLACK, BLUE, GREY, NORMAL, SMALL, axes, plain, shortened_apart

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

_LINE, _BAR = 0.235, 0.13  # inches per label and per level of bars
_PAD = 0.02  # of the length of the line


def groups(ranks: NDArray[np.float64], alike: NDArray[np.bool_]) -> list[list[int]]:
    """Return groups of candidates all alike, by ranks (m,) and alike (m, m), covering each pair."""
    order: list[int] = np.argsort(ranks, kind="stable").tolist()
    found: list[list[int]] = []
    for start in range(len(order)):
        run = _run(order[start:], alike)
        if len(run) > 1 and not _covered(run, found):
            found.append(run)
    for pair in combinations(order, 2):
        if alike[pair] and not _covered(pair, found):
            found.append(_filled(pair, order, alike))
    return [group for group in found if not any(set(group) < set(other) for other in found)]


def _run(order: list[int], alike: NDArray[np.bool_]) -> list[int]:
    """Return the longest beginning of `order` in which all are alike."""
    run = order[:1]
    for one in order[1:]:
        if not alike[one, run].all():
            break
        run.append(one)
    return run


def _filled(pair: tuple[int, int], order: list[int], alike: NDArray[np.bool_]) -> list[int]:
    """Return a pair and, from the best on, each that is alike with all taken before it."""
    group = list(pair)
    for one in order:
        if one not in group and alike[one, group].all():
            group.append(one)
    return sorted(group, key=order.index)


def _covered(some: Iterable[int], found: list[list[int]]) -> bool:
    """Return whether one group holds all of some candidates."""
    return any(set(some) <= set(group) for group in found)


def levels(spans: Sequence[tuple[float, float]], gap: float) -> list[int]:
    """Return for each span the first level on which it comes no nearer to others than `gap`."""
    ends: list[float] = []
    chosen = [0] * len(spans)
    # from the left, the first free level each time: no other choice needs fewer levels
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
    """Draw mean ranks on a line, with bars over candidates that are not separated.

    A bar has a dot at each candidate that it covers; others that it passes are not meant.

    Parameters
    ----------
    names : sequence of str, length m
    mean_ranks : array_like, shape (m,)
        1 is best, and stands on the left.
    alike : array_like of bool, shape (m, m)
        Pairs that are not separated.
    distance : float, optional
        Drawn above the line as the critical difference, CD.
    caption : str
        Label of the line.
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        Lengths that do not agree.

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
    pad = (high - low) * _PAD
    found = groups(ranks, same)
    # beyond the dots on both sides, so that a bar of equal ranks is seen as one
    spans = [(float(ranks[g].min()) - pad, float(ranks[g].max()) + pad) for g in found]
    level = levels(spans, 2.0 * pad)
    under = 0.14 + _BAR * (max(level, default=-1) + 1)
    above = 0.62 if distance is not None else 0.36
    rows = -(-m // 2)
    height = above + under + _LINE * rows
    shown = shortened_apart(names)
    margin = 0.09 * max(map(len, shown), default=0)
    ax = axes(ax, max(7.2, 3.6 + 2 * margin), height + 0.1)
    ax.set_axis_off()
    ax.set(xlim=(low - pad, high + pad), ylim=(-under - _LINE * rows, above))

    _line(ax, low, high, caption)
    if distance is not None:
        _ruler(ax, low, distance, high)
    order = np.argsort(ranks, kind="stable").tolist()
    _labels(ax, [(shown[one], float(ranks[one])) for one in order], under, (low, high))
    for group, (start, end), place in zip(found, spans, level, strict=True):
        y = -0.12 - _BAR * place
        ax.plot([start, end], [y, y], color=BLUE, linewidth=3.2, solid_capstyle="butt")
        ax.plot(ranks[group], [y] * len(group), "o", color=BLUE, markersize=5.5)
    return ax


def _line(ax: Axes, low: float, high: float, caption: str) -> None:
    """Draw the line of mean ranks with its ticks and caption."""
    pad = (high - low) * _PAD
    ax.plot([low, high], [0, 0], color=BLACK, linewidth=1.2)
    for tick in np.arange(low, high + 0.25, 1.0 if high - low < 14 else 2.0):
        ax.plot([tick, tick], [0, 0.06], color=BLACK, linewidth=1.0)
        ax.text(tick, 0.09, f"{tick:g}", ha="center", va="bottom", fontsize=SMALL)
    ax.text(
        high + pad * 2, 0.09, plain(caption), ha="left", va="bottom", fontsize=SMALL, color=GREY
    )


def _labels(
    ax: Axes, best_first: list[tuple[str, float]], under: float, ends: tuple[float, float]
) -> None:
    """Write names and mean ranks below the line: the better half left, the others right."""
    rows = -(-len(best_first) // 2)
    pad = (ends[1] - ends[0]) * _PAD
    for place, (name, rank) in enumerate(best_first):
        if place < rows:
            row, side, x, align = place, ends[0] - pad * 2, -pad / 2, "right"
            label = f"{name}  {rank:.2f}"
        else:
            row, side, x, align = len(best_first) - 1 - place, ends[1] + pad * 2, pad / 2, "left"
            label = f"{rank:.2f}  {name}"
        y = -under - _LINE * (row + 0.4)
        ax.plot([rank] * 2 + [side], [0, y, y], color=GREY, linewidth=0.8, clip_on=False)
        ax.text(side + x, y, plain(label), ha=align, va="center", fontsize=NORMAL)


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
