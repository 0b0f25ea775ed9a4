"""Draws of a model by importance sampling around its mode, or by chains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from racer.errors import warn
from racer.seeding import rng_for
from racer.stats._sampling.chains import CHAINS, Sampler, effective_size, r_hat
from racer.stats._sampling.model import Laplace, cholesky, find_mode, log_density

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.stats._sampling.model import Model

M = TypeVar("M", bound="Model")

R_HAT = 1.01
_ENOUGH, _GOOD = 0.25, 0.5  # effective fraction of the points
_PILOT = 1024
_ROUNDS = 4
_SHORTEST = 200  # draws of a chain, below which R-hat says little


@dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of a model's unconstrained vector, and how far they can be trusted."""

    draws: NDArray[np.float64] = field(repr=False)
    method: Literal["importance", "hmc"]
    ess: float  # independent draws that these are worth; of chains, in the worst coordinate
    r_hat: float  # the largest of all coordinates; 1 for importance sampling
    divergences: int  # trajectories that broke off: 0 or few

    @property
    def converged(self) -> bool:
        """R-hat is at most 1.01, and of a thousand trajectories not one broke off."""
        return self.r_hat <= R_HAT and self.divergences <= len(self.draws) / 1000


def _chains(draws: int, sampler: Sampler) -> Posterior:
    """Run chains, twice as long each time until they agree; keep the last part."""
    each = max(-(-draws // CHAINS), _SHORTEST)
    for attempt in range(_ROUNDS):
        chains = sampler.run(each * 2**attempt)
        worst = float(r_hat(chains).max())
        if worst <= R_HAT:
            break
    else:
        warn(
            f"the chains have not met (R-hat {worst:.3f}): ask for more draws, and check that "
            "there are data on all candidates"
        )
    flat = chains.reshape(-1, chains.shape[2])
    kept = flat[np.linspace(0, len(flat) - 1, draws).round().astype(int)]
    ess = float(effective_size(chains).min())
    return Posterior(kept, "hmc", ess, worst, sampler.divergences)


def sample(models: Sequence[M], draws: int, seed: int) -> tuple[Posterior, M]:
    """Return draws, and their model: by importance for the first that suits it, else by chains."""
    rng = rng_for(seed, "importance")
    tried: list[tuple[float, Laplace, M]] = []

    for model in models:
        fraction, laplace = choose(model, rng)
        if fraction >= _GOOD and (posterior := importance(model, laplace, fraction, draws, rng)):
            return posterior, model
        tried.append((fraction, laplace, model))
    tried.sort(key=lambda one: -one[0])
    for fraction, laplace, model in tried:
        if _ENOUGH / 2.0 < fraction < _GOOD and (
            posterior := importance(model, laplace, fraction, draws, rng)
        ):
            return posterior, model
    _, laplace, model = tried[0]
    # thousands of small products: threads would spend their time waiting for each other
    with threadpool_limits(limits=1, user_api="blas"):
        return _chains(draws, Sampler(model, laplace, rng_for(seed, "chains"))), model


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
    """Return whether Hill's tail index of the weights exceeds 1/2: their variance is infinite."""
    count = int(min(len(weights) / 5, 3.0 * np.sqrt(len(weights))))
    # as many of the largest as Pareto smoothing takes (Vehtari et al. 2015)
    largest = np.maximum(np.sort(weights)[-count - 1 :], 1e-300)
    return bool(np.mean(np.log(largest[1:] / largest[0])) > 0.5)


def _refit(model: Model, laplace: Laplace, rng: np.random.Generator) -> Laplace:
    """Return the normal law with the moments of weighted points."""
    points, weights = weigh(model, laplace, 2 * _PILOT, rng)
    mean = weights @ points
    away = points - mean
    covariance = (away * weights[:, None]).T @ away
    # a few heavy weights alone would leave the covariance singular
    floor = 1e-3 * laplace.factor @ laplace.factor.T
    return Laplace(mean, cholesky(covariance + floor)).rounded()


def choose(model: Model, rng: np.random.Generator) -> tuple[float, Laplace]:
    """Return the better of two proposals, mode and moments, after its effective fraction."""
    laplace = find_mode(model)
    fraction = _fraction(weigh(model, laplace, _PILOT, rng)[1])
    if fraction < _GOOD:
        other = _refit(model, laplace, rng)
        other_fraction = _fraction(weigh(model, other, _PILOT, rng)[1])
        if other_fraction > fraction:
            return other_fraction, other
    return fraction, laplace


def _fraction(weights: NDArray[np.float64]) -> float:
    return float(1.0 / (weights**2).sum() / len(weights))


def importance(
    model: Model, laplace: Laplace, expected: float, draws: int, rng: np.random.Generator
) -> Posterior | None:
    """Return draws from the model, or None where too few of the points carry the weight."""
    count = draws * (2 if expected >= _GOOD else 4)
    points, weights = weigh(model, laplace, count, rng)
    fraction = _fraction(weights)
    if fraction < _ENOUGH or _heavy(weights):
        return None
    # systematic resampling: one random offset for all draws, so counts are off by less than one
    places = np.cumsum(weights).searchsorted((np.arange(draws) + rng.random()) / draws)
    chosen = points[np.minimum(places, len(points) - 1)]
    ess = 1.0 / (1.0 / (fraction * len(points)) + 1.0 / draws)
    return Posterior(rng.permutation(chosen), "importance", ess, 1.0, 0)
