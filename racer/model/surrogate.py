"""A Gaussian process: predicted costs of configurations that have not been evaluated."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.linalg  # has a BLAS of its own, which `one_blas_thread` limits once it is loaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from racer.model.effects import Effects

_LENGTH_SCALES = (0.2, 0.4, 0.8, 1.6, 3.2)  # of the joint part; parameters range from 0 to 1
_OWN_LENGTH_SCALES = (0.03, 0.06, 0.15, 0.4)  # of each parameter's own part
_OWN_FRACTIONS = (0.0, 0.1, 0.5)  # of the signal variance: that of the parameters' own parts
_SIGNAL_VARIANCES = (1.0, 6.0, 36.0)  # relative to the variance of the costs
_NUGGETS = (1e-6, 0.003, 0.03, 0.3)  # relative to the signal variance
_ENTRIES = np.linspace(0.0, 1.0, 257)  # of a table of one parameter's own part
_BEYOND = 1e6  # more than effects differ by
_KEPT = 3_000_000  # squared distances of candidates, in single parameters: 12 MB
_AT_ONCE = 128  # points of which covariances stay within the processor's cache


class Kernel(NamedTuple):
    """Hyperparameters, as positions in the lists above."""

    length_scale: int = 3
    own_length_scale: int = 2
    own_fraction: int = 1
    signal_variance: int = 1
    nugget: int = 0


_STARTS = tuple(Kernel(*k) for k in product((1, 3), (1, 3), (0, 2)))
_GRID = (_LENGTH_SCALES, _OWN_LENGTH_SCALES, _OWN_FRACTIONS, _SIGNAL_VARIANCES, _NUGGETS)
_LAST = Kernel(*(len(values) - 1 for values in _GRID))


class Surrogate:
    """A Gaussian process: a smooth joint part, rougher parts of single parameters, and a nugget.

    `features` is (m, d, 2), `effects` of the m candidates; `start` is the last fit's kernel.
    Rasmussen and Williams (2006), algorithm 2.1; Duvenaud et al. (NIPS 2011) on additive kernels.
    """

    def __init__(
        self,
        features: NDArray[np.float64],
        effects: Effects,
        start: Kernel | None = None,
        *,
        search: bool = True,
    ) -> None:
        self._features = features
        self._mean = float(effects.value.mean())
        self._costs = effects.value - self._mean
        self._noise = effects.variance
        self._spread = max(float(self._costs.var()), 1e-12)
        self._covariance = _Covariance(features, features, self._spread)
        self._tried: dict[Kernel, float] = {}
        self.kernel: Kernel = start if start is not None and not search else self._search(start)
        self._root, whitened = self._solve(self.kernel)
        self._weights = _solved(self._root, whitened, transposed=True)

    @property
    def posterior(self) -> NDArray[np.float64]:
        """Posterior means of the m candidates themselves, shape (m,)."""
        return np.asarray(self._mean + self._costs - self._noise * self._weights)

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the posterior mean, shape (k,), at features of shape (k, d, 2)."""
        own = _OWN_FRACTIONS[self.kernel.own_fraction]
        scale = _SIGNAL_VARIANCES[self.kernel.signal_variance] * self._spread
        mean = np.full(len(features), self._mean)
        mean += (1.0 - own) * scale * self._joint(features)
        if own:
            for j in range(features.shape[1]):
                mean += own * scale / features.shape[1] * self._own(j, features[:, j])
        return mean

    def _joint(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted sum of the joint part's correlations, shape (k,)."""
        factor = -0.5 / _LENGTH_SCALES[self.kernel.length_scale] ** 2
        codes = self._features[:, :, 1].max(axis=0).astype(np.intp)
        codes = np.maximum(codes, features[:, :, 1].max(axis=0).astype(np.intp))
        others = _coordinates(self._features, codes)
        squares = factor * (others**2).sum(axis=1)
        others *= -2.0 * factor
        sums = []
        for some in np.split(features, range(_AT_ONCE, len(features), _AT_ONCE)):
            points = _coordinates(some, codes)
            apart = points @ others.T + squares
            apart += factor * (points**2).sum(axis=1)[:, None]
            sums.append(np.exp(apart.astype(np.float32)) @ self._weights)
        return np.concatenate(sums)

    def _own(self, j: int, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted sum of one parameter's own correlations, shape (k,), points (k, 2).

        A function of that parameter alone: looked up in a table, between its entries on a line.
        """
        factor = -0.5 / _OWN_LENGTH_SCALES[self.kernel.own_length_scale] ** 2
        mine = self._features[:, j]
        if mine[:, 1].any() or points[:, 1].any():
            n = int(max(mine[:, 1].max(), points[:, 1].max())) + 1
            alike = np.bincount(mine[:, 1].astype(np.intp), self._weights, n)
            table = alike + np.exp(factor) * (self._weights.sum() - alike)
            return np.asarray(table[points[:, 1].astype(np.intp)])
        apart = np.subtract.outer(_ENTRIES, mine[:, 0])
        apart *= apart
        apart *= factor
        alike = apart.astype(np.float32)
        return np.interp(points[:, 0], _ENTRIES, np.exp(alike, out=alike) @ self._weights)

    def lower_bound(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Posterior mean less its standard deviation, shape (k,), at features (k, d, 2)."""
        variance = _SIGNAL_VARIANCES[self.kernel.signal_variance] * self._spread
        bounds = []
        for some in np.split(features, range(_AT_ONCE, len(features), _AT_ONCE)):
            covariance = _Covariance(some, self._features, self._spread)(self.kernel)
            known = _solved(self._root, covariance.T)
            left = np.maximum(variance - (known**2).sum(axis=0), 0.0)
            bounds.append(covariance @ self._weights - np.sqrt(left))
        return np.asarray(self._mean + np.concatenate(bounds))

    def covariances(self, most: int) -> NDArray[np.float64]:
        """Return covariances of the m candidates under the likeliest kernels tried, (k, m, m)."""
        kernels = sorted(self._tried, key=lambda kernel: -self._tried[kernel])[:most]
        nugget = np.eye(len(self._costs))
        found = []
        for kernel in kernels:
            variance = _SIGNAL_VARIANCES[kernel.signal_variance] * self._spread
            found.append(self._covariance(kernel) / variance + _NUGGETS[kernel.nugget] * nugget)
        return np.array(found)

    def _search(self, start: Kernel | None) -> Kernel:
        best = start if start is not None else max(_STARTS, key=self._likelihood)
        while True:
            better = max([best, *_neighbours(best)], key=self._likelihood)
            if better == best or start is not None:
                return better
            best = better

    def _likelihood(self, kernel: Kernel) -> float:
        if kernel not in self._tried:
            root, whitened = self._solve(kernel)
            fit = -0.5 * float(whitened @ whitened) - float(np.log(np.diag(root)).sum())
            self._tried[kernel] = fit
        return self._tried[kernel]

    def _solve(self, kernel: Kernel) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the Cholesky factor, of which only the lower triangle is set, and L⁻¹ costs."""
        nugget = _NUGGETS[kernel.nugget] * _SIGNAL_VARIANCES[kernel.signal_variance] * self._spread
        covariance = self._covariance(kernel)
        while True:
            covariance.flat[:: len(covariance) + 1] += self._noise + nugget
            # its transpose is the same matrix in the order of LAPACK
            root, failed = scipy.linalg.lapack.dpotrf(covariance.T, lower=1, clean=0)
            if not failed:
                return root, _solved(root, self._costs)
            nugget *= 100.0


class Guarded:
    """Costs where an evaluation is likely to succeed; elsewhere, beyond all costs."""

    def __init__(self, costs: Surrogate, failures: Surrogate) -> None:
        self._costs = costs
        self._failures = failures

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return posterior means of costs, shape (k,), at features of shape (k, d, 2)."""
        return self._costs(features) + self._beyond(features)

    def lower_bound(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Posterior means less their standard deviations, shape (k,), at features (k, d, 2)."""
        return self._costs.lower_bound(features) + self._beyond(features)

    def _beyond(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(self._failures(features) > 0.5, _BEYOND, 0.0)


def _solved(
    root: NDArray[np.float64], right: NDArray[np.float64], *, transposed: bool = False
) -> NDArray[np.float64]:
    """Return L⁻¹ B, or L⁻ᵀ B, by LAPACK itself: SciPy's checks take as long as a small system."""
    return np.asarray(scipy.linalg.lapack.dtrtrs(root, right, lower=1, trans=transposed)[0])


def _coordinates(features: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return points (k, ..) with the same squared distances; `codes` (d,) are the largest there."""
    choices = [
        np.sqrt(0.5) * (features[:, j, 1, None] == np.arange(codes[j] + 1))
        for j in np.flatnonzero(codes).tolist()
    ]
    return np.concatenate([features[:, codes == 0, 0], *choices], axis=1)


class _Covariance:
    """Covariances of two sets of points under any kernel; single precision quarters the time."""

    def __init__(self, one: NDArray[np.float64], other: NDArray[np.float64], spread: float) -> None:
        self._left, self._right = (
            f.transpose(1, 2, 0).astype(np.float32, order="C") for f in (one, other)
        )
        self._shape = len(one), len(other)
        few = one.shape[1] * len(one) * len(other) <= _KEPT
        self._kept = [*self._computed()] if few else None
        self._spread = spread
        self._parts: dict[tuple[str, int], NDArray[np.float64]] = {}

    def __call__(self, kernel: Kernel) -> NDArray[np.float64]:
        """Return them, shape (len(one), len(other)); a new array."""
        own = _OWN_FRACTIONS[kernel.own_fraction]
        variance = _SIGNAL_VARIANCES[kernel.signal_variance] * self._spread
        covariance = (1.0 - own) * variance * self._part("joint", kernel.length_scale)
        if own:
            covariance += own * variance * self._part("own", kernel.own_length_scale)
        return covariance

    def _part(self, name: str, at: int) -> NDArray[np.float64]:
        if (name, at) not in self._parts:
            part = self._joint_part(at) if name == "joint" else self._own_part(at)
            self._parts[name, at] = part
        return self._parts[name, at]

    def _computed(self) -> Iterator[NDArray[np.float32]]:
        """Yield squared distances in each parameter, (len(one), len(other))."""
        for left, right in zip(self._left, self._right, strict=True):
            squares = np.subtract.outer(left[0], right[0])
            squares *= squares
            if left[1].any() or right[1].any():  # choices
                squares += left[1, :, None] != right[1]
            yield squares

    @property
    def _distances(self) -> Iterable[NDArray[np.float32]]:
        """The same, kept if few: many would be most of the memory of a tuning."""
        return self._computed() if self._kept is None else self._kept

    @cached_property
    def _distance(self) -> NDArray[np.float32]:
        total = np.zeros(self._shape, dtype=np.float32)
        for distances in self._distances:
            total += distances
        return total

    def _joint_part(self, at: int) -> NDArray[np.float64]:
        factor = np.float32(-0.5 / _LENGTH_SCALES[at] ** 2)
        return np.asarray(np.exp(factor * self._distance), dtype=np.float64)

    def _own_part(self, at: int) -> NDArray[np.float64]:
        factor = np.float32(-0.5 / _OWN_LENGTH_SCALES[at] ** 2)
        total, part = np.zeros(self._shape, np.float32), np.empty(self._shape, np.float32)
        for distances in self._distances:  # one by one, which stay in the processor's cache
            total += np.exp(np.multiply(distances, factor, out=part), out=part)
        return np.asarray(total / np.float32(len(self._left)), dtype=np.float64)


def _neighbours(kernel: Kernel) -> list[Kernel]:
    near = [
        kernel._replace(**{name: at})
        for name, here, most in zip(kernel._fields, kernel, _LAST, strict=True)
        for at in (here - 1, here + 1)
        if 0 <= at <= most
    ]
    return [k for k in near if k.own_fraction > 0 or k.own_length_scale == kernel.own_length_scale]
