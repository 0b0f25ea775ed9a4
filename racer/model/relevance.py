"""A Gaussian process with a length scale per parameter: slower than the surrogate, and keener."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky
from scipy.optimize import minimize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.model.effects import Effects

_LOW, _HIGH = np.log(1e-3), np.log(1e2)  # of a relevance, 1 / length scale squared
_PRIOR = 0.1  # rate of its exponential prior: what is not needed goes to zero
_NUGGETS = (np.log(1e-4), np.log(1.0))  # relative to the variance of the costs
_SIGNALS = (np.log(0.1), np.log(1e2))
_STARTS = (0.3, 3.0)  # relevances
_STEPS = 60
_AT_ONCE = 256  # points


class Relevance:
    """A Gaussian process: squared exponential, its relevances found by their likelihood.

    `features` is (m, d, 2), `effects` of the m candidates. Rasmussen and Williams (2006), equations
    5.1 (relevances), 5.9 (gradient) and 5.12 (leave-one-out).
    """

    def __init__(self, features: NDArray[np.float64], effects: Effects) -> None:
        self._features = features
        self._mean = float(effects.value.mean())
        self._spread = max(float(effects.value.var()), 1e-12)
        self._costs = (effects.value - self._mean) / np.sqrt(self._spread)
        self._noise = effects.variance / self._spread
        self._distances = _distances(features, features)
        d = features.shape[1]
        limits = [(_LOW, _HIGH)] * d + [_SIGNALS, _NUGGETS]
        found = [
            minimize(
                self._objective,
                np.array([np.log(start)] * d + [np.log(2.0), np.log(0.01)]),
                jac=True,
                bounds=limits,
                method="L-BFGS-B",
                options={"maxiter": _STEPS},
            )
            for start in _STARTS
        ]
        best = min(found, key=lambda one: float(one.fun))
        self._settings = np.asarray(best.x, dtype=np.float64)
        root, _, _ = self._fit(self._settings)
        self._weights = cho_solve((root, True), self._costs)
        inverse = cho_solve((root, True), np.eye(len(root)))
        own = np.diag(inverse)
        self.leave_one_out: NDArray[np.float64] = np.sqrt(self._spread) * self._weights / own
        variance = self._spread / own
        squares = self.leave_one_out**2 / variance + np.log(2.0 * np.pi * variance)
        self.log_density = float(-0.5 * squares.mean())  # of a value, by all others

    def _fit(
        self, settings: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the root of the covariance, the signal's part of it, and the relevances."""
        relevance = np.exp(settings[:-2])
        signal = np.exp(settings[-2] - 0.5 * np.tensordot(relevance, self._distances, 1))
        covariance = signal + np.diag(self._noise + np.exp(settings[-1]) + 1e-9)
        return cholesky(covariance, lower=True, check_finite=False), signal, relevance

    def _objective(self, settings: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the negative log posterior of the settings, and its gradient."""
        try:
            root, signal, relevance = self._fit(settings)
        except LinAlgError:
            return 1e12, np.zeros_like(settings)
        weights = cho_solve((root, True), self._costs)
        value = 0.5 * float(self._costs @ weights) + float(np.log(np.diag(root)).sum())
        value += _PRIOR * float(relevance.sum())
        # eq. 5.9; the settings are logarithms, so each derivative is times its setting
        inner = cho_solve((root, True), np.eye(len(root))) - np.outer(weights, weights)
        shared = inner * signal
        gradient = np.empty_like(settings)
        gradient[:-2] = -0.25 * np.tensordot(self._distances, shared, 2) * relevance
        gradient[:-2] += _PRIOR * relevance
        gradient[-2] = 0.5 * float(shared.sum())
        gradient[-1] = 0.5 * float(np.trace(inner)) * float(np.exp(settings[-1]))
        return value, gradient

    def __call__(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the posterior mean, shape (k,), at features of shape (k, d, 2)."""
        relevance = np.exp(self._settings[:-2])
        parts = [
            np.exp(
                self._settings[-2]
                - 0.5 * np.tensordot(relevance, _distances(some, self._features), 1)
            )
            @ self._weights
            for some in np.split(features, range(_AT_ONCE, len(features), _AT_ONCE))
        ]
        return np.asarray(self._mean + np.sqrt(self._spread) * np.concatenate(parts))


def _distances(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return squared distances by parameter, shape (d, k, m); 1 for another choice."""
    left, right = one.transpose(1, 2, 0), other.transpose(1, 2, 0)
    found = (left[:, 0, :, None] - right[:, 0, None, :]) ** 2
    for j in np.flatnonzero(left[:, 1].any(axis=1) | right[:, 1].any(axis=1)):
        found[j] += left[j, 1, :, None] != right[j, 1, None, :]
    return found
