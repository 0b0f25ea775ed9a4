"""A block's addition to the scores of its candidates, where the score is a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from racer._numerics import impute_failed

if TYPE_CHECKING:
    from numpy.typing import NDArray

By = Literal["mean", "mean-rank"]


def block_scores(costs: NDArray[np.float64], by: By) -> NDArray[np.float64]:
    """Return a block's scores: costs above its best, or ranks over (m + 1) (van Elteren 1960)."""
    if by == "mean-rank":
        ordered = np.sort(costs)
        before = np.searchsorted(ordered, costs, "left") + np.searchsorted(ordered, costs, "right")
        return np.asarray((before + 1.0) / (2.0 * (len(costs) + 1.0)), dtype=np.float64)
    known = impute_failed(costs)
    return np.asarray(known - known.min(), dtype=np.float64)
