"""Dirichlet weights of blocks, drawn as Gammas and kept as running sums.

The posterior of the Dirichlet process gives block j the weight g_j / sum(g) with independent
g_j ~ Gamma(1), and the prior atom g_0 ~ Gamma(s) (Benavoli et al. 2015, eq. 7). Statements
about the sign of a weighted sum do not need the division, and a new block adds its own Gammas
to the sums of the blocks before: what is known is never computed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer.seeding import rng_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PairSums", "RowBuffer", "better_minus_worse"]


class RowBuffer:
    """Rows of one width, appended in amortised constant time."""

    def __init__(self, width: int, dtype: type[np.floating[Any]]) -> None:
        self._rows = np.empty((16, width), dtype)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def rows(self) -> NDArray[Any]:
        """The rows so far, shape (n, width); a view."""
        return self._rows[: self._n]

    def extend(self, rows: NDArray[Any]) -> None:
        """Append rows, shape (k, width)."""
        needed = self._n + len(rows)
        if needed > len(self._rows):
            larger = np.empty((max(needed, 2 * self._n), self._rows.shape[1]), self._rows.dtype)
            larger[: self._n] = self.rows
            self._rows = larger
        self._rows[self._n : needed] = rows
        self._n = needed

    def keep(
        self, *, rows: NDArray[np.intp] | None = None, columns: NDArray[np.intp] | None = None
    ) -> None:
        """Forget all rows, or all columns, but the given ones."""
        kept = self.rows
        if rows is not None:
            kept = kept[rows]
        if columns is not None:
            kept = kept[:, columns]
        self._rows = np.ascontiguousarray(kept)
        self._n = len(kept)


def better_minus_worse(
    costs: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float32]:
    """+1 where `first` has the smaller cost, -1 where the larger, 0 where they tie; n x k."""
    a, b = costs[:, first], costs[:, second]
    return np.subtract(a < b, a > b, dtype=np.float32)


class PairSums:
    """For pairs of candidates, the sum over blocks of g_j times (better minus worse).

    Its sign in a draw says whether theta > 1/2 there; the prior atom is a tie and adds nothing.
    A pair is summed from its first use on, and each block goes into each pair once.

    Parameters
    ----------
    m : int
        Candidates.
    draws : int
    seed : int
        Same seed, same draws: the Gammas of a block depend on seed and block number alone.
    """

    def __init__(self, m: int, draws: int, seed: int) -> None:
        self._seed = seed
        self._draws = draws
        self._gammas = RowBuffer(draws, np.float32)
        self._slots = np.full((m, m), -1, dtype=np.intp)
        self._sums = RowBuffer(draws, np.float32)
        self._seen = np.zeros(0, dtype=np.intp)  # blocks that went into each slot

    def keep(self, positions: NDArray[np.intp]) -> None:
        """Forget all candidates but those at the given positions."""
        slots = self._slots[np.ix_(positions, positions)]
        used = slots >= 0
        self._sums.keep(rows=slots[used])
        self._seen = self._seen[slots[used]]
        slots[used] = np.arange(used.sum())
        self._slots = slots

    def add_block(self) -> None:
        """Draw the Gammas of the next block."""
        rng = rng_for(self._seed, "draws", len(self._gammas))
        self._gammas.extend(rng.standard_exponential((1, self._draws), dtype=np.float32))

    def of(
        self, costs: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return the sums of distinct pairs over all blocks, shape (k, draws).

        Parameters
        ----------
        costs : ndarray, shape (n, m)
            One row per block added, columns by position.
        first, second : ndarray of int, shape (k,)
            Positions of the candidates of each pair.
        """
        low, high = np.minimum(first, second), np.maximum(first, second)
        slots = self._slots[low, high]
        new = np.flatnonzero(slots < 0)
        if len(new):
            slots[new] = len(self._sums) + np.arange(len(new))
            self._slots[low[new], high[new]] = slots[new]
            self._sums.extend(np.zeros((len(new), self._draws), np.float32))
            self._seen = np.append(self._seen, np.zeros(len(new), np.intp))
        self._catch_up(costs, slots, low, high)
        orientation = np.where(first == low, np.float32(1), np.float32(-1))
        return self._sums.rows[slots] * orientation[:, None]

    def _catch_up(
        self,
        costs: NDArray[np.float64],
        slots: NDArray[np.intp],
        low: NDArray[np.intp],
        high: NDArray[np.intp],
    ) -> None:
        seen = self._seen[slots]
        for start in np.unique(seen[seen < len(costs)]).tolist():
            late = np.flatnonzero(seen == start)
            signs = better_minus_worse(costs[start:], low[late], high[late])
            self._sums.rows[slots[late]] += signs.T @ self._gammas.rows[start:]
        self._seen[slots] = len(costs)
