"""The best of several configurations on each instance: arrays of values in, arrays out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import as_costs, impute_failed, means_of, tie_sizes
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
    for nobody; the mean over which one it is, and over members that tie.
    """
    return _valued(values, best_members(_scores(values, maximize=maximize), axis=1))


def best_of_all(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return the value on each instance of the best on all; chosen and valued as the best on each."""
    best = best_members(means_of(_scores(values, maximize=maximize)), axis=0)  # (members, repeats)
    return _valued(values, np.broadcast_to(best, values.shape))


def best_members(costs: NDArray[np.float64], *, axis: int) -> NDArray[np.bool_]:
    """Return which members, along an axis, have the least cost, or tie with it."""
    least = costs.min(axis=axis, keepdims=True)
    return np.asarray(costs <= least + tie_sizes(costs, least, among=True))


def _scores(values: NDArray[np.float64], *, maximize: bool) -> NDArray[np.float64]:
    """Return by what a member is chosen for each repeat, as costs: the mean of the others, if any."""
    if (others := values.shape[2] - 1) > 0:
        shares = values / others
        none = np.zeros_like(values[:, :, :1])
        before = np.concatenate([none, shares[:, :, :-1]], axis=2).cumsum(axis=2)
        after = np.concatenate([none, shares[:, :, :0:-1]], axis=2).cumsum(axis=2)[:, :, ::-1]
        values = before + after  # no difference: beside a huge value it would be 0
    return as_costs(values, maximize=maximize)


def _valued(values: NDArray[np.float64], chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the mean over repeats of the members chosen for them, (instances, members, repeats)."""
    shares = values / chosen.sum(axis=1, keepdims=True)
    of_each = np.where(chosen, shares, 0.0).sum(axis=1)  # (instances, repeats)
    return means_of(of_each.T)
