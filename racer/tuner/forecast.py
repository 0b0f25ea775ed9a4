"""The likely order of a race's candidates, from blocks that are not complete, for prefetching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import RowBuffer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Part = tuple[NDArray[np.intp], NDArray[np.float64]]  # candidates, and their costs on a block

_MAD = 1.4826  # of normal costs, times this, is their standard deviation
_CLIP = 3.0  # standard deviations
_LEAST = 3  # costs of a block that is not complete: fewer say little of its median


class Forecast:
    """Complete blocks of a race with `m` candidates; it decides nothing.

    A candidate's score is its mean cost above the median of each block, in units of the usual
    spread, clipped.
    """

    def __init__(self, m: int) -> None:
        self._rows = RowBuffer(m, np.float64)  # NaN: eliminated before

    def add(self, candidates: NDArray[np.intp], costs: NDArray[np.float64]) -> None:
        """Record the costs (k,), or (k, d) of d metrics, of a complete block."""
        row = np.full(self._rows.rows.shape[1], np.nan)
        row[candidates] = _first(costs)
        self._rows.append(row)

    def order(self, candidates: NDArray[np.intp], parts: Iterable[Part]) -> NDArray[np.intp]:
        """Return candidates that are in, the best first, with the known parts of other blocks."""
        above = _above_median(self._rows.rows[:, candidates])
        spread = _MAD * float(np.median(np.abs(above))) if above.size else 0.0
        n, total = np.full(len(candidates), float(len(above))), _scaled(above, spread).sum(axis=0)
        so_far = total / np.maximum(n, 1.0)
        for some, costs in parts:
            if len(some) >= _LEAST:
                at = np.searchsorted(candidates, some)
                here = _above_median(_first(costs)[None, :])
                own = spread or _MAD * float(np.median(np.abs(here)))
                total[at] += _scaled(here, own)[0] + np.median(so_far[at])
                n[at] += 1.0
        return np.asarray(candidates[(total / np.maximum(n, 1.0)).argsort(kind="stable")])


def _first(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    return costs if costs.ndim == 1 else costs[:, 0]


def _above_median(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return costs (n, k) above the median of their block; +inf where a cell failed."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.nan_to_num(costs - np.median(costs, axis=1, keepdims=True), nan=0.0)


def _scaled(above: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.clip(above / (spread or 1.0), -_CLIP, _CLIP)
