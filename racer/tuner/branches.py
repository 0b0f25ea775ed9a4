"""Branches of a conditional space: candidates with the same parameters."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from racer.tuner.drafts import NARROWEST, WIDEST, narrowing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

_SHARE = 0.3  # of the children, those around the best of other branches
_LAST = 0.3  # of the budget, in which a branch is tried only if it is promising
_ENOUGH = 6  # candidates for each parameter of a branch, before it may be given up


class Branches:
    """Candidates by which of their parameters are active: how many, the best, and how wide.

    `best` is the best candidate of each branch.
    """

    def __init__(self, fixed: int) -> None:
        self.best: dict[bytes, int] = {}
        self.spread: float = WIDEST
        self._fixed = fixed
        self._count: Counter[bytes] = Counter()
        self._active: dict[bytes, int] = {}
        self._spread: dict[bytes, float] = {}
        self._order: list[bytes] = []

    def add(self, vector: Vector) -> bytes:
        """Count a candidate; return the key of its branch: which parameters are active."""
        absent = np.isnan(vector)
        branch = absent.tobytes()
        self._count[branch] += 1
        self._active[branch] = max(int((~absent).sum()) - self._fixed, 1)
        return branch

    def note(self, ranked: Sequence[int], keys: Sequence[bytes]) -> None:
        """Note the best of each branch among candidates, best first."""
        for candidate, branch in zip(ranked[::-1], keys[::-1], strict=True):
            self.best[branch] = candidate
        self._order = list(dict.fromkeys([*keys, *self._order]))

    def allot(self, n: int, here: bytes, remaining: float) -> list[bytes]:
        """Return the branches of the children, of n, that are not around the elites.

        These are still tuned beside the first elite's, the least tuned first.
        """
        left = self.still_tuned(here, remaining)
        counts = {branch: self._count[branch] for branch in left}
        allotted = []
        for _ in range(round(_SHARE * n) if left else 0):
            least = min(left, key=counts.__getitem__)
            counts[least] += 1
            allotted.append(least)
        return allotted

    def still_tuned(self, here: bytes, remaining: float) -> list[bytes]:
        """Return the other branches than `here` that are not given up, the most promising first.

        As in halving with a fraction `remaining` of the budget left, the last ones are given up;
        not before they have had some candidates for each parameter, unless the end of the budget is
        near.
        """
        known = [branch for branch in self._order if branch != here]
        most = round((len(known) + 1) ** remaining) - 1
        return [
            branch
            for at, branch in enumerate(known)
            if at < most
            or (self._count[branch] < _ENOUGH * self._active[branch] and remaining > _LAST)
        ]

    def narrow(
        self, elites: Sequence[bytes], n: int, clarity: float, least: float = NARROWEST
    ) -> list[float]:
        """Narrow the neighbourhoods for n children around elites, best first; return the spreads.

        `elites` are their branches: each has a neighbourhood of its own. None becomes narrower than
        `least`.
        """
        m = len(elites)
        weights = Counter[bytes]()
        for at, branch in enumerate(elites):
            weights[branch] += m - at
        for branch, weight in weights.items():
            share = max(round(n * weight / (m * (m + 1) / 2)), 2)
            old = self._spread.get(branch, self.spread if branch == elites[0] else WIDEST)
            narrowed = old * narrowing(share, self._active[branch]) ** clarity
            self._spread[branch] = max(narrowed, min(old, least))
        self.spread = self._spread[elites[0]]
        return [self._spread[branch] for branch in elites]

    def wide(self, branch: bytes) -> float:
        """Return the spread around the best of a branch, the narrower the more candidates it has."""
        return WIDEST * narrowing(self._count[branch], self._active[branch])
