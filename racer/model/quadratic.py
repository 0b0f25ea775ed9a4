"""A quadratic that fits costs near a point: of many candidates, which are near its minimum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.model.effects import Effects

_REACH = 2.0  # mean squared distance, in widths, of what is learnt from
_PRIOR = 100.0  # variance of a coefficient, relative to that of the costs
_PER_COEFFICIENT = 2  # candidates: with fewer, nothing is fitted
_MISFIT = 2.0  # residual variance relative to that of noise; races leave the lucky: 1.4 if it fits


def is_near(
    vectors: NDArray[np.float64], centre: NDArray[np.float64], width: float
) -> NDArray[np.bool_]:
    """Return a mask of vectors (m, d) near a centre (d,); of none, if too few to fit a quadratic."""
    near = (((vectors - centre) / width) ** 2).mean(axis=1) < _REACH
    d = vectors.shape[1]
    return np.asarray(near & (near.sum() >= _PER_COEFFICIENT * (1 + d + d * (d + 1) // 2)))


def upper_bounds(
    vectors: NDArray[np.float64], known: Effects, centre: NDArray[np.float64], width: float
) -> NDArray[np.float64] | None:
    """Return posterior means plus sds, (m,), of a quadratic at vectors (m, d), of which all is near.

    None if it does not fit the costs. Weighted by a normal density of sd `width` around the centre
    (Cleveland and Devlin, JASA 1988). Unlike a Gaussian process's, its minimum is that of
    thousands of evaluations, not of the few of a candidate that was lucky.
    """
    z = (vectors - centre) / width
    one, other = np.triu_indices(z.shape[1])
    terms = np.column_stack([np.ones(len(z)), z, z[:, one] * z[:, other]])
    near = np.exp(-0.5 * (z**2).sum(axis=1))
    weights = near / known.variance
    mean = np.average(known.value, weights=weights)
    spread = max(float(np.average((known.value - mean) ** 2, weights=weights)), 1e-12)
    shrunk = np.full(terms.shape[1], 1.0 / (_PRIOR * spread))
    precision = (terms.T * weights) @ terms + np.diag(shrunk)
    covariance = np.linalg.pinv(precision, hermitian=True)  # a parameter may be the same in all
    fitted = terms @ (covariance @ (terms.T @ (weights * (known.value - mean))))
    variance = np.maximum(((terms @ covariance) * terms).sum(axis=1), 0.0)
    left = float((weights * (known.value - mean - fitted) ** 2).sum())
    if left > _MISFIT * float(near.sum() - (weights * variance).sum()):
        return None
    return np.asarray(mean + fitted + np.sqrt(variance))
