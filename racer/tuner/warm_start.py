"""Configurations of earlier results to begin with."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.errors import CandidateError, warn
from racer.failures import impute_by_block
from racer.results.base import Result
from racer.stats.hypervolume import thinned

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from racer.space.space import Space

_FRONT = 6  # survivors for each metric of a front


@dataclass(frozen=True)
class _Earlier:
    """Survivors of an earlier result with their costs (blocks, survivors); inf for failures."""

    result: Result
    survivors: list[int]
    costs: NDArray[np.float64]
    instances: list[Hashable]  # of each block, with what is measured; the same in other results


def with_results(space: Space, initial: Any) -> Any:
    """Return initial configurations, results among them replaced by theirs that the space allows.

    Those follow the others, each once.
    """
    if isinstance(initial, Result):
        initial = [initial]
    if not isinstance(initial, list | tuple) or not any(isinstance(i, Result) for i in initial):
        return initial
    given = [item for item in initial if not isinstance(item, Result)]
    keys = {_key(space, config) for config in given}
    found = list(given)
    for config in complementary(space, [i for i in initial if isinstance(i, Result)]):
        if (key := space.key(config)) not in keys:
            found.append(config)
            keys.add(key)
    return found


def _key(space: Space, config: Any) -> Any:
    try:
        return space.key(space.check(config))
    except CandidateError:
        return None  # which is refused later


def complementary(space: Space, results: Sequence[Result]) -> list[dict[str, Any]]:
    """Return survivors of results: the best, then each that improves the mean of the best most.

    The mean is over instances, of the smallest mean cost that any of those before has on each, on
    the blocks that all survivors of a result have seen; it ends when none improves it. Results
    that share instances, and what was measured there, are taken together, on those that all of
    them have seen; others follow on their own. Of a front, its survivors: the best spread first. (The portfolio of Hydra, Xu, Hoos and Leyton-Brown, AAAI 2010, from
    known runs.)
    """
    groups: list[tuple[set[Hashable], list[_Earlier]]] = []
    for result in results:
        earlier = _earlier(space, result)
        for shared, members in groups:
            if shared & {*earlier.instances}:
                shared &= {*earlier.instances}
                members.append(earlier)
                break
        else:
            groups.append(({*earlier.instances}, [earlier]))
    return [
        config
        for shared, members in groups
        for config in (
            _front(space, members[0])
            if members[0].result.rules.is_front
            else _portfolio(space, shared, members)
        )
    ]


def _earlier(space: Space, result: Result) -> _Earlier:
    survivors = []
    for candidate in result.survivors:
        try:
            space.check(result.configs[candidate])
        except CandidateError as error:
            config = reprlib.repr(result.configs[candidate])
            warn(f"{config} of an earlier result is left out: {error}")
        else:
            survivors.append(candidate)
    if not survivors or result.rules.is_front:
        return _Earlier(result, survivors, np.empty((0, 0)), [])
    known = result.known
    blocks = [block for block in known.common(survivors) if known.is_usable(block)]
    costs = known.costs(survivors)
    keep = [bool(np.isfinite(row).any()) for row in costs]
    names = [_name(instance) for instance in result.instances or ()]
    rules = result.rules
    deciding = None if rules.aim is None else rules.aim.deciding
    told: list[Hashable] = []
    for block, kept in zip(blocks, keep, strict=True):
        place = result.stream.place(block).instance
        if kept:
            instance = None if place is None else names[place]
            told.append((known.maximize, deciding, rules.runtime, instance))
    return _Earlier(result, survivors, costs[keep], told)


def _name(instance: Any) -> Hashable:
    """Return keys of instances that are the same for equal ones of other results."""
    if isinstance(instance, np.ndarray):
        return str(instance.dtype), instance.shape, instance.tobytes()
    return type(instance).__name__, repr(instance)


def _front(space: Space, earlier: _Earlier) -> list[dict[str, Any]]:
    """Return survivors of a front, the best spread first, as many as a long tuning keeps."""
    result, survivors = earlier.result, earlier.survivors
    aim = result.rules.aim
    if aim is None or not survivors:
        return []
    tables = aim.tables(result.known, aim.deciding).values()
    costs = np.stack([table.costs(survivors) for table in tables], axis=2)
    order, most = [*range(len(survivors))], _FRONT * len(aim.deciding)
    if len(costs) and np.isfinite(costs).all():
        order = thinned(costs.mean(axis=0), most)
    return [space.check(result.configs[survivors[at]]) for at in order[:most]]


def _portfolio(
    space: Space, shared: set[Hashable], members: Sequence[_Earlier]
) -> list[dict[str, Any]]:
    """Return the complementary survivors of results that share instances."""
    configs = [space.check(e.result.configs[c]) for e in members for c in e.survivors]
    keys = [space.key(config) for config in configs]
    costs = _by_instance(sorted(shared, key=repr), members)
    if not len(costs):
        return configs[:1]
    means = costs.mean(axis=0)
    chosen = [min(_bests(members), key=means.__getitem__)]
    least = costs[:, chosen[0]]
    while left := [i for i, key in enumerate(keys) if key not in {keys[j] for j in chosen}]:
        means = np.minimum(costs[:, left], least[:, None]).mean(axis=0)
        following = int(means.argmin())
        if not means[following] < least.mean():
            break
        chosen.append(left[following])
        least = np.minimum(least, costs[:, left[following]])
    return [configs[i] for i in chosen]


def _bests(members: Sequence[_Earlier]) -> list[int]:
    """Return the best of each result, all of one without any, by number among all survivors."""
    found, first = [], 0
    for earlier in members:
        survivors, best = earlier.survivors, earlier.result.best_index
        if best in survivors:
            found.append(first + survivors.index(best))
        else:
            found += range(first, first + len(survivors))
        first += len(survivors)
    return found


def _by_instance(shared: list[Hashable], members: Sequence[_Earlier]) -> NDArray[np.float64]:
    """Return mean costs (instances, survivors); a failure costs the worst there, and the range."""
    there = [
        [e.costs[[name == instance for name in e.instances]] for e in members]
        for instance in shared
    ]
    known = [np.concatenate([costs.ravel() for costs in parts]) for parts in there]
    table = np.full((len(known), max(map(len, known), default=0)), np.nan)
    for row, costs in zip(table, known, strict=True):
        row[: len(costs)] = costs
    rows = []
    for row, parts in zip(impute_by_block(table), there, strict=True):
        full = np.split(row, np.cumsum([costs.size for costs in parts]))[:-1]
        means = [f.reshape(costs.shape).mean(axis=0) for f, costs in zip(full, parts, strict=True)]
        rows.append(np.concatenate(means))
    return np.array(rows)
