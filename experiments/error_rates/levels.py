"""How often a single test of a gated decider drops anyone, all candidates being equal.

Each decider is shown one table of costs, once, at its default settings (level 0.05): in worlds in
which all candidates are equal, with 2, 5, 10 and 30 of them and 5 to 36 blocks. In percent; "worst" is
the largest of a world, which is a little too large by chance. Candidates dropped as
indistinguishable are not counted: that is true of them. With --drift the costs of each candidate
are correlated from block to block, as on machines that are shared and measured in order.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import joblib
import numpy as np

from experiments.deciders import OF_ONE_NUMBER
from experiments.options import csv_option, run_options, words_option
from experiments.report import markdown, mean_and_error, plus_minus, with_progress, write
from experiments.worlds import WORLDS
from racer.deciders import Blocks, FRace, Setting
from racer.seeding import rng_for, seed_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

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


def dropped(cell: Cell, seed: int, drift: float = 0.0) -> float:
    """Return 1 if a test of equal candidates finds one of them inferior."""
    m, n = cell.candidates, cell.blocks
    drawn = WORLDS[cell.world](m, 1.0, qualities=(0.0,) * m).draw(seed)
    costs = np.array([drawn.costs(block) for block in range(n)])
    for block in range(1, n if drift else 0):
        costs[block] = drift * costs[block - 1] + math.sqrt(1.0 - drift**2) * costs[block]
    decider = GATED[cell.decider]
    state = decider.start(Setting(m, rng_for(seed, "decider")))
    _, verdict = decider.decide(state, Blocks(np.arange(m), costs))
    return float(any(drop.reason != "indistinguishable" for drop in verdict.dropped))


def table(found: Mapping[Cell, tuple[float, float]], worlds: Sequence[str]) -> str:
    """Return a line per decider: the worst cell of each world."""
    lines = []
    for name in dict.fromkeys(cell.decider for cell in found):
        line = [f"`{name}`"]
        for world in worlds:
            cells = [cell for cell in found if (cell.decider, cell.world) == (name, world)]
            worst = max(cells, key=lambda cell: found[cell][0])
            mean, error = found[worst]
            where = f"{worst.candidates} x {worst.blocks}"
            line.append(f"{plus_minus(100 * mean, 100 * error, 1)} ({where})")
        lines.append(line)
    return markdown(("worst level, percent (candidates x blocks)", *worlds), lines)


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
    seconds = [SECONDS * repetitions] * len(cells)
    print(f"Levels of single tests: {len(cells)} cells, {repetitions} tables each, seed {seed}.")
    seeds = [seed_for(seed, "levels", repetition) for repetition in range(repetitions)]
    found: dict[Cell, tuple[float, float]] = {}
    with joblib.Parallel(n_jobs=jobs, batch_size=-(-repetitions // jobs)) as pool:
        for cell in with_progress(cells, seconds, jobs, str):
            one = joblib.delayed(dropped)
            found[cell] = mean_and_error(
                np.array(pool(one(cell, number, drift) for number in seeds))
            )
    print(table(found, worlds))
    rows: list[dict[str, Any]] = [
        {**cell._asdict(), "level": mean, "level_se": error, "tables": repetitions, "seed": seed}
        for cell, (mean, error) in found.items()
    ]
    write(csv_path, rows)
