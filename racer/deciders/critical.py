"""How many of n blocks must be won for a sign test to speak: looked up, not recomputed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from racer.stats.dirichlet import RowBuffer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CriticalWins"]

Test = Literal["sign", "bayesian-sign"]


@lru_cache(maxsize=65536)
def _least_wins(test: Test, decided: int, level: float) -> int:
    """Return the least number of wins, of `decided` blocks without tie, with a tail below level.

    P(Bin(n, 1/2) >= wins) for the sign test; for the Bayesian one
    P(Beta(wins, n - wins) <= 1/2) = P(Bin(n - 1, 1/2) >= wins), 0 when all are won: a limit
    that one block reaches as well as ten, so it counts only from as many blocks on as would
    convince the sign test.
    """
    from scipy.special import bdtrc  # noqa: PLC0415

    if 0.5**decided >= level:
        return decided + 1
    trials = decided if test == "sign" else decided - 1
    low, high = decided // 2 + 1, decided + 1
    while low < high:
        middle = (low + high) // 2
        tail = float(bdtrc(middle - 1, trials, 0.5)) if middle <= trials else 0.0
        if middle <= decided and tail < level:
            high = middle
        else:
            low = middle + 1
    return low


class CriticalWins:
    """Table of critical numbers of wins, one entry per number of blocks without tie."""

    def __init__(self, test: Test, level: float) -> None:
        self._test: Test = test
        self._level = level
        self._table = RowBuffer(1, np.float64)
        self._table.append(np.array([1.0]))

    def pairs(self, wins: NDArray[np.int64], n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the pairs (better, worse) in which `better` has won enough of n blocks."""
        for decided in range(len(self._table), n + 1):
            least = _least_wins(self._test, decided, self._level)
            self._table.append(np.array([float(least)]))
        enough = wins >= self._table.rows[wins + wins.T, 0]
        better, worse = np.nonzero(enough)
        return better, worse
