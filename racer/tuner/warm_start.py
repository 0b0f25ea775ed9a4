"""Configurations of earlier results to begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer.errors import CandidateError, warn
from racer.racing.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from racer.space.space import Space


def complementary(result: Result) -> list[int]:
    """Return survivors of a result: the best, then each that improves the mean of the best most.

    The mean is over instances, of the smallest mean cost that any of those before has on each, on
    the blocks that all survivors have seen; it ends when none improves it. (The portfolio of
    Hydra, Xu, Hoos and Leyton-Brown, AAAI 2010, chosen among what is known.)
    """
    survivors = list(result.survivors)
    if not survivors:
        return []
    costs = _by_instance(result, survivors)
    if not len(costs):
        return survivors[:1]
    if result.best_index is None:
        chosen = [int(costs.mean(axis=0).argmin())]
    else:
        chosen = [survivors.index(result.best_index)]
    least = costs[:, chosen[0]]
    while len(chosen) < len(survivors):
        means = np.minimum(costs, least[:, None]).mean(axis=0)
        following = int(means.argmin())
        if not means[following] < least.mean():
            break
        chosen.append(following)
        least = np.minimum(least, costs[:, following])
    return [survivors[i] for i in chosen]


def _by_instance(result: Result, survivors: list[int]) -> NDArray[np.float64]:
    """Return mean costs (instances, survivors); a failure costs a block's worst and its range."""
    known = result.known
    blocks = [block for block in known.common(survivors) if known.is_usable(block)]
    costs = known.costs(survivors)
    finite = np.where(np.isfinite(costs), costs, np.nan)
    keep = ~np.isnan(finite).all(axis=1)
    costs, finite = costs[keep], finite[keep]
    if not len(costs):
        return costs
    worst, least = np.nanmax(finite, axis=1), np.nanmin(finite, axis=1)
    costs = np.where(np.isfinite(costs), costs, (2 * worst - least)[:, None])
    places = [result.stream.place(block).instance for block in blocks]
    names = np.array([-1 if place is None else place for place in places])[keep]
    return np.array([costs[names == name].mean(axis=0) for name in np.unique(names)])


def with_results(space: Space, initial: Any) -> Any:
    """Return initial configurations, results among them replaced by theirs that the space allows."""
    if isinstance(initial, Result):
        initial = [initial]
    if not isinstance(initial, list | tuple) or not any(isinstance(i, Result) for i in initial):
        return initial
    found: list[Any] = []
    keys = set()
    for item in initial:
        for config in _allowed(space, item) if isinstance(item, Result) else [item]:
            key = space.key(config) if isinstance(item, Result) else None
            if key is None or key not in keys:
                found.append(config)
            keys.add(key)
    return found


def _allowed(space: Space, result: Result) -> Iterator[dict[str, Any]]:
    for candidate in complementary(result):
        try:
            yield space.check(result.configs[candidate])
        except CandidateError as error:
            warn(f"configuration {candidate} of an earlier result is left out: {error}")
