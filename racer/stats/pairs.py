"""Signed ranks of many pairs at once: the same sums and p-values as of each pair by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._numerics import TIE
from racer.stats.signed_rank import ROUNDING, upper_tail

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
        """Return the same with the first and the second of some pairs exchanged."""
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
    """Return the same for rows of x and of y, (k, n)."""
    known = ~(np.isnan(x) | np.isnan(y))
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = np.minimum(x, y), np.maximum(x, y)
        gap = high - low
        near = gap <= TIE * np.maximum(np.abs(low), np.abs(high))
        tie = (x == y) | (near & np.isfinite(gap)) | ~known
        z = np.where(tie, 0.0, y - x)
        largest = np.where(tie, np.abs(low), np.maximum(np.abs(low), np.abs(high)))
    slack = np.where(known & np.isfinite(x) & np.isfinite(y), ROUNDING * largest, 0.0)
    order = np.argsort(np.where(known, np.abs(z), -1.0), axis=1, kind="stable")
    z, slack = np.take_along_axis(z, order, 1), np.take_along_axis(slack, order, 1)
    size, start = np.abs(z), np.zeros((len(z), 1))
    with np.errstate(invalid="ignore"):  # inf - inf: one level
        new = np.diff(size, axis=1, prepend=start) > slack + np.hstack([start, slack[:, :-1]])
    ranks = _ranks(new)
    better, worse = (np.where(side, ranks, 0.0).sum(axis=1) for side in (z > 0.0, z < 0.0))
    nothing = ~known.any(axis=1)
    p_values = np.full(len(z), np.nan)
    if test:
        most = np.maximum(better, worse).tolist()
        tails = [upper_tail(t, row[row > 0.0]) for t, row in zip(most, ranks, strict=True)]
        p_values = np.minimum(1.0, 2.0 * np.array(tails))
    for values in (better, worse, p_values):
        values[nothing] = np.nan
    return PairRanks(better, worse, p_values)


def _ranks(new: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return ranks, those of a level averaged, by where levels begin in rows (k, n); 0 before."""
    n = new.shape[1]
    places = np.arange(n)
    first = np.maximum.accumulate(np.where(new, places, -1), axis=1)
    ends = np.where(new, places, n)[:, ::-1]
    after = np.minimum.accumulate(ends, axis=1)[:, ::-1]
    last = np.hstack([after[:, 1:], np.full((len(new), 1), n)])
    ties = (first < 0).sum(axis=1, keepdims=True)
    return np.where(first < 0, 0.0, (first + 1 + last) / 2.0 - ties)
