"""Bets that are made for a known number of blocks: evidence is due at their end, not on the way."""

from __future__ import annotations

import math

import numpy as np
import scipy  # its parts are imported when they are used
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_VARIANCE, _BLOCKS = 1.85, 4.0  # of the sizes of a block, before any is seen, and what that weighs
_SLACK = (
    0.5  # the end is aimed at beyond the level that is needed, as steps are not infinitely small
)
_LEAST = 1e-12  # weight of an opponent
_SAFE = 0.98  # of the largest bet that cannot ruin


class Horizon:
    """For each of m candidates, d metrics and opponents: bets that it is worse by the last block.

    Until block `begins` differences are looked at only; then weights of the opponents are chosen, by
    how probable it looks that they are better in every metric. From there on each pair and metric
    bets so as to replicate the payment "weight / level if the sum of differences is beyond its
    quantile on the last block": a fair bet for candidates that are not worse, for any sizes, as
    only the sign is bet on. `share` is the part of all wealth that is in these bets.
    """

    def __init__(
        self, m: int, d: int, *, begins: int, ends: int, level: float, share: float, largest: float
    ) -> None:
        self._begins, self._ends = begins, ends
        self._level, self._largest = level * share * _SLACK, largest
        self._n = 0
        self._start = m
        self._sums = np.zeros((d, m, m))
        self._squares = np.zeros((d, m, m))
        self._logs = np.zeros((d, m, m))
        self._weights: Floats | None = None
        self._quantiles = np.zeros((m, m))

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Keep only the candidates at these positions."""
        grid = np.ix_(kept, kept)
        for name in ("_sums", "_squares", "_logs"):
            table = getattr(self, name)
            setattr(self, name, table[:, grid[0], grid[1]])
        self._quantiles = self._quantiles[grid]
        if self._weights is not None:
            self._weights = self._weights[grid]

    def add(self, signed: Floats) -> None:
        """Settle the bets of a block: differences by sign and relative size, (d, m, m)."""
        if self._begins <= self._n < self._ends:
            self._bet(signed)
        self._sums += signed
        self._squares += signed**2
        self._n += 1
        if self._n == self._begins:
            self._choose()

    def _spread(self) -> Floats:
        """Return the variances of a block's differences, (d, m, m)."""
        return np.asarray((self._squares + _VARIANCE * _BLOCKS) / (self._n + _BLOCKS))

    def _choose(self) -> None:
        """Weigh the opponents by the squared probability that they are better in every metric."""
        m = self._sums.shape[1]
        logs = 2.0 * scipy.special.log_ndtr(self._sums / np.sqrt(self._spread() * self._n)).sum(
            axis=0
        )
        np.fill_diagonal(logs, -np.inf)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        self._weights = np.asarray(weights * (m - 1) / (self._start - 1))
        self._quantiles = -scipy.special.ndtri(np.clip(self._level * self._weights, 1e-300, 0.4))
        # blocks that chose the weights are no evidence as well: the sums of the bets begin here
        self._sums[:] = 0.0

    def _bet(self, signed: Floats) -> None:
        variance, done = self._spread(), self._n - self._begins
        all_blocks, rest = self._ends - self._begins, self._ends - self._begins - done
        deviation = np.sqrt(variance * rest)
        due = (self._sums - self._quantiles * np.sqrt(variance * all_blocks)) / deviation
        # a delta hedge: the slope of log P(the sum ends beyond its quantile) in the sum so far
        rate = (
            np.exp(-0.5 * due**2 - 0.5 * math.log(2.0 * math.pi) - scipy.special.log_ndtr(due))
            / deviation
        )
        rate = np.where(np.asarray(self._weights) > _LEAST, rate, 0.0)
        self._logs += np.log1p(np.minimum(rate, _SAFE / self._largest) * signed)

    def log_e(self, more: int = 0) -> Floats:
        """Return log E_ij with its weight, (m, m), after `more` blocks that are the worst for i."""
        if self._weights is None:
            return np.full(self._quantiles.shape, -math.log(self._start - 1))
        left = min(more, max(self._ends - self._n, 0))
        with np.errstate(divide="ignore"):
            return np.asarray(
                np.log(self._weights) + self._logs.min(axis=0) + left * math.log1p(_SAFE)
            )
