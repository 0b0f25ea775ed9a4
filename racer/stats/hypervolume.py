"""The volume that points dominate, and the part of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


_MANY = 60  # points of two metrics, beyond which volumes take long; each metric more halves it


def hypervolume(points: Floats, reference: Floats) -> float:
    """Return the volume dominated by points (n, d), up to a reference (d,).

    Smaller is better. By slices along the last metric: meant for tens of points.
    """
    points = points[(points < reference).all(axis=1)]
    if not len(points):
        return 0.0
    if points.shape[1] == 1:
        return float(reference[0] - points.min())
    if points.shape[1] == 2:
        order = points[np.lexsort((points[:, 1], points[:, 0]))]
        height = np.minimum.accumulate(order[:, 1])
        right = np.append(order[1:, 0], reference[0])
        return float(((right - order[:, 0]) * (reference[1] - height)).sum())
    # a slice between two points is dominated by all points before it
    order = points[np.argsort(points[:, -1], kind="stable")]
    ends = np.append(order[1:, -1], reference[-1])
    return float(
        sum(
            (end - point[-1]) * hypervolume(order[: k + 1, :-1], reference[:-1])
            for k, (point, end) in enumerate(zip(order, ends, strict=True))
            if end > point[-1]
        )
    )


def contributions(points: Floats, reference: Floats) -> Floats:
    """Return the loss of volume without each point, (n,)."""
    whole = hypervolume(points, reference)
    rest = [hypervolume(np.delete(points, i, axis=0), reference) for i in range(len(points))]
    return whole - np.array(rest)


def thinned(points: Floats, size: int) -> list[int]:
    """Return `size` points of (n, d) that add the most volume together, the best spread first.

    One after the other, the point is left out that adds least to the rest. The volume is up to
    a tenth of the points' range beyond the worst of each metric.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    reference = high + 0.1 * np.where(high > low, high - low, 1.0)
    if len(points) > _MANY >> (
        points.shape[1] - 2
    ):  # a first choice, by spread along one metric after the other
        return _spread(points)[:size]
    left = list(range(len(points)))
    out: list[int] = []
    while len(left) > 1:
        worst = int(contributions(points[left], reference).argmin())
        out.append(left.pop(worst))
    return [*left, *out[::-1]][:size]


def _spread(points: Floats) -> list[int]:
    """Order all of (n, d): the least sum of metrics, then the farthest from all points taken."""
    span = np.ptp(points, axis=0)
    scaled = (points - points.min(axis=0)) / np.where(span > 0.0, span, 1.0)
    taken = [int(scaled.sum(axis=1).argmin())]
    distance = np.full(len(points), np.inf)
    while len(taken) < len(points):
        distance = np.minimum(distance, np.abs(scaled - scaled[taken[-1]]).sum(axis=1))
        distance[taken] = -1.0
        taken.append(int(distance.argmax()))
    return taken
