"""One door for tables of scores, so that every test treats gaps and bad input alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._checks import as_floats
from racer._numerics import as_costs, with_ties
from racer.errors import ScoresError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Blocks(NamedTuple):
    """Complete blocks as costs (n x m) with ties, and how many incomplete ones were left out."""

    costs: NDArray[np.float64]
    dropped: int


def complete_blocks(scores: ArrayLike, *, maximize: bool, min_blocks: int = 1) -> Blocks:
    """Check a blocks x candidates table, leave out blocks with NaN, turn scores into costs."""
    table = as_floats(scores, "scores", 2)
    if table.shape[1] < 2:
        raise ScoresError(
            f"scores has {table.shape[1]} column(s): give blocks x candidates with at least 2 "
            "candidates as columns"
        )
    known = ~np.isnan(table).any(axis=1)
    complete = table[known]
    dropped = len(table) - len(complete)
    if len(complete) < min_blocks:
        raise ScoresError(
            f"scores has {len(complete)} complete block(s) ({dropped} left out for NaN): "
            f"at least {min_blocks} needed"
        )
    return Blocks(with_ties(as_costs(complete, maximize=maximize)), dropped)


def check_connected(met: NDArray[np.float64], names: tuple[str, ...]) -> None:
    """Raise unless all algorithms were compared, directly or through others: met > 0, (K, K)."""
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    if not met.any():
        raise ScoresError("no two algorithms have a result on a common data set")
    count, group = connected_components(met, directed=False)
    if count > 1:
        apart = [name for name, g in zip(names, group, strict=True) if g != group[0]]
        raise ScoresError(
            f"never compared with {names[0]}, directly or through others: {', '.join(apart)}; "
            "leave them out, or evaluate some on common data sets"
        )


def frozen(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `array` made read-only, for use in a result."""
    array.flags.writeable = False
    return array
