"""Posterior draws for signed-rank statements, kept up block by block.

theta > 1/2 where sum_jk g_j g_k sign(Z_j + Z_k) > 0 (Benavoli et al. 2014, Theorem 2); a new block
t adds 2 g_t sum_{j<t} g_j sign(Z_t + Z_j) and g_t^2 sign(Z_t).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._numerics import RowBuffer, one_blas_thread
from racer.seeding import rng_for
from racer.stats.dirichlet import fraction_above_zero, gamma_weights
from racer.stats.signed_rank import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Bounds(NamedTuple):
    """Least and greatest probability, (m,), that a candidate is better, by priors of a weight."""

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


class _Differences(NamedTuple):
    """Z of a candidate and all others, (n, m), in its favour, and its rounding error."""

    z: NDArray[np.float64]
    slack: NDArray[np.float64]

    @classmethod
    def between(cls, costs: NDArray[np.float64], place: int) -> _Differences:
        own = costs[:, place, None]
        with np.errstate(over="ignore", invalid="ignore"):
            z = np.where(costs == own, 0.0, costs - own)
        size = np.maximum(np.abs(costs), np.abs(own))
        return cls(z, np.where(np.isfinite(size), ROUNDING * size, 0.0))

    def signs(self, block: int) -> NDArray[np.float64]:
        """Return the signs of Z + Z' for a block and all up to it, (block + 1, m)."""
        with np.errstate(over="ignore", invalid="ignore"):
            pairs = self.z[: block + 1] + self.z[block]
            near = np.abs(pairs) <= self.slack[: block + 1] + self.slack[block]
        pairs[near | np.isnan(pairs)] = 0.0  # inf - inf: equal sizes
        return np.asarray(np.sign(pairs))


@dataclass
class _Sums:
    lead: NDArray[np.float64]  # (m, draws)
    seen: int  # blocks


class WalshSums:
    """For a candidate and each of m, the weight of pairs of blocks for it minus against."""

    def __init__(self, m: int, draws: int, ignorance: float, seed: int) -> None:
        self._seed, self._m = seed, m
        self._gammas = RowBuffer(draws, np.float64)
        self._total = np.zeros(draws)
        self._prior = rng_for(seed, "prior").standard_gamma(ignorance, draws)
        self._sums: dict[int, _Sums] = {}

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Keep only the candidates at the given positions."""
        self._m = len(kept)
        self._sums = {
            new: _Sums(self._sums[old].lead[kept], self._sums[old].seen)
            for new, old in enumerate(kept.tolist())
            if old in self._sums
        }

    def probabilities(self, place: int, costs: NDArray[np.float64]) -> Bounds:
        """Return the probabilities that the candidate at `place` is better; costs so far (n, m)."""
        draws = len(self._total)
        for block in range(len(self._gammas), len(costs)):
            self._gammas.append(gamma_weights(self._seed, block, draws))
            self._total += self._gammas.rows[block]
        sums = self._sums.setdefault(place, _Sums(np.zeros((self._m, draws)), 0))
        differences, gammas = _Differences.between(costs, place), self._gammas.rows
        with one_blas_thread():
            for block in range(sums.seen, len(costs)):
                signs = 2.0 * differences.signs(block)
                # the pair of a block with itself counts once, all others in both orders
                signs[block] /= 2.0
                sums.lead += (signs.T @ gammas[: block + 1]) * gammas[block]
        sums.seen = len(costs)
        atom = self._prior * (2.0 * self._total + self._prior)
        return Bounds(fraction_above_zero(sums.lead - atom), fraction_above_zero(sums.lead + atom))
