"""Dirichlet weights g_j / sum(g) of blocks, drawn as Gammas.

g_j ~ Gamma(1), the prior atom g_0 ~ Gamma(s) (Benavoli et al. 2015, eq. 7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import RowBuffer
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_CHUNK, _LARGER = 64, 256  # pairs at a time; where weights are drawn again for each chunk
_ROWS = 128  # blocks at a time, beyond those kept


def gamma_weights(seed: int, block: int, draws: int) -> NDArray[np.float32]:
    """Draw Gamma(1) weights of one block in every draw: a function of seed and block alone."""
    return rng_for(seed, "draws", block).standard_exponential(draws, dtype=np.float32)


def better_minus_worse(
    costs: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return +1 where `first` costs less, -1 where it costs more, 0 where they tie; n x k."""
    a, b = costs[:, first], costs[:, second]
    return np.subtract(a < b, a > b, dtype=np.float32)


def fraction_above_zero(lead: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fraction of draws above zero, (k, draws) to (k,); zeros count one half."""
    above = np.count_nonzero(lead > 0.0, axis=1) + np.count_nonzero(lead >= 0.0, axis=1)
    return np.asarray(above / (2.0 * lead.shape[1]), dtype=np.float64)


class PairSums:
    """For pairs of candidates, draws of sum_j g_j (better minus worse)_j over the blocks so far.

    Weights of the first `kept` blocks stay in memory, later ones are drawn again when needed.
    """

    def __init__(self, draws: int, seed: int, kept: int | None = None) -> None:
        self._seed, self._draws, self._kept = seed, draws, kept
        self._gammas = RowBuffer(draws, np.float32)

    def hold(
        self,
        costs: NDArray[np.float64],
        better: NDArray[np.intp],
        worse: NDArray[np.intp],
        strength: float = 0.0,
    ) -> Iterator[NDArray[np.bool_]]:
        """Yield for each of k statements, (k,), the draws in which it holds; all costs, (n, m).

        With a strength, each has a win and a loss of weights ~ Gamma(strength) before the first
        block, independently of the others.
        """
        for chunk, sums in enumerate(self._leads(costs, better, worse)):
            if strength > 0.0:
                rng = rng_for(self._seed, "pairs", chunk)
                won, lost = rng.standard_gamma(strength, (2, *sums.shape), dtype=np.float32)
                yield from sums + (won - lost) > 0
            else:
                yield from sums > 0

    def alike(
        self,
        costs: NDArray[np.float64],
        one: NDArray[np.intp],
        other: NDArray[np.intp],
        epsilon: float,
        strength: float,
    ) -> Iterator[NDArray[np.bool_]]:
        """Yield for each of k pairs, (k,), the draws in which |theta - 1/2| < epsilon; see `hold`.

        The prior atom has the weight g_0 ~ Gamma(strength), and lies where it is least favourable.
        """
        atom = rng_for(self._seed, "prior").standard_gamma(strength, self._draws)
        for sums in self._leads(costs, one, other):
            total = atom + self._gammas.rows.sum(axis=0)
            yield from np.abs(sums) + atom < 2.0 * epsilon * total

    def _leads(
        self, costs: NDArray[np.float64], better: NDArray[np.intp], worse: NDArray[np.intp]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield, some statements at a time, their sums in each draw; all costs, (n, m)."""
        n = len(costs[: self._kept])
        for block in range(len(self._gammas), n):
            self._gammas.append(gamma_weights(self._seed, block, self._draws))
        step = _CHUNK if n == len(costs) else _LARGER
        for start in range(0, len(better), step):
            some = better[start : start + step], worse[start : start + step]
            sums = better_minus_worse(costs[:n], *some).T @ self._gammas.rows
            for first in range(n, len(costs), _ROWS):
                rows = range(first, min(first + _ROWS, len(costs)))
                gammas = np.array([gamma_weights(self._seed, j, self._draws) for j in rows])
                sums += better_minus_worse(costs[first : rows.stop], *some).T @ gammas
            yield sums
