"""For races on a model: the probability that each candidate is the best, and drops by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._numerics import one_blas_thread
from racer.deciders.parts.verdicts import drops
from racer.seeding import rng_for
from racer.stats._sampling.engine import weigh

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from racer.deciders.decider import Drop
    from racer.stats._sampling.model import Laplace, Model


class Chances(NamedTuple):
    """The probability of each of being the best, (m,), and how many draws that is worth."""

    best: NDArray[np.float64]
    effective_draws: float


def chances(
    model: Model,
    laplace: Laplace,
    strengths: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    draws: int,
    seed: int,
) -> Chances:
    """Return how probably each of m has the largest strength; `strengths` maps (k, d) to (k, m)."""
    rng = rng_for(seed, "points", len(laplace.mode))
    with one_blas_thread():
        points, weights = weigh(model, laplace, draws, rng)
        first = np.argmax(strengths(points), axis=1)
    best = np.bincount(first, weights, minlength=strengths(points[:1]).shape[1])
    return Chances(best.astype(np.float64), float(1.0 / (weights**2).sum()))


def drop_unlikely(
    candidates: NDArray[np.intp],
    standing: NDArray[np.float64],
    best: NDArray[np.float64],
    threshold: float,
) -> tuple[Drop, ...]:
    """Drop whose probability of being best is below threshold / m, but none that stands first."""
    eliminated = (best < threshold / len(best)) & (standing > standing.min())
    order = np.lexsort((-standing, best))
    order = order[eliminated[order]]
    leader = int(standing.argmin())
    return drops(candidates, order, "unlikely", leader, best[order], "posterior")
