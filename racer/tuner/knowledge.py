"""What is known of each candidate on each block."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.evaluate.cell import Outcome

__all__ = ["Knowledge"]


class Knowledge:
    """All outcomes, by candidate and block; in the user's direction.

    Parameters
    ----------
    maximize : bool
        Larger values are better. `costs` are always to be minimised.
    """

    def __init__(self, *, maximize: bool = False) -> None:
        self.maximize = maximize
        self._of: dict[int, dict[int, Outcome]] = {}
        self._usable: set[int] = set()

    def copy(self) -> Knowledge:
        """Return what is known now; outcomes are shared, as they never change."""
        twin = Knowledge(maximize=self.maximize)
        twin._of = {candidate: dict(known) for candidate, known in self._of.items()}
        return twin

    def add(self, candidate: int, block: int, outcome: Outcome) -> None:
        """Take in an outcome."""
        self._of.setdefault(candidate, {})[block] = outcome
        if outcome.value is not None:
            self._usable.add(block)

    def is_usable(self, block: int) -> bool:
        """Say whether anyone has succeeded on a block."""
        return block in self._usable

    def of(self, candidate: int) -> dict[int, Outcome]:
        """Return what is known of a candidate, by block."""
        return self._of.get(candidate, {})

    @property
    def has_any_success(self) -> bool:
        """Whether anyone has succeeded on any block, held-out ones aside."""
        return any(block >= 0 for block in self._usable)

    @property
    def is_all_equal(self) -> bool:
        """Whether no block has told any two candidates apart, held-out ones aside."""
        return all(
            len({outcome.value for _, outcome in outcomes}) == 1
            for block, outcomes in self.by_block().items()
            if block >= 0
        )

    def by_block(self) -> dict[int, list[tuple[int, Outcome]]]:
        """Return (candidate, outcome) by block, candidates ascending."""
        found: dict[int, list[tuple[int, Outcome]]] = {}
        for candidate in sorted(self._of):
            for block, outcome in self._of[candidate].items():
                found.setdefault(block, []).append((candidate, outcome))
        return found

    def blocks(self) -> list[int]:
        """Return all blocks on which anything is known, ascending."""
        return sorted({block for known in self._of.values() for block in known})

    def mean(self, candidate: int) -> float | None:
        """Return the mean value over all but held-out blocks, None without any."""
        outcomes = [outcome for block, outcome in self.of(candidate).items() if block >= 0]
        values = [outcome.value for outcome in outcomes if outcome.value is not None]
        try:
            return math.fsum(values) / len(values) if values else None
        except OverflowError:  # values near the largest float
            return math.fsum(value / len(values) for value in values)

    def common(self, candidates: Sequence[int]) -> list[int]:
        """Return the blocks on which all of them have been evaluated, held-out ones aside."""
        shared = set(self.of(candidates[0]))
        for candidate in candidates[1:]:
            shared &= self.of(candidate).keys()
        return sorted(block for block in shared if block >= 0)

    def costs(self, candidates: Sequence[int]) -> NDArray[np.float64]:
        """Return costs on the blocks common to all, +inf for a failed cell.

        Shape (blocks, candidates); blocks in which all failed are left out.
        """
        costs = self._table(candidates, self.common(candidates))
        return costs[np.isfinite(costs).any(axis=1)]

    def all_costs(self, candidates: Sequence[int]) -> NDArray[np.float64]:
        """Return costs of candidates on all blocks, +inf for a failed cell, NaN if unknown.

        Shape (blocks, candidates); blocks without any finite cost are left out.
        """
        blocks = sorted({b for c in candidates for b in self.of(c) if b >= 0})
        costs = self._table(candidates, blocks)
        return costs[np.isfinite(costs).any(axis=1)]

    def _table(self, candidates: Sequence[int], blocks: Sequence[int]) -> NDArray[np.float64]:
        sign = -1.0 if self.maximize else 1.0
        row = {block: i for i, block in enumerate(blocks)}
        costs = np.full((len(blocks), len(candidates)), np.nan)
        for j, candidate in enumerate(candidates):
            for block, outcome in self.of(candidate).items():
                i = row.get(block)
                if i is not None:
                    value = outcome.value
                    costs[i, j] = np.inf if value is None else sign * value
        return costs
