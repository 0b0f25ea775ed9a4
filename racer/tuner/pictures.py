"""What can be drawn of a tuning, by name."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from racer.plots import Scale, boxes, empty, parallel, quality, sampling
from racer.racing.pictures import label, of_survivors
from racer.racing.said import Result
from racer.space.numeric import Bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from racer.racing.pictures import Draw
    from racer.racing.table import Table
    from racer.space.parameters import Parameter
    from racer.space.space import Space
    from racer.tuner.events import RaceCompleted

_FEW = 8  # values that all have a tick
_MOST = 400  # configurations behind the elites


class Tuned(Result, Protocol):
    """What is asked of the result of a tuning, beside what a race has."""

    @property
    def space(self) -> Space: ...  # noqa: D102
    @property
    def races_held(self) -> tuple[RaceCompleted, ...]: ...  # noqa: D102
    @property
    def origins(self) -> tuple[Any, ...]: ...  # noqa: D102
    @property
    def importance(self) -> Any: ...  # noqa: D102
    @property
    def held_out(self) -> Table: ...  # noqa: D102


def of_tuning(result: Tuned) -> dict[str, Draw]:
    """Return the pictures of a tuning, the usual one first."""
    tests = {"test": partial(_test, result)} if len(result.held_out) else {}
    return {
        "quality": partial(_quality, result),
        "sampling": partial(_sampling, result),
        "parallel": partial(_parallel, result),
        "importance": lambda ax: result.importance.plot(ax=ax),
        **tests,
        **of_survivors(result),
    }


def gap(known: Table, one: int, best: int) -> tuple[float, float]:
    """Return how far a candidate is behind another on blocks that both have seen, and its error."""
    mine, its = known.of(one), known.of(best)
    sign = -1.0 if known.maximize else 1.0
    differences = [
        sign * (a - b)
        for block, outcome in mine.items()
        if block in its and (a := outcome.value) is not None and (b := its[block].value) is not None
    ]
    n = len(differences)
    if not n:
        return math.nan, math.nan
    error = float(np.std(differences, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return math.fsum(d / n for d in differences), error


def _quality(result: Tuned, ax: Axes | None) -> Axes:
    best = result.best_index
    held = [race for race in result.races_held if race.best is not None]
    if best is None or not held:
        return empty("There is no best to compare the leaders of the races with.", ax=ax)
    gaps = np.array([gap(result.known, race.best or 0, best) for race in held]).reshape(-1, 2)
    until = {race.race: race.evaluations for race in result.races_held}
    last = max(until.values())
    known = result.known
    others = [
        (until.get(origin.race, last), gap(known, candidate, best)[0])
        for candidate, origin in enumerate(result.origins)
        if known.of(candidate) and candidate != best
    ]
    at, behind = np.array(others, dtype=np.float64).reshape(-1, 2).T
    x = [race.evaluations for race in held]
    caption = f"behind #{best}, on the blocks that both have seen"
    return quality(x, gaps[:, 0], gaps[:, 1], (at, behind), caption=caption, ax=ax)


def places(space: Space, configs: Iterable[dict[str, Any]]) -> NDArray[np.float64]:
    """Return where configurations are in the ranges, shape (n, d), NaN where absent."""
    found = [space.located(config)[1] for config in configs]
    return np.array(found, dtype=np.float64).reshape(-1, len(space.parameters))


def scale(name: str, parameter: Parameter) -> Scale:
    """Return some values of a parameter, and their places."""
    domain = None if parameter.names() else parameter.domain({})
    if domain is None:  # its ends depend on others
        ends = (
            (str(parameter.low), str(parameter.high))
            if isinstance(parameter, Bounded)
            else ("low", "high")
        )
        return Scale(name, (0.0, 1.0), ends)
    values: Sequence[Any]
    if domain.n <= _FEW:
        values = list(domain.values())
    else:
        values = [domain.decode(at) for at in (0.0, 0.5, 1.0)]
    shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
    return Scale(name, tuple(domain.encode(value) for value in values), tuple(shown))


def _free(result: Tuned) -> tuple[list[int], list[Scale]]:
    """Return which parameters are not fixed, and their scales."""
    names = list(result.space.parameters)
    chosen = [names.index(name) for name in result.space.free] or [0]
    return chosen, [scale(names[i], result.space.parameters[names[i]]) for i in chosen]


def _elites(result: Tuned) -> list[int]:
    """Return the best, then the other elites."""
    best = [] if result.best_index is None else [result.best_index]
    return list(dict.fromkeys([*best, *result.survivors]))


def _sampling(result: Tuned, ax: Axes | None) -> Figure:  # noqa: ARG001  (a panel per parameter)
    chosen, scales = _free(result)
    races = [origin.race for origin in result.origins]
    where = places(result.space, result.configs)[:, chosen]
    return sampling(races, where, scales, _elites(result))


def _parallel(result: Tuned, ax: Axes | None) -> Axes:
    chosen, scales = _free(result)
    elites = _elites(result)[:8]
    step = max(len(result.configs) // _MOST, 1)
    behind = places(result.space, result.configs[::step])[:, chosen]
    lines = places(result.space, [result.config(c) for c in elites])[:, chosen]
    return parallel(lines, scales, [label(result, c) for c in elites], behind, ax=ax)


def _test(result: Tuned, ax: Axes | None) -> Axes:
    chosen = result.survivors[:30]
    columns = [result.held_out.of(c) for c in chosen]
    samples = [np.array([o.value for o in c.values() if o.value is not None]) for c in columns]
    most = max(map(len, columns), default=0)
    caption = f"value on {most} held-out instances"
    return boxes(samples, [label(result, c) for c in chosen], caption, ax=ax)
