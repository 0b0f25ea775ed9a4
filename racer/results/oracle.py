"""The best of several configurations on each instance: arrays of values in, arrays out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import as_costs, impute_failed
from racer.errors import SettingError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def failures_behind(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return values with each NaN, a failure, one range of all values behind the worst."""
    if not np.isfinite(values).any():
        raise SettingError("no member has a value on any instance: see the failures of tunings")
    costs = np.where(np.isfinite(values), as_costs(values, maximize=maximize), np.inf)
    return as_costs(impute_failed(costs), maximize=maximize)


def best_of_each(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return the value of the best on each instance, (instances, members, repeats) to (instances,).

    With repeats, the best is chosen on all but one, and valued on that one, so that luck counts
    for nobody; the mean over which one it is.
    """
    sign = -1.0 if maximize else 1.0
    if values.shape[2] == 1:
        best: NDArray[np.float64] = sign * (sign * values[:, :, 0]).min(axis=1)
        return best
    totals = values.sum(axis=2, keepdims=True)
    chosen = (sign * (totals - values)).argmin(axis=1)  # (instances, repeats)
    left_out = np.take_along_axis(values, chosen[:, None], axis=1)
    means: NDArray[np.float64] = left_out[:, 0].mean(axis=1)
    return means
