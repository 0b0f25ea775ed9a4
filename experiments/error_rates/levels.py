"""How often a single test of a gated decider drops anyone, all candidates being equal.

Each decider is shown one table of costs, once, at its default settings (level 0.05): in worlds in
which all candidates are equal, with 2, 5, 10 and 30 of them and 5 to 36 blocks. In percent: the largest
of a world, which is a little too large by chance. Candidates dropped as
indistinguishable are not counted: that is true of them. With --drift the costs of each candidate
are correlated from block to block, as on machines that are shared and measured in order.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np

from experiments.deciders import OF_ONE_NUMBER
from experiments.options import csv_option, run_options, words_option
from experiments.report import measured, plus_minus, wide, write
from experiments.worlds import WORLDS
from racer.deciders import Blocks, FRace, Setting
from racer.seeding import rng_for, seed_for

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.report import Row
    from racer.deciders import Decider

__all__ = ["GATED", "main"]

NAMES = (
    *("bayesian-friedman", "f-race", "f-race-sign", "f-race-mean-rank"),
    *("bradley-terry", "signed-rank"),
)
GATED: Mapping[str, Decider] = {
    **{name: OF_ONE_NUMBER[name] for name in NAMES},
    "f-race-friedman": FRace(gate="friedman"),
}
SECONDS = 0.001  # a test


class Cell(NamedTuple):
    """One decider in one world."""

    decider: str
    world: str
    candidates: int
    blocks: int


def dropped(drift: float, cell: Cell, seed: int) -> dict[str, float]:
    """Return a level of 1 if a test of equal candidates finds one of them inferior."""
    m, n = cell.candidates, cell.blocks
    drawn = WORLDS[cell.world](m, 1.0, qualities=(0.0,) * m).draw(seed)
    costs = np.array([drawn.costs(block) for block in range(n)])
    for block in range(1, n if drift else 0):
        costs[block] = drift * costs[block - 1] + math.sqrt(1.0 - drift**2) * costs[block]
    decider = GATED[cell.decider]
    state = decider.start(Setting(m, rng_for(seed, "decider")))
    _, verdict = decider.decide(state, Blocks(np.arange(m), costs))
    return {"level": float(any(drop.reason != "indistinguishable" for drop in verdict.dropped))}


def _shown(row: Row) -> str:
    level = plus_minus(100 * row["level"], 100 * row["level_se"], 1)
    return f"{level} ({row['candidates']} x {row['blocks']})"


@click.command()
@words_option("--deciders", GATED)
@words_option("--worlds", WORLDS)
@words_option("--candidates", (2, 5, 10, 30), click.IntRange(2))
@words_option("--blocks", (5, 6, 8, 12, 36), click.IntRange(2))
@click.option("--drift", type=click.FloatRange(0.0, 1.0, max_open=True), default=0.0)
@run_options(400)
@csv_option
def main(
    deciders: tuple[str, ...],
    worlds: tuple[str, ...],
    candidates: tuple[int, ...],
    blocks: tuple[int, ...],
    drift: float,
    repetitions: int,
    jobs: int,
    seed: int,
    csv_path: Path | None,
) -> None:
    """Print how often one test of a gated decider drops an equal candidate."""
    cells = [Cell(*each) for each in product(deciders, worlds, candidates, blocks)]
    print(f"Levels of single tests: {len(cells)} cells, {repetitions} tables each, seed {seed}.")
    seeds = [seed_for(seed, "levels", repetition) for repetition in range(repetitions)]
    rows = measured(partial(dropped, drift), cells, seeds, jobs, SECONDS)
    worst = sorted(rows, key=lambda row: -row["level"])  # the first of each is shown
    firsts = {(row["decider"], row["world"]): row for row in reversed(worst)}
    ordered = [firsts[pair] for pair in product(deciders, worlds)]
    print(
        wide(
            ordered,
            {"worst level, percent (candidates x blocks)": "`{decider}`"},
            "{world}",
            _shown,
        )
    )
    write(csv_path, rows)
