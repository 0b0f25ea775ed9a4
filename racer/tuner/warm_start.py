"""Configurations of earlier results to begin with."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.errors import CandidateError, warn
from racer.results.base import Result
from racer.stats.hypervolume import thinned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.space.space import Space

_FRONT = 6  # survivors for each metric of a front


def with_results(space: Space, initial: Any) -> Any:
    """Return initial configurations, results among them replaced by theirs that the space allows.

    The results' configurations follow the others, each once.
    """
    if isinstance(initial, Result):
        initial = [initial]
    if not isinstance(initial, list | tuple) or not any(isinstance(i, Result) for i in initial):
        return initial
    given = [item for item in initial if not isinstance(item, Result)]
    keys = {_key(space, config) for config in given}
    found = list(given)
    for config in survivors_of(space, [i for i in initial if isinstance(i, Result)]):
        if (key := space.key(config)) not in keys:
            found.append(config)
            keys.add(key)
    return found


def _key(space: Space, config: Any) -> Any:
    try:
        return space.key(space.check(config))
    except CandidateError:
        return None  # which is refused later


def survivors_of(space: Space, results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return the survivors of each result, the best first; of a front, the best spread first."""
    found = []
    for result in results:
        if survivors := _allowed(space, result):
            chosen = _front if result.rules.is_front else _best_first
            found += [space.check(result.configs[c]) for c in chosen(result, survivors)]
    return found


def _allowed(space: Space, result: Result) -> list[int]:
    """Return the survivors that are of the space; warn of the others."""
    allowed = []
    for candidate in result.survivors:
        try:
            space.check(result.configs[candidate])
        except CandidateError as error:
            config = reprlib.repr(result.configs[candidate])
            warn(f"{config} of an earlier result is left out: {error}")
        else:
            allowed.append(candidate)
    return allowed


def _front(result: Result, survivors: list[int]) -> list[int]:
    """Return survivors of a front, the best spread first, as many as a long tuning keeps."""
    aim = result.rules.aim
    if aim is None:
        return []
    tables = aim.tables(result.known, aim.deciding).values()
    costs = np.stack([table.costs(survivors) for table in tables], axis=2)
    most = _FRONT * len(aim.deciding)
    if len(costs) and np.isfinite(costs).all():
        survivors = [survivors[at] for at in thinned(costs.mean(axis=0), most)]
    return survivors[:most]


def _best_first(result: Result, survivors: list[int]) -> list[int]:
    """Return the survivors, with the best in front."""
    return sorted(survivors, key=lambda candidate: candidate != result.guess)
