"""Numerical building blocks that several rooms use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["as_costs"]


def as_costs(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return values as costs, to be minimised; the same call turns costs into values again."""
    return -values if maximize else values
