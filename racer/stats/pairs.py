"""Signed ranks of many pairs at once: the same sums and p-values as of each pair by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._numerics import with_ties
from racer.stats.signed_rank import rank_sums, signed_levels, upper_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CELLS = 1 << 19  # differences at a time


class PairRanks(NamedTuple):
    """Sums of ranks in favour of the first and of the second of k pairs, (k,), and p-values."""

    better: NDArray[np.float64]
    worse: NDArray[np.float64]
    p_values: NDArray[np.float64]  # two-sided; NaN unless asked for, or without a common block

    def effect_sizes(self) -> NDArray[np.float64]:
        """Return the rank-biserial correlations, (k,): NaN without a common block."""
        total = self.better + self.worse
        return np.asarray((self.better - self.worse) / np.where(total == 0.0, 1.0, total))

    def turned(self, which: NDArray[np.bool_]) -> PairRanks:
        """Return a copy with the two sides of the chosen pairs swapped."""
        better, worse = np.where(which, (self.worse, self.better), (self.better, self.worse))
        return self._replace(better=better, worse=worse)


def pair_ranks(
    costs: NDArray[np.float64],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    *,
    test: bool = False,
) -> PairRanks:
    """Rank the differences of pairs of columns of costs (n, m), NaN where not known.

    As `rank_biserial` and, with `test`, `signed_rank_test` do: up to 200 differences exactly.
    """
    step = max(1, _CELLS // max(len(costs), 1))
    columns = np.ascontiguousarray(costs.T)
    found = [
        _some(columns[first[at : at + step]], columns[second[at : at + step]], test=test)
        for at in range(0, len(first), step)
    ]
    return PairRanks(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _some(x: NDArray[np.float64], y: NDArray[np.float64], *, test: bool) -> PairRanks:
    """Return the sums and p-values of rows of x and of y, (k, n)."""
    nothing = (np.isnan(x) | np.isnan(y)).all(axis=1)
    costs = with_ties(np.stack([x, y], axis=2).reshape(-1, 2)).T.reshape(2, *x.shape)
    better, worse, ranks = rank_sums(signed_levels(*costs))
    p_values = np.full(len(x), np.nan)
    if test:
        most = np.maximum(better, worse).tolist()
        tails = [upper_tail(t, row[row > 0.0]) for t, row in zip(most, ranks, strict=True)]
        p_values = np.minimum(1.0, 2.0 * np.array(tails))
    for values in (better, worse, p_values):
        values[nothing] = np.nan
    return PairRanks(better, worse, p_values)
