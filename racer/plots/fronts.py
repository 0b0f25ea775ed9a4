"""Several metrics: the plane of two with the front as a staircase, parallel coordinates of more."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.errors import ScoresError
from racer.plots._canvas import BLUE, GREY, SMALL, VERMILION, axes, beside, curves, plain, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

_ALIKE = 0.02  # of a metric's range: candidates that share a label
_NAMED = 4  # names in a label
_LETTER = np.array([5.5, 10.0])  # points: width and height of a letter
_WIDER = 2.4477 / 1.96  # an ellipse that holds 95 % of a plane, in units of an interval of 95 %


def front(
    means: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    probability: ArrayLike,
    alive: ArrayLike,
    names: Sequence[str],
    goal: Mapping[str, str],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw candidates by two metrics, or by more of them in parallel coordinates.

    Parameters
    ----------
    means, low, high : array_like, shape (m, d)
        Expected value of each metric, and the interval that holds it with probability .95.
    probability : array_like, shape (m,)
        Of being on the front; from .5 on a candidate is drawn as a part of it.
    alive : array_like of bool, shape (m,)
        Survivors; the others are faint.
    names : sequence of str, length m
    goal : mapping of d metrics to {"min", "max"}
    ax : matplotlib Axes, optional

    Raises
    ------
    ScoresError
        Fewer than two metrics, or another number of them in the goal.

    Examples
    --------
    >>> points = [[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]]
    >>> goal = {"x": "min", "y": "min"}
    >>> ax = front(points, points, points, [1, 1, 0], [True, True, False], "abc", goal)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x, smaller is better', 'y, smaller is better')
    """
    table, below, above = (np.asarray(v, dtype=np.float64) for v in (means, low, high))
    table = table + 0.0  # no -0
    chance, left = np.asarray(probability, dtype=np.float64), np.asarray(alive, dtype=np.bool_)
    if table.ndim != 2 or not 2 <= table.shape[1] == len(goal):
        raise ScoresError(f"means has shape {table.shape}: give candidates x two metrics or more")
    known = np.asarray(np.isfinite(table).all(axis=1), dtype=np.bool_)
    if table.shape[1] > 2:
        return _parallel(table, chance, left, known, names, goal, ax)
    ax = axes(ax, 6.4, 4.6)
    _ellipses(ax, table, _WIDER * (above - below), left & known)
    for chosen, style in (
        (known & ~left, {"color": GREY, "alpha": 0.45, "markersize": 4, "label": "eliminated"}),
        (known & left & (chance < 0.5), {"color": GREY, "markersize": 6, "label": "left"}),
        (known & (chance >= 0.5), {"color": BLUE, "markersize": 7, "label": "P(front) ≥ 0.5"}),
    ):
        if chosen.any():
            ax.plot(*table[chosen].T, "o", linestyle="none", **_styled(style))
    on_front = np.flatnonzero(known & (chance >= 0.5))
    if len(on_front):
        _staircase(ax, table[on_front], np.where(_grows(goal), -1.0, 1.0))
    labelled = np.flatnonzero(known & (left | (chance >= 0.5)))
    best_first = labelled[np.argsort(-chance[labelled], kind="stable")]
    groups = _together(_scaled(table, known), best_first.tolist())[:20]
    sizes = {"min": "smaller", "max": "larger"}
    curves(ax, *(f"{metric}, {sizes[end]} is better" for metric, end in goal.items()))
    ax.legend(loc="best", fontsize=SMALL, frameon=False)
    _name(ax, [([names[i] for i in some], table[some[0]]) for some in groups])
    return ax


def _grows(goal: Mapping[str, str]) -> NDArray[np.bool_]:
    """Return which metrics (d,) are better the larger they are."""
    return np.array([end == "max" for end in goal.values()])


def _name(ax: Axes, labelled: Sequence[tuple[Sequence[str], NDArray[np.float64]]]) -> None:
    """Write labels beside points, within the axes and where they hide no other.

    One without room has fewer names, or is left out.
    """
    figure: Any = ax.get_figure(root=True)
    inches = ax.get_position().size * figure.get_size_inches()
    wide, tall = (_LETTER / inches / 72).tolist()
    ax.autoscale_view()
    to_axes = (ax.transData + ax.transAxes.inverted()).transform
    places = [to_axes(point).tolist() for _, point in labelled]
    # points first: no label may cover one of them
    taken = [(x - wide / 2, y - tall / 3, x + wide / 2, y + tall / 3) for x, y in places]
    for (names, point), (x, y) in zip(labelled, places, strict=True):
        labels = [_joined(names, most) for most in range(min(len(names), _NAMED), 0, -1)]
        # where a label may stand, in letters from its point
        for words, (right, up) in product(
            labels, ((1.0, 0.4), (-1.0, -1.4), (-1.0, 0.4), (1.0, -1.4), (0.5, 1.4), (-0.5, -2.4))
        ):
            width = (len(words) + 1) * wide
            left = x + right * wide - (width if right < 0 else 0.0)
            box = (left, y + up * tall, left + width, y + (up + 1) * tall)
            is_inside = left >= 0.0 and left + width <= 1.0  # or the layout narrows the axes
            if is_inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                by = (right * _LETTER[0], up * _LETTER[1])
                beside(ax, words, tuple(point.tolist()), by, ha="right" if right < 0 else "left")
                break


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Return whether two boxes of left, low, right, high have a point in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _ends(points: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest value of each metric."""
    return points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)


def _scaled(table: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return where values are between the ends of each metric, from 0 to 1."""
    low, high = _ends(table[known])
    return np.asarray((table - low) / np.where(high > low, high - low, 1.0))


def _together(places: NDArray[np.float64], order: Sequence[int]) -> list[list[int]]:
    """Return candidates in groups that look like one point."""
    groups: list[list[int]] = []
    for i in order:
        firsts = places[[group[0] for group in groups]]
        near = np.flatnonzero((np.abs(firsts - places[i]) <= _ALIKE).all(axis=1))
        if len(near):
            groups[near[0]].append(i)
        else:
            groups.append([i])
    return groups


def _joined(names: Sequence[str], most: int = _NAMED) -> str:
    """Return the label of candidates at one place: the first names, and how many more there are."""
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return plain(", ".join([*(shortened(name, 16) for name in names[:most]), *more]))


def _styled(style: dict[str, Any]) -> dict[str, Any]:
    return {"markeredgecolor": "white", "markeredgewidth": 0.6, **style}


def _ellipses(
    ax: Axes, means: NDArray[np.float64], widths: NDArray[np.float64], chosen: NDArray[np.bool_]
) -> None:
    """Draw the credible ellipses of candidates, with axes along the metrics."""
    from matplotlib.patches import Ellipse  # noqa: PLC0415  (an extra)

    for i in np.flatnonzero(chosen & np.isfinite(widths).all(axis=1)).tolist():
        place = (float(means[i, 0]), float(means[i, 1]))
        wide, tall = float(widths[i, 0]), float(widths[i, 1])
        ax.add_patch(Ellipse(place, wide, tall, color=BLUE, alpha=0.12, linewidth=0))


def _staircase(ax: Axes, points: NDArray[np.float64], signs: NDArray[np.float64]) -> None:
    """Draw the border of the dominated region."""
    order = points[np.argsort(signs[0] * points[:, 0], kind="stable")]
    best = signs[1] * np.minimum.accumulate(signs[1] * order[:, 1])
    ax.step(order[:, 0], best, where="post", color=VERMILION, linewidth=1.4, label="the front")


def _parallel(
    table: NDArray[np.float64],
    chance: NDArray[np.float64],
    alive: NDArray[np.bool_],
    known: NDArray[np.bool_],
    names: Sequence[str],
    goal: Mapping[str, str],
    ax: Axes | None,
) -> Axes:
    """Draw a line per candidate over the metrics, the best value of each on top."""
    ax = axes(ax, 1.6 + 1.5 * table.shape[1], 4.2)
    up = _scaled(table, known)
    up = np.where(_grows(goal), up, 1.0 - up)
    x = np.arange(table.shape[1])
    together: dict[float, list[str]] = {}
    for i in np.argsort(chance, kind="stable").tolist():
        if not known[i]:
            continue
        is_front = chance[i] >= 0.5
        colour, faint = (BLUE if is_front else GREY), 1.0 if is_front else 0.6 if alive[i] else 0.2
        ax.plot(x, up[i], color=colour, alpha=faint, linewidth=1.6 if is_front else 1.0)
        if is_front:
            together.setdefault(round(float(up[i, -1]), 2), []).append(names[i])
    for height, some in together.items():
        beside(ax, _joined(sorted(some)), (x[-1], height), (5.0, -3.0))
    low, high = _ends(table[known])
    ends = 0.0 + np.where(_grows(goal), (low, high), (high, low))
    for at in x.tolist():
        beside(ax, f"{ends[1, at]:.4g}", (at, 1.0), (0.0, 5.0), ha="center")
        beside(ax, f"{ends[0, at]:.4g}", (at, 0.0), (0.0, -12.0), ha="center")
        ax.axvline(at, color=GREY, linewidth=0.8)
    ax.set_xticks(x, list(map(plain, goal)), fontsize=SMALL)
    ax.set(yticks=[], ylim=(-0.12, 1.12), ylabel="better above; blue: P(front) ≥ 0.5")
    for side in ("left", "right", "top", "bottom"):
        ax.spines[side].set_visible(False)
    return ax
