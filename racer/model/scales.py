"""Costs of blocks in one scale, by candidates that blocks have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.model.effects import unit_near
from racer.stats.places import drawn_together

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COMMON = 3  # candidates that two blocks have in common, at least
_LOG_SPREAD = 0.5  # sampling variance of the logarithm of a normal spread, times k - 1
_BEYOND_CHANCE = 2.0  # standard deviations by which scales differ more than chance
_REGULAR = 1e-9  # of the largest weight
_TIED = 1e-12  # of a block's sum of squares


def in_one_scale(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide blocks of costs (n, m) by their scales, as far as these differ by more than chance.

    NaN: not evaluated; +inf: failed. The scales of two blocks are in the ratio of the spreads of the
    candidates on both: candidates that are alike, as later races have, do not make a block small. A
    least-squares fit joins all pairs; scales that differ by chance are one, the unit of the costs.
    """
    costs = costs / unit_near(costs)
    known = np.isfinite(costs)
    level = np.where(known, costs, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    above = np.where(known, costs - level[:, None], 0.0)
    size = np.abs(above).max(axis=1)
    above /= np.where(size > 0.0, size, 1.0)[:, None]
    seen = known.astype(np.float64)
    common = seen @ seen.T
    # of each block, sums of squares about the mean of the candidates shared with each other one
    squares = above**2 @ seen.T - (above @ seen.T) ** 2 / np.maximum(common, 1.0)
    joined = (common >= _COMMON) & (squares > _TIED * (above**2).sum(axis=1)[:, None])
    joined &= joined.T
    np.fill_diagonal(joined, val=False)
    some = joined.any(axis=1)
    if some.sum() < 2:
        return costs
    logs = 0.5 * np.log(np.where(joined, squares, 1.0))
    logs += np.log(np.where(size > 0.0, size, 1.0))[:, None]
    weights = np.where(joined, common - 1.0, 0.0)
    # normal equations of log ratios: a graph's Laplacian, which leaves a constant free
    pull = (weights * (logs - logs.T)).sum(axis=1)
    regular = _REGULAR * weights.max() * np.eye(len(weights))  # blocks may be in groups, or alone
    found = np.linalg.solve(np.diag(weights.sum(axis=1)) - weights + regular, pull)
    sampling = _LOG_SPREAD / np.maximum(known.sum(axis=1) - 1, 1)
    drawn = drawn_together(found, sampling, some, margin=_BEYOND_CHANCE)
    return np.asarray(costs / np.exp(drawn - drawn[some].mean())[:, None])
