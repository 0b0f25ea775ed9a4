"""A Gaussian process: predicted costs of configurations that have not been evaluated."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.linalg  # has a BLAS of its own, which `one_blas_thread` limits once it is loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from racer.model.effects import Effects
    from racer.model.failing import Failing

    _Solved = tuple[NDArray[np.float64], NDArray[np.float64]]

_LENGTH_SCALES = (0.2, 0.4, 0.8, 1.6, 3.2)  # of the joint part; parameters range from 0 to 1
_OWN_LENGTH_SCALES = (0.03, 0.06, 0.15, 0.4)  # of each parameter's own part
_OWN_FRACTIONS = (0.0, 0.1, 0.5)  # of the signal variance: that of the parameters' own parts
_SIGNAL_VARIANCES = (1.0, 6.0, 36.0)  # relative to the variance of the costs
_NUGGETS = (1e-6, 0.003, 0.03, 0.3)  # relative to the signal variance
_ENTRIES = np.linspace(0.0, 1.0, 257)  # of a table of one parameter's own part
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

    `features` is (m, d, 2), `effects` of the m candidates; `start` is the last fit's kernel;
    `correlations` of the features are given if they are known.
    Rasmussen and Williams (2006), algorithm 2.1; Duvenaud et al. (NIPS 2011) on additive kernels.
    """

    def __init__(
        self,
        features: NDArray[np.float64],
        effects: Effects,
        start: Kernel | None = None,
        correlations: Correlations | None = None,
        *,
        search: bool = True,
    ) -> None:
        self._features = features
        self._mean = float(effects.value.mean())
        self._costs = effects.value - self._mean
        self._noise = effects.variance
        self._spread = max(float(self._costs.var()), 1e-12)
        self.correlations = Correlations(features) if correlations is None else correlations
        self._tried: dict[Kernel, float] = {}
        self._likeliest: dict[Kernel, _Solved] = {}  # of the likeliest kernel so far
        self.kernel: Kernel = start if start is not None and not search else self._search(start)
        solved = self._likeliest.get(self.kernel)
        self._root, whitened = self._solve(self.kernel) if solved is None else solved
        self._weights = _triangular_solution(self._root, whitened, transposed=True)

    @property
    def posterior(self) -> NDArray[np.float64]:
        """Posterior means of the m candidates themselves, shape (m,)."""
        return np.asarray(self._mean + self._costs - self._noise * self._weights)

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the posterior mean, shape (k,), at features of shape (k, d, 2)."""
        own = _OWN_FRACTIONS[self.kernel.own_fraction]
        scale = _SIGNAL_VARIANCES[self.kernel.signal_variance] * self._spread
        codes = np.maximum(self._features[:, :, 1].max(axis=0), features[:, :, 1].max(axis=0))
        codes = codes.astype(np.intp)
        mean = np.full(len(features), self._mean)
        mean += (1.0 - own) * scale * self._joint(features, codes)
        if own:
            for part in self._own(features, codes):
                mean += own * scale / len(codes) * part
        return mean

    def _joint(self, features: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the weighted sum of the joint part's correlations, shape (k,)."""
        factor = -0.5 / _LENGTH_SCALES[self.kernel.length_scale] ** 2
        others = _coordinates(self._features, codes)
        squares = factor * (others**2).sum(axis=1)
        others *= -2.0 * factor
        sums = []
        all_points = _coordinates(features, codes)
        for points in np.split(all_points, range(_AT_ONCE, len(features), _AT_ONCE)):
            # |a - b|^2 = |a|^2 - 2 a b + |b|^2: one product of matrices for all pairs
            apart = points @ others.T + squares
            apart += factor * (points**2).sum(axis=1)[:, None]
            sums.append(np.exp(apart.astype(np.float32)) @ self._weights)
        return np.concatenate(sums)

    def _own(
        self, features: NDArray[np.float64], codes: NDArray[np.intp]
    ) -> Iterator[NDArray[np.float64]]:
        """Yield the weighted sum of each parameter's own correlations, shape (k,).

        A function of that parameter alone: looked up in a table, between its entries on a line.
        """
        factor = -0.5 / _OWN_LENGTH_SCALES[self.kernel.own_length_scale] ** 2
        apart = np.empty((len(_ENTRIES), len(self._features)))
        exponent = np.empty(apart.shape, np.float32)
        mine, theirs = (f.transpose(2, 1, 0).copy() for f in (self._features, features))
        for j, code in enumerate(codes.tolist()):
            if code:
                alike = np.bincount(mine[1, j].astype(np.intp), self._weights, code + 1)
                table = alike + np.exp(factor) * (self._weights.sum() - alike)
                yield table[theirs[1, j].astype(np.intp)]
            else:
                np.subtract.outer(_ENTRIES, mine[0, j], out=apart)
                apart *= apart
                np.multiply(apart, factor, out=exponent)
                np.exp(exponent, out=apart)
                yield np.interp(theirs[0, j], _ENTRIES, apart @ self._weights)

    def lower_bound(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the posterior mean less its standard deviation, (k,), at features (k, d, 2)."""
        variance = _SIGNAL_VARIANCES[self.kernel.signal_variance] * self._spread
        bounds = []
        for some in np.split(features, range(_AT_ONCE, len(features), _AT_ONCE)):
            correlations = _Between(some, self._features)
            covariance = _covariance(correlations, self.kernel, self._spread)
            known = _triangular_solution(self._root, covariance.T)
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
            covariance = _covariance(self.correlations, kernel, self._spread)
            found.append(covariance / variance + _NUGGETS[kernel.nugget] * nugget)
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
            root, whitened = solved = self._solve(kernel)
            fit = -0.5 * float(whitened @ whitened) - float(np.log(np.diag(root)).sum())
            if fit > max(self._tried.values(), default=-np.inf):
                self._likeliest = {kernel: solved}
            self._tried[kernel] = fit
        return self._tried[kernel]

    def _solve(self, kernel: Kernel) -> _Solved:
        """Return the Cholesky factor, of which only the lower triangle is set, and L⁻¹ costs."""
        nugget = _NUGGETS[kernel.nugget] * _SIGNAL_VARIANCES[kernel.signal_variance] * self._spread
        covariance = _covariance(self.correlations, kernel, self._spread)
        while True:
            covariance.flat[:: len(covariance) + 1] += self._noise + nugget
            # its transpose is the same matrix in the order of LAPACK
            root, failed = scipy.linalg.lapack.dpotrf(covariance.T, lower=1, clean=0)
            if not failed:
                return root, _triangular_solution(root, self._costs)
            # singular except for rounding errors: raise the diagonal until Cholesky succeeds
            nugget *= 100.0


class Guarded:
    """Costs, and the price of expected failures; a sure failure on an instance is beyond all."""

    def __init__(self, costs: Surrogate, failing: Failing) -> None:
        self._costs, self._failing = costs, failing

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return posterior means of costs, shape (k,), at features of shape (k, d, 2)."""
        return self._costs(features) + self._failing.price(features)

    def lower_bound(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return posterior means less their standard deviations, (k,), at features (k, d, 2)."""
        return self._costs.lower_bound(features) + self._failing.price(features)


def _triangular_solution(
    root: NDArray[np.float64], right: NDArray[np.float64], *, transposed: bool = False
) -> NDArray[np.float64]:
    """Return L⁻¹ B, or L⁻ᵀ B, by LAPACK itself: SciPy's checks take as long as a small system."""
    return np.asarray(scipy.linalg.lapack.dtrtrs(root, right, lower=1, trans=transposed)[0])


def _coordinates(features: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return points (k, ..) with the same squared distances; `codes` (d,) are the largest there."""
    choices = [
        # two choices are then sqrt(1/2 + 1/2) = 1 apart, as the ends of a range are
        np.sqrt(0.5) * (features[:, j, 1, None] == np.arange(codes[j] + 1))
        for j in np.flatnonzero(codes).tolist()
    ]
    return np.concatenate([features[:, codes == 0, 0], *choices], axis=1)


class Correlations:
    """Correlations of points (m, d, 2) with each other, by the parts of any kernel.

    Correlations of points that were in `before`, such as the last fit's, are taken away from there,
    so that both are not in memory, and not computed again.
    """

    def __init__(self, points: NDArray[np.float64], before: Correlations | None = None) -> None:
        self.points = points
        self.parts: dict[tuple[str, int], NDArray[np.float64]] = {}
        self._known = {} if before is None else before.parts
        known = [] if before is None else [point.tobytes() for point in before.points]
        places = dict(zip(known, range(len(known)), strict=True))
        self._places = np.array([places.get(point.tobytes(), -1) for point in points])
        self._fresh = np.flatnonzero(self._places < 0)

    def __call__(self, part: str, at: int) -> NDArray[np.float64]:
        """Return the joint or own part, (m, m), with a length scale of its list."""
        key = part, at
        if key not in self.parts:
            known = self._known.pop(key, None)
            self.parts[key] = self._all(*key) if known is None else self._extended(key, known)
        return self.parts[key]

    @cached_property
    def _all(self) -> _Between:
        return _Between(self.points, self.points)

    @cached_property
    def _new(self) -> _Between:
        return _Between(self.points[self._fresh], self.points)

    def _extended(self, key: tuple[str, int], known: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a part that is known for the points that were there before."""
        part = known[self._places][:, self._places]
        if len(self._fresh):
            part[self._fresh] = new = self._new(*key)
            part[:, self._fresh] = new.T
        return np.asarray(part)


class _Between:
    """Correlations of two sets of points, by part; single precision quarters the time."""

    def __init__(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> None:
        self._left, self._right = (
            f.transpose(1, 2, 0).astype(np.float32, order="C") for f in (one, other)
        )
        self._shape = len(one), len(other)
        self._is_choice = np.asarray(self._left[:, 1].any(axis=1) | self._right[:, 1].any(axis=1))
        self._kept: NDArray[np.float32] | None = None
        if (d := len(self._left)) * len(one) * len(other) <= _KEPT:
            # one array, as memory of many small ones is given back after each fit
            self._kept = np.empty((d, *self._shape), np.float32)
            for j, distances in enumerate(self._kept):
                self._compute(j, distances)

    def __call__(self, part: str, at: int) -> NDArray[np.float64]:
        """Return the joint or own part, (len(one), len(other)), with a length scale of its list."""
        return self._joint_part(at) if part == "joint" else self._own_part(at)

    def _compute(self, j: int, out: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return squared distances in one parameter, (len(one), len(other)), in the array `out`."""
        left, right = self._left[j], self._right[j]
        np.subtract.outer(left[0], right[0], out=out)
        out *= out
        if self._is_choice[j]:
            out += left[1, :, None] != right[1]
        return out

    @property
    def _distances(self) -> Iterable[NDArray[np.float32]]:
        """The same in each parameter, kept if few: many would be most of the memory of a tuning."""
        if self._kept is not None:
            return self._kept
        out = np.empty(self._shape, np.float32)
        return (self._compute(j, out) for j in range(len(self._left)))

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


def _covariance(
    correlations: Callable[[str, int], NDArray[np.float64]], kernel: Kernel, spread: float
) -> NDArray[np.float64]:
    """Return covariances under a kernel, without its nugget; a new array."""
    own = _OWN_FRACTIONS[kernel.own_fraction]
    variance = _SIGNAL_VARIANCES[kernel.signal_variance] * spread
    covariance = (1.0 - own) * variance * correlations("joint", kernel.length_scale)
    if own:
        covariance += own * variance * correlations("own", kernel.own_length_scale)
    return covariance


def _neighbours(kernel: Kernel) -> list[Kernel]:
    near = [
        kernel._replace(**{name: at})
        for name, here, most in zip(kernel._fields, kernel, _LAST, strict=True)
        for at in (here - 1, here + 1)
        if 0 <= at <= most
    ]
    return [k for k in near if k.own_fraction > 0 or k.own_length_scale == kernel.own_length_scale]
