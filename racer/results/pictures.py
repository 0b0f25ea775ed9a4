"""The pictures of a race and of a tuning, by name."""

from __future__ import annotations

import math
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import counted
from racer._numerics import as_costs, mean_of, shown_probability
from racer.errors import SettingError
from racer.plots import bars, boxes, front, parallel, quality, race, sampling
from racer.plots._canvas import empty, require, shortened
from racer.results.summary import why
from racer.space.numeric import Bounded
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from racer.core.events import RaceCompleted
    from racer.core.table import Table
    from racer.evaluate.outcome import Outcome
    from racer.results.base import Draw, Result
    from racer.space.parameters import Parameter
    from racer.space.space import Space

    Scale = tuple[str, Sequence[float], Sequence[str]]

_LEAST = 6  # candidates whose values are shown, eliminated ones among them
_COMMON_BLOCKS = (4, 8)  # that others must share with one leader, or with several
_MOST = 30  # candidates with a row of their own
_WIDEST = 28  # letters of a label
_FEW = 8  # values that all have a tick
_MOST_BEHIND = 400  # configurations behind the elites


def race_pictures(result: Result) -> dict[str, Draw]:
    """Return the pictures of a race, the usual one first."""
    first, last = _metric_pictures(result)
    return {**first, "race": partial(_race, result), **survivor_pictures(result), **last}


def tuning_pictures(
    result: Result,
    space: Space,
    races: Sequence[RaceCompleted],
    first_races: Sequence[int],
    importance: Draw,
) -> dict[str, Draw]:
    """Return the pictures of a tuning; `first_races`: the race that each candidate entered first."""
    tests = {"test": partial(_test, result)} if len(result.held_out) else {}
    first, last = _metric_pictures(result)
    return {
        **first,
        "quality": partial(_quality, result, races, first_races),
        "sampling": partial(_sampling, result, space, first_races),
        "parallel": partial(_parallel, result, space),
        "importance": importance,
        **tests,
        **survivor_pictures(result),
        **last,
    }


def _metric_pictures(result: Result) -> tuple[dict[str, Draw], dict[str, Draw]]:
    """Return the picture of several metrics: as the first where the front is asked for, or last."""
    metrics = result._metrics
    if metrics is None or len(metrics.front_names) < 2:
        return {}, {}
    front_of: dict[str, Draw] = {"front": partial(_front, result)}
    return (front_of, {}) if result.rules.is_front else ({}, front_of)


def _front(result: Result, ax: Axes | None) -> Axes:
    metrics = result._of_metrics()
    frame, names = metrics.frame, metrics.front_names
    if not result.known.n_usable:
        return empty("No evaluation succeeded, so nothing is known of the metrics.", ax=ax)
    mean, low, high = (
        frame[[f"{kind}:{name}" for name in names]].to_numpy() for kind in ("metric", "low", "high")
    )
    return front(
        *(mean, low, high),
        frame["probability_front"].to_numpy(),
        [c in result.survivors for c in frame.index],
        _labels(result, frame.index),
        {name: metrics.aim.metrics[name].direction for name in names},
        ax=ax,
    )


def survivor_pictures(result: Result) -> dict[str, Draw]:
    """Return the pictures of a race or a tuning that are of candidates side by side."""
    return {
        "posterior": partial(_posterior, result),
        "costs": partial(_costs, result),
    }


def drawn(pictures: Mapping[str, Draw], kind: str | None, ax: Axes | None) -> Any:
    """Draw one of some pictures, the first by default; SettingError for an unknown kind."""
    chosen = next(iter(pictures)) if kind is None else kind
    if chosen not in pictures:
        raise SettingError(f"kind={kind!r}: give one of {', '.join(pictures)}")
    require()
    return pictures[chosen](ax)


def final_order(result: Result) -> list[int]:
    """Return all candidates: the best, other survivors, then the last eliminated first."""
    gone = result.eliminations["candidate"].tolist()[::-1]
    order = dict.fromkeys([*result.leaders, *gone, *range(len(result.configs))])
    return list(order)


def parts_better(result: Result) -> tuple[list[int], NDArray[np.float64]]:
    """Return the blocks, and which part of the others was better: inf failed, NaN not there."""
    blocks = sorted({row.block for row in result.known.rows})
    values = result.known.values(len(result.configs))
    costs = as_costs(values, maximize=result.known.maximize)
    at = {block: i for i, block in enumerate(blocks)}
    for failure in result.known.failures:
        costs[at[failure.block], failure.candidate] = np.inf
    parts = np.full(costs.shape, np.nan)
    for row, out in zip(costs, parts, strict=True):
        here = ~np.isnan(row)
        ranked = ranks_of(row[here][None])[0] if here.any() else np.empty(0)
        out[here] = (ranked - 1.0) / max(here.sum() - 1, 1)
        out[np.isposinf(row)] = np.inf
    return blocks, parts


def _race(result: Result, ax: Axes | None) -> Axes:
    blocks, parts = parts_better(result)
    at = {block: i for i, block in enumerate(blocks)}
    gone = [
        (drop.candidate, at.get(drop.block, len(blocks) - 1), drop.reason, why(drop))
        for drop in result._eliminations
    ]
    return race(
        parts, final_order(result), _labels(result, range(len(result.configs))), gone, ax=ax
    )


def _labels(result: Result, candidates: Iterable[int]) -> list[str]:
    return [result._label(candidate) for candidate in candidates]


def _posterior(result: Result, ax: Axes | None) -> Axes:
    if not result._has_evidence:
        return empty("No evaluation succeeded, so nothing is known of the best.", ax=ax)
    to_front = not result.probability_best
    likely = result.credible_front if to_front else result.credible_set
    shown = dict.fromkeys((*result.leaders, *likely))
    chances = result.probability_front if to_front else result.probability_best
    chosen = sorted(shown, key=lambda c: -chances[c])[:_MOST]
    note = f" (the first {_MOST} of {len(shown)})" if len(shown) > _MOST else ""
    every = "all " if len(result.compared) == len(result.configs) else ""
    return bars(
        [chances[c] for c in chosen],
        _labels(result, chosen),
        f"P({'front' if to_front else 'best'}) of {every}{len(result.compared)} candidates{note}",
        notes=[shown_probability(chances[c], 2) for c in chosen],
        limits=(0.0, 1.12),
        ax=ax,
    )


def _costs(result: Result, ax: Axes | None) -> Axes:
    chosen, blocks = _beside_leaders(result)
    columns = [[o for b, o in result.known.of(c).items() if b in blocks] for c in chosen]
    n = f"the {len(blocks)} runs" if len(blocks) > 1 else f"{len(blocks) or 'no'} run"
    caption = f"value on {n} that all of these have seen"
    return _boxes(columns, _labels(result, chosen), caption, ax)


def _beside_leaders(result: Result) -> tuple[list[int], set[int]]:
    """Return the leaders and their common blocks; of few leaders, others with enough of these."""
    chosen = list(result.leaders[:_MOST])
    blocks = set(result.known.common(chosen)) if chosen else set()
    least = min(_COMMON_BLOCKS[len(chosen) > 1], max(len(blocks), 1))
    for candidate in final_order(result)[len(chosen) :]:
        common = set(result.known.common([*chosen, candidate]))
        if len(chosen) >= _LEAST or len(common) < least:
            break
        chosen, blocks = [*chosen, candidate], common
    return chosen, blocks


def _boxes(
    columns: Sequence[Sequence[Outcome]], labels: Sequence[str], caption: str, ax: Axes | None
) -> Axes:
    """Draw the values of candidates; of each, say how many are caps of run times."""
    samples = [np.array([o.value for o in some if o.value is not None]) for some in columns]
    capped = [sum(o.status == "capped" for o in some) for some in columns]
    notes = [f", {n} capped" if n else "" for n in capped]
    shown = [shortened(one, _WIDEST - len(n)) + n for one, n in zip(labels, notes, strict=True)]
    caption += "\ncapped runs are drawn at their cap" if any(capped) else ""
    return boxes(samples, shown, caption, ax=ax)


def gap(known: Table, one: int, best: int) -> tuple[float, float]:
    """Return how far a candidate is behind another on blocks that both have seen, and its error."""
    mine, its = known.of(one), known.of(best)
    pairs = [
        (a, b)
        for block, outcome in mine.items()
        if block in its and (a := outcome.value) is not None and (b := its[block].value) is not None
    ]
    if not pairs:
        return math.nan, math.nan
    costs = as_costs(np.array(pairs), maximize=known.maximize)
    halves, n = costs[:, 0] / 2.0 - costs[:, 1] / 2.0, len(pairs)  # of costs near the largest float
    with np.errstate(over="ignore", invalid="ignore"):
        error = 2.0 * float(np.std(halves, ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return 2.0 * mean_of(halves.tolist()), error


def _quality(
    result: Result, races: Sequence[RaceCompleted], first_races: Sequence[int], ax: Axes | None
) -> Axes:
    known, best = result.known, result.best_index
    decided = [race for race in races if race.best is not None]
    if best is None or not decided:
        return empty("Without a best, the leaders of the races cannot be compared.", ax=ax)
    gaps = {c: gap(known, c, best) for c in range(len(first_races)) if known.of(c)}
    leaders = [(race.evaluations, race.best or 0) for race in decided]
    until = {race.race: race.evaluations for race in races}
    last = max(until.values())
    ends = {c: until.get(first_races[c], last) for c in gaps}
    if len(races) == 1:
        ends = dict(zip(gaps, accumulate(len(known.of(c)) for c in gaps), strict=True))
        leaders = _leaders(known, gaps, ends)
    x, (y, error) = [n for n, _ in leaders], zip(*(gaps[c] for _, c in leaders), strict=True)
    others = [(n, gaps[c][0]) for c, n in ends.items() if c != best]
    at, behind = np.array(others, dtype=np.float64).reshape(-1, 2).T
    caption = f"behind #{best}, on the runs that both have seen"
    return quality(x, y, error, (at, behind), caption=caption, ax=ax)


def _leaders(
    known: Table, gaps: Mapping[int, tuple[float, float]], ends: Mapping[int, int]
) -> list[tuple[int, int]]:
    """Return the leaders within a race, which evaluates most the best of the candidates so far."""
    found = [(0, -1)]
    for c in gaps:
        lead = found[-1][1]
        if lead < 0 or (len(known.of(c)), -gaps[c][0]) > (len(known.of(lead)), -gaps[lead][0]):
            found.append((ends[c], c))
    return [*found[1:], (max(ends.values()), found[-1][1])]


def places(space: Space, configs: Iterable[dict[str, Any]]) -> NDArray[np.float64]:
    """Return where configurations are in the ranges, shape (n, d), NaN where absent."""
    found = [space.located(config)[1] for config in configs]
    return np.array(found, dtype=np.float64).reshape(-1, len(space.parameters))


def scale(name: str, parameter: Parameter) -> Scale:
    """Return the name of a parameter, places from 0 to 1, and its values there."""
    domain = None if parameter.names() else parameter.domain({})
    if domain is None:  # its ends depend on others
        ends = (
            (str(parameter.low), str(parameter.high))
            if isinstance(parameter, Bounded)
            else ("low", "high")
        )
        return name, (0.0, 1.0), ends
    values: Sequence[Any]
    if domain.n <= _FEW:
        values = list(domain.values())
    else:
        values = [domain.decode(at) for at in (0.0, 0.5, 1.0)]
    shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
    return name, [domain.encode(value) for value in values], shown


def _free(space: Space) -> tuple[list[int], list[Scale]]:
    """Return which parameters are not fixed, and their scales."""
    names = list(space.parameters)
    chosen = [names.index(name) for name in space.free] or [0]
    return chosen, [scale(names[i], space.parameters[names[i]]) for i in chosen]


def _elites(result: Result) -> list[int]:
    """Return the best, then the other elites."""
    best = [] if result.best_index is None else [result.best_index]
    return list(dict.fromkeys([*best, *result.survivors]))


def _sampling(
    result: Result,
    space: Space,
    first_races: Sequence[int],
    ax: Axes | None,  # noqa: ARG001  (a panel per parameter)
) -> Figure:
    chosen, scales = _free(space)
    return sampling(first_races, places(space, result.configs)[:, chosen], scales, _elites(result))


def _parallel(result: Result, space: Space, ax: Axes | None) -> Axes:
    chosen, scales = _free(space)
    elites = _elites(result)[:8]
    step = max(len(result.configs) // _MOST_BEHIND, 1)
    behind = places(space, result.configs[::step])[:, chosen]
    lines = places(space, [result.config(c) for c in elites])[:, chosen]
    return parallel(lines, scales, _labels(result, elites), behind, ax=ax)


def _test(result: Result, ax: Axes | None) -> Axes:
    chosen = result.leaders[:_MOST]
    columns = [list(result.held_out.of(c).values()) for c in chosen]
    most = max(map(len, columns), default=0)
    caption = f"value on {counted(most, 'held-out instance')}"
    return _boxes(columns, _labels(result, chosen), caption, ax)
