"""A block's addition to the scores of its candidates, where the score is a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from racer._checks import choice
from racer.deciders.decider import Scheduled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.failures import FailedCells

By = Literal["mean", "mean-rank"]


@dataclass(frozen=True)
class ByScore(Scheduled):
    """Base of deciders whose candidates stand by a mean of scores: costs, or ranks."""

    by: By = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.by, "by", get_args(By))

    @property
    def takes_capped(self) -> bool:
        return self.by == "mean-rank"

    @property
    def by_means(self) -> bool:
        return self.by == "mean"


def rank_scores(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks of a block's costs, over (m + 1) (van Elteren 1960)."""
    ordered = np.sort(costs)
    before = np.searchsorted(ordered, costs, "left") + np.searchsorted(ordered, costs, "right")
    return np.asarray((before + 1.0) / (2.0 * (len(costs) + 1.0)), dtype=np.float64)


def block_scores(costs: NDArray[np.float64], by: By, failed: FailedCells) -> NDArray[np.float64]:
    """Return a block's scores: costs above its best, or ranks."""
    if by == "mean-rank":
        return rank_scores(costs)
    known = failed.imputed(costs)
    return np.asarray(known - known.min(), dtype=np.float64)
