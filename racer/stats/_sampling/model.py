"""The protocol of a model, and the way to its mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

_ROWS = 256  # points at a time, so that what a model spreads out stays small
_STEP = 1e-4
_DECIDED = 1e-12  # twice the gain of a step after which the next one is below rounding
_HALVINGS = 0.5 ** np.arange(16)
_SEEN = 1e-6  # twice the gain of a step below which the density's rounding hides it
_GRID = 2.0**-16  # of a standard deviation: far below what matters, far above rounding


class Model(Protocol):
    """A log-density on an unconstrained vector of d numbers, up to a constant."""

    @property
    def start(self) -> NDArray[np.float64]:
        """Where to begin, shape (d,)."""

    def log_density(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-density at k points, shape (k, d), as shape (k,)."""

    def gradient(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its gradient at k points, shape (k, d)."""


def in_parts(
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Apply a method of a model to many points, some at a time; where it overflows, NaN."""
    with np.errstate(all="ignore"):
        parts = [of(points[k : k + _ROWS]) for k in range(0, len(points), _ROWS)]
    return np.concatenate(parts)


def log_density(model: Model, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-density, -inf where it is not a number."""
    value = in_parts(model.log_density, points)
    value[~(value < np.inf)] = -np.inf
    return value


class Laplace(NamedTuple):
    """The mode, and a factor L of the covariance there: x = mode + L z."""

    mode: NDArray[np.float64]
    factor: NDArray[np.float64]

    def at(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the points that belong to whitened ones, shape (k, d)."""
        return np.asarray(self.mode + z @ self.factor.T)

    def rounded(self) -> Laplace:
        """Return it on a grid of conditional deviations: processors round differently."""
        grid = 2.0 ** np.round(np.log2(np.diag(self.factor))) * _GRID
        factor = np.round(self.factor / grid[:, None]) * grid[:, None]
        return Laplace(np.round(self.mode / grid) * grid, factor)


def on_grid(z: ArrayLike) -> NDArray[np.float64]:
    """Return numbers of order 1 on a grid: chains let differences in the last digit grow."""
    return np.asarray(np.round(np.divide(z, _GRID)) * _GRID)


def cholesky(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a factor L of a covariance: L L' = covariance."""
    return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)


def _precision(model: Model, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return minus the Hessian by differences of the gradient, made positive definite."""
    steps = _STEP * np.eye(len(x))
    gradients = in_parts(model.gradient, np.concatenate([x + steps, x - steps]))
    curvature = (gradients[len(x) :] - gradients[: len(x)]) / (2.0 * _STEP)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    values = np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
    return np.asarray((vectors * values) @ vectors.T)


def newton(
    start: NDArray[np.float64],
    gradient: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    precision: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    shorten: Callable[[NDArray[np.float64], NDArray[np.float64], float], NDArray[np.float64]],
    *,
    steps: int,
    least_gain: float,
) -> NDArray[np.float64]:
    """Return where Newton's steps lead, each by `shorten(point, step, twice its gain)`."""
    x = start
    for _ in range(steps):
        slope = gradient(x)
        step = np.asarray(np.linalg.solve(precision(x), slope), np.float64)
        gain = float(slope @ step)
        taken = shorten(x, step, gain)
        x = x + taken
        if gain < least_gain or not taken.any():
            break
    return x


def find_mode(model: Model) -> Laplace:
    """Climb to the mode by Newton's method, each step halved until it climbs."""
    value = log_density(model, model.start[None])[0]

    def best_part(
        x: NDArray[np.float64], step: NDArray[np.float64], gain: float
    ) -> NDArray[np.float64]:
        nonlocal value
        if gain <= _SEEN:
            return step
        values = log_density(model, x + _HALVINGS[:, None] * step)
        best = int(np.argmax(values))
        if not values[best] > value:
            return np.zeros_like(step)
        value = values[best]
        return np.asarray(_HALVINGS[best] * step)

    x = newton(
        model.start,
        lambda x: in_parts(model.gradient, x[None])[0],
        lambda x: _precision(model, x),
        best_part,
        steps=100,
        least_gain=_DECIDED,
    )
    factor = np.asarray(np.linalg.inv(cholesky(_precision(model, x))).T, np.float64)
    return Laplace(x, factor).rounded()
