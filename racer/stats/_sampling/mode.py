"""The mode of a model and the normal law that fits it there (Laplace)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.stats._sampling.model import in_parts, log_density

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.stats._sampling.model import Curved, Model

_STEP = 1e-4
_DECIDED = 1e-12  # twice the gain of a step after which the next one is below rounding
_HALVINGS = 0.5 ** np.arange(16)


class Laplace(NamedTuple):
    """The mode, and a factor L of the covariance there: x = mode + L z."""

    mode: NDArray[np.float64]
    factor: NDArray[np.float64]

    def at(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the points that belong to whitened ones, shape (k, d)."""
        return np.asarray(self.mode + z @ self.factor.T)


def cholesky(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a factor L of a covariance: L L' = covariance."""
    return np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)


def _precision(model: Model, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minus the Hessian by central differences of the gradient, made positive definite."""
    steps = _STEP * np.eye(len(x))
    gradients = in_parts(model.gradient, np.concatenate([x + steps, x - steps]))
    curvature = (gradients[len(x) :] - gradients[: len(x)]) / (2.0 * _STEP)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    values = np.maximum(np.abs(values), 1e-8 * np.abs(values).max())
    return np.asarray((vectors * values) @ vectors.T)


def find_mode(model: Model, *, steps: int = 100) -> Laplace:
    """Climb to the mode by Newton's method, each step halved until it climbs."""
    x = model.start
    value = log_density(model, x[None])[0]
    for _ in range(steps):
        precision = _precision(model, x)
        gradient = in_parts(model.gradient, x[None])[0]
        step = np.linalg.solve(precision, gradient)
        tried = x + _HALVINGS[:, None] * step
        values = log_density(model, tried)
        best = int(np.argmax(values))
        if values[best] > value:
            x, value = tried[best], values[best]
        if gradient @ step < 1e-9 or values[best] < value:
            break
    return _laplace(x, _precision(model, x))


def climb(model: Curved, *, steps: int = 100) -> Laplace:
    """Climb to the mode, to the last digits: where it began leaves no trace.

    Newton's method from `start`, or from 0 if that is higher up, each step halved until it
    climbs. The last steps are too small to be seen in the density, and are taken whole.
    """
    starts = np.stack([model.start, np.zeros_like(model.start)])
    x = starts[int(np.argmax(log_density(model, starts)))]
    precision = model.precision(x)
    for _ in range(steps):
        gradient = model.gradient(x[None])[0]
        step = np.linalg.solve(precision, gradient)
        gain = float(gradient @ step)
        if gain > 1e-6:
            tried = x + _HALVINGS[:, None] * step
            values = log_density(model, np.concatenate([x[None], tried]))
            step = _HALVINGS[int(np.argmax(values[1:] > values[0]))] * step
        x = x + step
        precision = model.precision(x)
        if gain < _DECIDED:
            break
    return _laplace(x, precision)


def _laplace(mode: NDArray[np.float64], precision: NDArray[np.float64]) -> Laplace:
    return Laplace(mode, np.asarray(np.linalg.inv(cholesky(precision)).T, np.float64))
