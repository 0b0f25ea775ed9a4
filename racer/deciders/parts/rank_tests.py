"""Tests on ranks and wins that several deciders ask at each test."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy  # its parts are imported when they are used

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders.parts.ranking import RunningRanks


def two_sided_sign(ranks: RunningRanks) -> float:
    """Return the p-value of the two-sided sign test of two candidates."""
    won, lost = int(ranks.wins[0, 1]), int(ranks.wins[1, 0])
    more = max(won, lost)
    return min(1.0, 2.0 * float(scipy.special.bdtrc(more - 1, won + lost, 0.5))) if more else 1.0


Test = Literal["sign", "bayesian-sign"]
_CELLS = 1 << 20  # pairs looked at together


@lru_cache(maxsize=65536)
def _least_wins(test: Test, decided: int, level: float) -> int:
    """Return the least number of wins, of `decided` blocks without tie, with a tail below level.

    P(Bin(n, 1/2) >= wins) for the sign test; P(Beta(wins, n - wins) <= 1/2) = P(Bin(n - 1, 1/2) >=
    wins) for the Bayesian one, from as many blocks on as would convince the sign test.
    """
    if 0.5**decided >= level:
        return decided + 1
    trials = decided if test == "sign" else decided - 1
    low, high = decided // 2 + 1, decided + 1
    while low < high:
        middle = (low + high) // 2
        tail = float(scipy.special.bdtrc(middle - 1, trials, 0.5)) if middle <= trials else 0.0
        if middle <= decided and tail < level:
            high = middle
        else:
            low = middle + 1
    return low


@lru_cache(maxsize=64)
def _table(test: Test, level: float, size: int) -> NDArray[np.int64]:
    """Return the least wins for 0, 1, .. blocks without tie: one table for all races."""
    least = [1, *(_least_wins(test, decided, level) for decided in range(1, size))]
    return np.array(least, dtype=np.int64)


def clear_pairs(
    wins: NDArray[Any], n: int, test: Test, level: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs (better, worse) in which `better` has won enough of n blocks for a test."""
    least, m = _table(test, level, 1 << n.bit_length()), len(wins)
    step = max(1, _CELLS // m)
    found = []
    for start in range(0, m, step):
        some = slice(start, start + step)
        better, worse = np.nonzero(wins[some] >= least[wins[some] + wins[:, some].T])
        found.append((better + start, worse))
    better, worse = (np.concatenate(places) for places in zip(*found, strict=True))
    return better, worse
