"""Ranks and pairwise wins of the candidates still in, kept up block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer._numerics import RowBuffer
from racer.stats.friedman import RankSums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders.decider import Blocks

_CELLS = 1 << 20  # comparisons held at once
_FEW = 64  # candidates, up to which comparing them with each other is faster than sorting
_MANY = 1024  # candidates, above which wins take two bytes each


class RunningRanks:
    """Ranks of m candidates measured from (m+1)/2, and their pairwise wins.

    A rank is half of (opponents that are better minus opponents that are worse).
    """

    def __init__(self, m: int) -> None:
        self.candidates: NDArray[np.intp] = np.arange(m)
        self._wins: NDArray[Any] | None = None  # of the first `_counted` blocks
        self._counted = 0
        self._deviation = np.zeros(m)
        self._within = 0.0
        self._costs = RowBuffer(m, np.float64)
        self._ranks = RowBuffer(m, np.float64)
        self._instances: list[int] | None = []

    @property
    def n(self) -> int:
        """Blocks so far."""
        return len(self._costs)

    @property
    def costs(self) -> NDArray[np.float64]:
        """Costs so far, shape (n, m)."""
        return self._costs.rows

    @property
    def ranks(self) -> NDArray[np.float64]:
        """Ranks so far, measured from (m+1)/2, shape (n, m)."""
        return self._ranks.rows

    @property
    def sums(self) -> RankSums:
        """Sums for the tests of the Friedman family."""
        return RankSums(self.n, self._deviation, self._within)

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean ranks, measured from (m+1)/2, shape (m,)."""
        return self._deviation / max(self.n, 1)

    @property
    def repeated(self) -> NDArray[np.intp] | None:
        """The instance of each block, (n,); None if none is used twice, or they are not known."""
        known = self._instances
        if known is None or len(set(known)) == len(known):
            return None
        return np.array(known, dtype=np.intp)

    def update(self, blocks: Blocks) -> NDArray[np.intp] | None:
        """Forget the eliminated, add the new blocks; return the positions kept, None if all are."""
        kept = None
        if len(blocks.candidates) != len(self.candidates):
            kept = np.searchsorted(self.candidates, blocks.candidates)
            self._keep(kept)
        if blocks.instances is None:
            self._instances = None
        elif self._instances is not None:
            self._instances += np.asarray(blocks.instances).tolist()
        self._add(blocks.costs)
        return kept

    @property
    def wins(self) -> NDArray[Any]:
        """In how many blocks i beats j, (m, m): counted when asked for; as int16 for many."""
        m = len(self.candidates)
        if self._wins is None:
            kind = np.int16 if m > _MANY and self.n < np.iinfo(np.int16).max else np.int64
            self._wins = np.zeros((m, m), dtype=kind)
        elif self.n > np.iinfo(self._wins.dtype).max:
            self._wins = self._wins.astype(np.int64)
        step = max(1, _CELLS // m)
        for block in self.costs[self._counted :]:
            for start in range(0, m, step):
                some = slice(start, start + step)
                self._wins[some] += block[some, None] < block
        self._counted = self.n
        return self._wins

    def _add(self, blocks: NDArray[np.float64]) -> None:
        step = max(1, _CELLS // len(self.candidates) ** 2)
        for start in range(0, len(blocks), step):
            costs = blocks[start : start + step]
            ranks = _centred_ranks(costs)
            self._deviation += np.add.reduce(ranks, axis=0)
            self._within += float(np.vdot(ranks, ranks))
            self._costs.extend(costs)
            self._ranks.extend(ranks)

    def _keep(self, kept: NDArray[np.intp]) -> None:
        """Rank the remaining candidates anew on all blocks."""
        m, costs = len(kept), self.costs[:, kept]
        self.candidates = self.candidates[kept]
        if self._wins is not None:
            self._wins = self._wins[np.ix_(kept, kept)]
        self._deviation, self._within = np.zeros(m), 0.0
        self._costs, self._ranks = RowBuffer(m, np.float64), RowBuffer(m, np.float64)
        self._add(costs)


def _centred_ranks(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of costs (n, m) in their rows, measured from (m+1)/2."""
    if costs.shape[1] > _FEW:
        return _sorted_ranks(costs)
    beats = costs[:, :, None] < costs[:, None, :]
    ranks = np.add.reduce(beats, axis=1, dtype=np.float64)
    ranks -= np.add.reduce(beats, axis=2, dtype=np.float64)
    ranks *= 0.5
    return np.asarray(ranks)


def _sorted_ranks(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the same as `_centred_ranks`, for many candidates."""
    ranks = np.empty(costs.shape)
    for row, ordered, into in zip(costs, np.sort(costs, axis=1), ranks, strict=True):
        into[:] = ordered.searchsorted(row) + ordered.searchsorted(row, "right")
    ranks -= costs.shape[1]
    ranks *= 0.5
    return ranks


def instance_means(values: NDArray[np.float64], instances: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the means of blocks (n, m) over each instance, one row per instance."""
    found, at, count = np.unique(instances, return_inverse=True, return_counts=True)
    sums = np.zeros((len(found), values.shape[1]))
    np.add.at(sums, at, values)
    return np.asarray(sums / count[:, None])


def first_by_ranks(ranks: RunningRanks) -> int:
    """Return the place of the best by mean rank, then by ranks block after block."""
    keys = np.vstack([ranks.sums.deviation, ranks.ranks])
    return int(np.lexsort(keys[::-1])[0])
