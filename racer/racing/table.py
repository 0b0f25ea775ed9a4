"""Blocks x candidates, what is known of each cell, and what a failed cell counts as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.evaluate.cell import Outcome, Status

__all__ = ["Failure", "Row", "Table"]


class Row(NamedTuple):
    """One completed block."""

    instance: int | None  # index into the instances; None without instances
    seed: int
    candidates: NDArray[np.intp]
    values: NDArray[np.float64]  # as evaluate returned them; NaN where the cell failed


class Failure(NamedTuple):
    """One cell without a score."""

    block: int
    candidate: int
    status: Status
    message: str


@dataclass
class Table:
    """All completed blocks of a race.

    Parameters
    ----------
    n_candidates : int
    maximize : bool
        Larger values are better. This is the door: `costs` are always to be minimised.
    """

    n_candidates: int
    maximize: bool = False
    rows: list[Row] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    set_aside: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._totals = np.zeros(self.n_candidates)
        self._counts = np.zeros(self.n_candidates, dtype=np.int64)
        self._summed = 0  # rows that went into both

    def add(
        self,
        instance: int | None,
        seed: int,
        candidates: NDArray[np.intp],
        outcomes: list[Outcome],
    ) -> NDArray[np.float64] | None:
        """Append a block; return its costs as deciders see them, None if all cells failed.

        A failed cell costs +inf: it ranks last in its block, and ties with other failures.
        """
        values = np.array([o.value for o in outcomes], dtype=np.float64)  # None becomes NaN
        failed = np.isnan(values)
        if not failed.any():
            return self.add_values(instance, seed, candidates, values)
        block = len(self.rows)
        self.rows.append(Row(instance, seed, candidates, values))
        for i in np.flatnonzero(failed).tolist():
            status, message = outcomes[i].status, outcomes[i].message
            self.failures.append(Failure(block, int(candidates[i]), status, message))
        if failed.all():
            self.set_aside.append(block)
            return None
        return np.where(failed, np.inf, -values if self.maximize else values)

    def add_values(
        self,
        instance: int | None,
        seed: int,
        candidates: NDArray[np.intp],
        values: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Append a block in which nothing failed; return its costs."""
        self.rows.append(Row(instance, seed, candidates, values))
        return -values if self.maximize else values

    def scores(self) -> NDArray[np.float64]:
        """Return values as given, shape (blocks, candidates), NaN where unknown or failed."""
        scores = np.full((len(self.rows), self.n_candidates), np.nan)
        for block, row in enumerate(self.rows):
            scores[block, row.candidates] = row.values
        return scores

    def costs(self, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the costs of candidates evaluated on all blocks, failed cells as +inf.

        Shape (usable blocks, len(candidates)); blocks set aside are left out.
        """
        usable = np.setdiff1d(np.arange(len(self.rows)), self.set_aside)
        values = self.scores()[np.ix_(usable, candidates)]
        return np.where(np.isnan(values), np.inf, -values if self.maximize else values)

    def mean(self, candidate: int) -> float | None:
        """Return the mean value of a candidate over its successful cells, None without any."""
        with np.errstate(over="ignore", invalid="ignore"):  # values near the largest float
            for row in self.rows[self._summed :]:
                known = ~np.isnan(row.values)
                self._totals[row.candidates[known]] += row.values[known]
                self._counts[row.candidates[known]] += 1
        self._summed = len(self.rows)
        count = int(self._counts[candidate])
        return float(self._totals[candidate]) / count if count else None
