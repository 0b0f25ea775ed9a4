"""Importance sampling around the mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.stats._sampling.model import Laplace, cholesky, find_mode, log_density

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.stats._sampling.model import Model

ENOUGH = 0.25  # effective fraction of the points
GOOD = 0.5
_PILOT = 1024


class Weighted(NamedTuple):
    """Draws of equal weight, and the effective number of independent ones behind them."""

    draws: NDArray[np.float64]
    ess: float


def weigh(
    model: Model, laplace: Laplace, count: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points from Student's t around the mode, and their weights, which sum to 1."""
    d = len(laplace.mode)
    freedom = 5.0 + 2.0 * d  # tails that outlast those of a likelihood that levels off
    z = rng.standard_normal((count, d))
    z *= np.sqrt(freedom / rng.chisquare(freedom, count))[:, None]
    proposed = -0.5 * (freedom + d) * np.log1p((z**2).sum(axis=1) / freedom)
    points = laplace.at(z)
    weights = log_density(model, points) - proposed
    weights = np.exp(weights - weights.max())
    return points, weights / weights.sum()


def _heavy(weights: NDArray[np.float64]) -> bool:
    """Say whether Hill's tail index of the weights exceeds 1/2: their variance is infinite."""
    count = int(min(len(weights) / 5, 3.0 * np.sqrt(len(weights))))
    largest = np.maximum(np.sort(weights)[-count - 1 :], 1e-300)
    return bool(np.mean(np.log(largest[1:] / largest[0])) > 0.5)


def _refit(model: Model, laplace: Laplace, rng: np.random.Generator) -> Laplace:
    """Return the normal law with the moments of weighted points."""
    points, weights = weigh(model, laplace, 2 * _PILOT, rng)
    mean = weights @ points
    away = points - mean
    covariance = (away * weights[:, None]).T @ away
    floor = 1e-3 * laplace.factor @ laplace.factor.T
    return Laplace(mean, cholesky(covariance + floor)).rounded()


def choose(model: Model, rng: np.random.Generator) -> tuple[float, Laplace]:
    """Return the better of two proposals, mode and moments, after its effective fraction."""
    laplace = find_mode(model)
    fraction = _fraction(weigh(model, laplace, _PILOT, rng)[1])
    if fraction < GOOD:
        other = _refit(model, laplace, rng)
        other_fraction = _fraction(weigh(model, other, _PILOT, rng)[1])
        if other_fraction > fraction:
            return other_fraction, other
    return fraction, laplace


def _fraction(weights: NDArray[np.float64]) -> float:
    return float(1.0 / (weights**2).sum() / len(weights))


def importance(
    model: Model, laplace: Laplace, expected: float, draws: int, rng: np.random.Generator
) -> Weighted | None:
    """Return draws from the model, or None where too few of the points carry the weight."""
    count = draws * (2 if expected >= GOOD else 4)
    points, weights = weigh(model, laplace, count, rng)
    fraction = _fraction(weights)
    if fraction < ENOUGH or _heavy(weights):
        return None
    places = np.cumsum(weights).searchsorted((np.arange(draws) + rng.random()) / draws)
    chosen = points[np.minimum(places, len(points) - 1)]
    return Weighted(rng.permutation(chosen), 1.0 / (1.0 / (fraction * len(points)) + 1.0 / draws))
