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
    return _valued(values, _scores(values, maximize=maximize).argmin(axis=1))


def best_of_all(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return the value on each instance of the best on all; chosen and valued as the best on each."""
    best = _scores(values, maximize=maximize).mean(axis=0).argmin(axis=0)  # (repeats,)
    return _valued(values, np.broadcast_to(best, (len(values), len(best))))


def _scores(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return by what a member is chosen for each repeat, as costs: the other repeats, if any."""
    if values.shape[2] > 1:
        values = values.sum(axis=2, keepdims=True) - values
    return as_costs(values, maximize=maximize)


def _valued(values: NDArray[np.float64], chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the mean over repeats of the members chosen for them, (instances, repeats)."""
    means: NDArray[np.float64] = np.take_along_axis(values, chosen[:, None], axis=1)[:, 0].mean(
        axis=1
    )
    return means
