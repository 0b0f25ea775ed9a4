"""Axes along which the noise of several metrics decouples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.stats.places import two_way

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_NOISE = 1e-6  # of what candidates differ by
_NEGLIGIBLE = 0.1  # correlation
_LEAST_CANDIDATES = 4  # with fewer the effects' correlation is unknown
_MOST_TOGETHER = 0.95  # correlation
_ERRORS = 1.5  # standard errors: smaller correlations of effects are taken for chance
_SHRUNK = 0.05  # of a correlation, towards none
_LEAST = 10  # cells, with fewer the metrics' noise is taken to be independent


def noise_axes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return axes (d, d) along which noise of values (d, n, m) and effects of candidates decouple.

    Correlations are shrunk as far as they may be chance.
    """
    d = len(values)
    known = np.isfinite(values)
    fits = [two_way(table) for table in values]
    left = [v - blocks[:, None] - effect for v, (blocks, effect) in zip(values, fits, strict=True)]
    effects = np.array([effect for _, effect in fits])
    flat = np.reshape(left, (d, -1))
    flat = flat[:, np.isfinite(flat).all(axis=0)]
    if d == 1 or flat.shape[1] < _LEAST:
        return np.eye(d)
    size = np.sqrt((flat**2).mean(axis=1))
    size = np.maximum(size, _LEAST_NOISE * np.ptp(effects, axis=1))  # less is rounding
    size[size == 0.0] = 1.0
    flat /= size[:, None]
    noise = (1.0 - _SHRUNK) * (flat @ flat.T / flat.shape[1])
    np.fill_diagonal(noise, 1.0)
    effects = _effects_together(effects / size[:, None], known, noise)
    together = [m - np.diag(np.diag(m)) for m in (noise, effects / _outer_root(np.diag(effects)))]
    if max(np.abs(m).max() for m in together) < _NEGLIGIBLE:
        return np.eye(d)
    try:
        # both at once: whiten the noise, then turn to the principal axes of the effects
        inverse = np.linalg.inv(np.linalg.cholesky(noise))
    except np.linalg.LinAlgError:  # of a block a hundred digits larger than others, say
        return np.eye(d)
    spread, turn = np.linalg.eigh(inverse @ effects @ inverse.T)
    return np.asarray((turn / np.sqrt(spread)).T @ inverse / size)


def _outer_root(variances: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.multiply.outer(variances, variances))


def _effects_together(
    effects: NDArray[np.float64], known: NDArray[np.bool_], noise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the covariance (d, d) of candidates' effects (d, m), given the covariance of noise."""
    seen = known.all(axis=0).sum(axis=0)
    some = effects[:, seen > 0]
    d, m = some.shape
    own = noise * (1.0 / seen[seen > 0]).mean()
    if m < _LEAST_CANDIDATES:
        return np.eye(d)
    # estimated effects vary by the noise of their means as well: that part is taken off
    found = np.atleast_2d(np.cov(some)) - own
    spread = np.maximum(np.diag(found), np.diag(own))  # correlations of smaller effects are chance
    scale = _outer_root(spread)
    correlation = np.clip(found / scale, -_MOST_TOGETHER, _MOST_TOGETHER)
    # about 1 / (m - 1) where there is no correlation, more where noise attenuates it
    sampling = (1.0 + np.diag(own) / spread) ** 2 / (m - 1)
    square = np.maximum(correlation**2, 1e-12)
    correlation *= np.maximum(1.0 - _ERRORS**2 * _outer_root(sampling) / square, 0.0)
    np.fill_diagonal(correlation, 1.0)
    least = float(np.linalg.eigvalsh(correlation)[0])
    if least < 1.0 - _MOST_TOGETHER:  # of three metrics or more
        correlation += (1.0 - _MOST_TOGETHER - least) * np.eye(d)
    return np.asarray(correlation * scale)
