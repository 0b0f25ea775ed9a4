"""Dirichlet weights g_j / sum(g) of blocks, drawn as Gammas and kept as running sums.

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

_CHUNK = 64
_HELD = 1 << 15  # pairs, more than 200 candidates make: beyond, sums are added up each time
_PATIENCE = 20  # blocks


def gamma_weights(seed: int, block: int, draws: int) -> NDArray[np.float32]:
    """Gamma(1) weights of one block in every draw: a function of seed and block alone."""
    return rng_for(seed, "draws", block).standard_exponential(draws, dtype=np.float32)


def better_minus_worse(
    costs: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float32]:
    """+1 where `first` has the smaller cost, -1 where the larger, 0 where they tie; n x k."""
    a, b = costs[:, first], costs[:, second]
    return np.subtract(a < b, a > b, dtype=np.float32)


def fraction_above_zero(lead: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the fraction of draws above zero, (k, draws) to (k,); zeros count one half."""
    above = np.count_nonzero(lead > 0.0, axis=1) + np.count_nonzero(lead >= 0.0, axis=1)
    return np.asarray(above / (2.0 * lead.shape[1]), dtype=np.float64)


class PairSums:
    """For pairs of m candidates that were asked for, draws of sum_j g_j (better minus worse)_j."""

    def __init__(self, m: int, draws: int, seed: int) -> None:
        self._seed = seed
        self._draws = draws
        self._gammas = RowBuffer(draws, np.float32)
        self._m = m
        self._slots: dict[int, int] = {}  # rows in _sums of pairs i < j, by i m + j
        self._pairs = np.empty((2, 0), dtype=np.intp)  # the pair of each row
        self._sums = RowBuffer(draws, np.float32)
        self._asked = np.empty(0, dtype=np.intp)  # when each row was last asked for
        self._seen = 0  # blocks in the sums

    def keep(self, positions: NDArray[np.intp]) -> None:
        """Forget all candidates but those at the given positions."""
        place = np.full(self._m, -1)
        place[positions] = np.arange(len(positions))
        self._m, pairs = len(positions), place[self._pairs]
        rows = np.flatnonzero((pairs >= 0).all(axis=0))
        self._keep_rows(rows[np.lexsort(pairs[::-1, rows])], pairs)

    def _keep_rows(self, rows: NDArray[np.intp], pairs: NDArray[np.intp]) -> None:
        """Keep the sums in these rows, which belong to these of the `pairs`, and renumber."""
        self._sums.keep(rows=rows)
        self._asked, self._pairs = self._asked[rows], pairs[:, rows]
        self._slots = {key: row for row, key in enumerate(self._keys(*self._pairs))}

    def _keys(self, low: NDArray[np.intp], high: NDArray[np.intp]) -> list[int]:
        keys: list[int] = (low * self._m + high).tolist()
        return keys

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
        for block in range(len(self._gammas), len(costs)):
            self._gammas.append(gamma_weights(self._seed, block, self._draws))
        self._catch_up(costs)
        for start in range(0, len(better), _CHUNK):
            part = slice(start, start + _CHUNK)
            if len(self._sums) + _CHUNK > _HELD:
                signs = better_minus_worse(costs, better[part], worse[part])
                yield signs.T @ self._gammas.rows
                continue
            low = np.minimum(better[part], worse[part])
            high = np.maximum(better[part], worse[part])
            self._add_pairs(costs, low, high)
            rows = np.array([self._slots[key] for key in self._keys(low, high)])
            self._asked[rows] = len(costs)
            sums = self._sums.rows[rows]
            sums *= np.where(better[part] == low, np.float32(1), np.float32(-1))[:, None]
            yield sums

    def _catch_up(self, costs: NDArray[np.float64]) -> None:
        stale = self._asked < self._seen - _PATIENCE
        if 2 * np.count_nonzero(stale) > len(stale):
            self._keep_rows(np.flatnonzero(~stale), self._pairs)
        if len(self._sums):
            signs = better_minus_worse(costs[self._seen :], *self._pairs)
            for start in range(0, len(self._sums), _CHUNK):  # what fits in the cache
                sums = self._sums.rows[start : start + _CHUNK]
                for sign, gammas in zip(signs, self._gammas.rows[self._seen :], strict=True):
                    sums += sign[start : start + _CHUNK, None] * gammas
        self._seen = len(costs)

    def _add_pairs(
        self, costs: NDArray[np.float64], low: NDArray[np.intp], high: NDArray[np.intp]
    ) -> None:
        keys = self._keys(low, high)
        new = [at for at, key in enumerate(keys) if key not in self._slots]
        if new:
            pairs = np.stack([low[new], high[new]])
            self._slots |= {keys[at]: len(self._sums) + i for i, at in enumerate(new)}
            self._pairs = np.concatenate([self._pairs, pairs], axis=1)
            self._asked = np.append(self._asked, np.zeros(pairs.shape[1], dtype=np.intp))
            self._sums.extend(better_minus_worse(costs, *pairs).T @ self._gammas.rows)
