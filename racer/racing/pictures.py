"""What can be drawn of a race, by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import as_costs, shown_probability
from racer.errors import SettingError
from racer.plots import Gone, bars, boxes, courses, race, require
from racer.racing.said import why
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from racer.racing.said import Result

    Draw = Callable[[Axes | None], Any]

_LEAST = 6  # candidates whose values are shown, eliminated ones among them
_MOST = 30  # candidates with a row of their own


def of_race(result: Result) -> dict[str, Draw]:
    """Return the pictures of a race, the usual one first."""
    return {"race": partial(_race, result), **of_survivors(result)}


def of_survivors(result: Result) -> dict[str, Draw]:
    """Return the pictures of a race or a tuning that are of candidates side by side."""
    return {
        "ranks": partial(_ranks, result),
        "posterior": partial(_posterior, result),
        "costs": partial(_costs, result),
    }


def drawn(pictures: Mapping[str, Draw], kind: str | None, ax: Axes | None) -> Any:
    """Draw one of some pictures, the first by default; SettingError if there is no such one."""
    chosen = next(iter(pictures)) if kind is None else kind
    if chosen not in pictures:
        raise SettingError(f"kind={kind!r}: give one of {', '.join(pictures)}")
    require()
    return pictures[chosen](ax)


def label(result: Result, candidate: int) -> str:
    """Return how a candidate is called in pictures: its number, and itself if it is a name."""
    config = result.config(candidate)
    return f"#{candidate} {config}" if isinstance(config, str) else f"#{candidate}"


def final_order(result: Result) -> list[int]:
    """Return all candidates: survivors, best first, then the others, the last eliminated first."""
    gone = [drop.candidate for drop in reversed(result.dropped)]
    order = dict.fromkeys([*result.survivors, *gone, *range(len(result.configs))])
    return list(order)


def agreement(result: Result, order: Sequence[int]) -> dict[int, float]:
    """Return the rank correlation of each block with an order of candidates, best first.

    Of blocks with at least three candidates that differ; of very many blocks, some of them.
    """
    blocks, parts = parts_better(result)
    place = np.empty(len(order))
    place[list(order)] = np.arange(len(order))
    found = {}
    for i in range(0, len(blocks), max(len(blocks) // 2000, 1)):
        here = ~np.isnan(parts[i])
        mine = np.where(np.isposinf(parts[i][here]), 1.0, parts[i][here])
        if here.sum() >= 3 and np.ptp(mine) > 0.0:
            theirs = ranks_of(place[here][None])[0]
            found[blocks[i]] = float(np.corrcoef(mine, theirs)[0, 1])
    return found


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
        Gone(drop.candidate, at.get(drop.block, len(blocks) - 1), drop.reason, why(drop))
        for drop in result.dropped
    ]
    return race(
        parts, final_order(result), _labels(result, range(len(result.configs))), gone, ax=ax
    )


def _labels(result: Result, candidates: Iterable[int]) -> list[str]:
    return [label(result, candidate) for candidate in candidates]


def _ranks(result: Result, ax: Axes | None) -> Axes:
    _, parts = parts_better(result)
    here = ~np.isnan(parts)
    filled = np.where(np.isposinf(parts), 1.0, np.where(here, parts, 0.0))
    so_far = filled.cumsum(axis=0) / np.maximum(here.cumsum(axis=0), 1)
    so_far[~here] = np.nan
    caption = "mean rank so far (0 first, 1 last)"
    labels = _labels(result, range(len(result.configs)))
    return courses(so_far, final_order(result), labels, caption, ax=ax)


def _few(result: Result) -> tuple[tuple[int, ...], str]:
    """Return the survivors to draw, and a note if these are not all."""
    n = len(result.survivors)
    return result.survivors[:_MOST], f" (the first {_MOST} of {n})" if n > _MOST else ""


def _posterior(result: Result, ax: Axes | None) -> Axes:
    chosen, note = _few(result)
    chances = [result.probability_best[c] for c in chosen]
    return bars(
        chances,
        _labels(result, chosen),
        f"P(best) among the {result.survivors_are}:\n{result.best_has}, on {result.shared_blocks} common "
        f"blocks{note}",
        notes=[shown_probability(p) for p in chances],
        limits=(0.0, 1.12),
        ax=ax,
    )


def _costs(result: Result, ax: Axes | None) -> Axes:
    chosen = final_order(result)[: min(max(len(result.survivors), _LEAST), _MOST)]
    blocks = set(result.known.common(chosen))
    samples = [
        np.array(
            [o.value for b, o in result.known.of(c).items() if b in blocks and o.value is not None],
            dtype=np.float64,
        )
        for c in chosen
    ]
    caption = f"value on the {len(blocks)} blocks that all of these have seen"
    return boxes(samples, _labels(result, chosen), caption, ax=ax)
