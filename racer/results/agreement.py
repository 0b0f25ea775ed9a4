"""How far instances agree about the candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from racer.plots._canvas import shortened
from racer.render.sections import Grid, Section, value_shown
from racer.results.pictures import parts_better
from racer.stats.friedman import friedman_test
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.render.sections import Piece
    from racer.results.base import Result

_MOST = 200  # rows of a table
_AGREE, _DISAGREE = 0.6, 0.3  # Kendall's W


def instance_name(result: Result, block: int) -> str:
    """Return the instance of a block, as it is written."""
    index = result.stream.place(block).instance
    if index is None or result.instances is None:
        return "-"
    return shortened(value_shown(result.instances[index]), 100)


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
        mine = ranks_of(parts[i][here][None])[0]  # failures share a rank behind all others
        if here.sum() >= 3 and np.ptp(mine) > 0.0:
            theirs = ranks_of(place[here][None])[0]
            found[blocks[i]] = float(np.corrcoef(mine, theirs)[0, 1])
    return found


def instance_section(result: Result, order: list[int]) -> Section:
    """Return whether blocks rank the candidates alike, and which do not."""
    found = agreement(result, order)
    if len(found) < 2:
        return Section("Instances", ("Too little is known to compare the instances.",))
    pieces: list[Piece] = [*_heterogeneity(result, order)]
    per: dict[str, list[float]] = {}
    for block, value in found.items():
        name = instance_name(result, block)
        per.setdefault(name if name != "-" else f"block {block}", []).append(value)
    ranked = sorted(per, key=lambda name: float(np.mean(per[name])))
    rows = [(name, len(per[name]), f"{np.mean(per[name]):.2f}") for name in ranked]
    against = [name for name in ranked if np.mean(per[name]) < 0.0]
    text = (
        f"{len(against)} of {len(ranked)} rank the candidates rather the other way round: "
        f"{', '.join(against[:8])}{', ..' if len(against) > 8 else ''}. Check that they are "
        "typical of your use."
        if against
        else "None ranks the candidates the other way round."
    )
    grid = Grid.of(("instance", "blocks", "agreement"), rows[:_MOST], left="instance")
    note = (
        "Agreement: the rank correlation of an instance's values with the final order of the "
        "candidates (1: the same order, 0: no relation), the mean over its blocks. The final order "
        "comes from these same values, so it is somewhat too high."
    )
    table = Section("Agreement of each instance", (grid, note), is_folded=True)
    return Section("Instances", (*pieces, text, table))


def _heterogeneity(result: Result, order: list[int]) -> list[Piece]:
    """Return Kendall's W on the most common blocks, with advice."""
    best: tuple[int, np.ndarray[Any, Any]] | None = None
    for m in (len(order), max(len(order) // 2, 3), max(len(order) // 5, 3), 10, 5, 3):
        chosen = [c for c in order[:m] if result.known.of(c)]
        costs = result.known.costs(chosen) if len(chosen) >= 3 else np.empty((0, 0))
        if len(costs) >= 4 and (best is None or costs.size > best[1].size):
            best = len(chosen), costs
    if best is None or (best[1] == best[1][:, :1]).all():
        return []
    m, costs = best
    w = friedman_test(costs).statistic / (len(costs) * (m - 1))
    text = (
        f"Kendall's coefficient of concordance W = {w:.2f}, of {m} candidates on the {len(costs)} "
        "blocks that all of them have seen (1: every block ranks them alike; 0: no agreement)."
    )
    if w >= _AGREE:
        advice = "The instances agree about which candidates are good: few blocks are enough."
    elif w >= _DISAGREE:
        advice = "The instances agree in part, as is usual."
    else:
        advice = (
            "The instances disagree, or the noise is large, or these candidates are alike. A test "
            "before many instances have been seen may eliminate good candidates: raise "
            "first_test. If groups of instances differ, race each group on its own, or keep them "
            "together by block_size."
        )
    return [text, advice]
