"""What a failed cell counts where costs are numbers, not ranks."""

from __future__ import annotations

import math
from bisect import insort
from typing import TYPE_CHECKING

from racer._numerics import impute_failed, range_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class FailedCells:
    """Puts failed cells a range of their block, or several `ranges`, behind the block's worst.

    Where the known costs of a block do not differ, as where one candidate alone succeeded, the range
    is the usual one of the blocks so far. Before any range is known, it is the size of the costs.
    """

    def __init__(self, ranges: float = 1.0) -> None:
        self._behind = ranges
        self._ranges: list[float] = []  # of blocks in which costs differ, ascending

    def imputed(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a block's costs (m,), without +inf; call it for each block in order."""
        known = costs.tolist()
        has_failed = max(known) == math.inf
        if has_failed:
            known = [cost for cost in known if cost < math.inf]
        found = range_of(max(known), min(known))
        if 0.0 < found < math.inf:
            insort(self._ranges, found)
        if not has_failed:
            return costs
        usual = self._ranges[len(self._ranges) // 2] if self._ranges else 0.0
        return impute_failed(costs, usual, ranges=self._behind)
