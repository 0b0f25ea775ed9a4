"""Draws of a model by importance sampling around its mode, or by chains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from racer.errors import warn
from racer.seeding import rng_for
from racer.stats._sampling.diagnostics import effective_size, r_hat
from racer.stats._sampling.hmc import CHAINS, Sampler
from racer.stats._sampling.importance import ENOUGH, GOOD, choose, importance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.stats._sampling.model import Laplace, Model

M = TypeVar("M", bound="Model")

R_HAT = 1.01
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
        chains, divergences = sampler.run(each * 2**attempt)
        worst = float(r_hat(chains).max())
        if worst <= R_HAT:
            break
    else:
        warn(
            f"the chains have not met (R-hat {worst:.3f}): ask for more draws, and look whether "
            "the data say anything about all candidates"
        )
    flat = chains.reshape(-1, chains.shape[2])
    kept = flat[np.linspace(0, len(flat) - 1, draws).round().astype(int)]
    return Posterior(kept, "hmc", float(effective_size(chains).min()), worst, divergences)


def sample(models: Sequence[M], draws: int, seed: int) -> tuple[Posterior, M]:
    """Draw by importance in the first coordinates that suit it, else by chains.

    The draws are in the coordinates of the model returned; same seed, same draws.
    """
    rng = rng_for(seed, "importance")
    tried: list[tuple[float, Laplace, M]] = []

    def accepted(fraction: float, laplace: Laplace, model: M) -> Posterior | None:
        found = (
            importance(model, laplace, fraction, draws, rng) if fraction > ENOUGH / 2.0 else None
        )
        return found and Posterior(found.draws, "importance", found.ess, 1.0, 0)

    for model in models:
        fraction, laplace = choose(model, rng)
        if fraction >= GOOD and (posterior := accepted(fraction, laplace, model)):
            return posterior, model
        tried.append((fraction, laplace, model))
    tried.sort(key=lambda one: -one[0])
    for fraction, laplace, model in tried:
        if fraction < GOOD and (posterior := accepted(fraction, laplace, model)):
            return posterior, model
    _, laplace, model = tried[0]
    # thousands of small products: threads would spend their time waiting for each other
    with threadpool_limits(limits=1, user_api="blas"):
        return _chains(draws, Sampler(model, laplace, rng_for(seed, "chains"))), model
