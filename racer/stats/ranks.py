"""Ranks within blocks: 1 is best, ties share the average rank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.stats._validation import complete_blocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def ranks_of(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank each row of a blocks x candidates table of costs (no NaN; infinities may tie)."""
    from scipy.stats import rankdata  # noqa: PLC0415  (slow to import, not needed by a race)

    return np.asarray(rankdata(costs, axis=1), dtype=np.float64)


def rank_blocks(scores: ArrayLike, *, maximize: bool = False) -> NDArray[np.float64]:
    """Rank the candidates within each block.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate. Smaller is better.
    maximize : bool
        Larger is better.

    Returns
    -------
    ndarray, shape (n', m)
        Ranks from 1 (best) to m; tied candidates share the average of their ranks. Blocks
        with a NaN are left out, so n' may be smaller than n.

    Raises
    ------
    ScoresError
        Fewer than two candidates, no complete block, or values that are not numbers.

    Examples
    --------
    >>> rank_blocks([[0.2, 0.1, 0.1], [3.0, 2.0, 1.0]]).tolist()
    [[3.0, 1.5, 1.5], [3.0, 2.0, 1.0]]
    """
    return ranks_of(complete_blocks(scores, maximize=maximize).costs)
