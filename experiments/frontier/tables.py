"""The regret of every decider against the observations it takes, and that of halving.

A race gets a budget of evaluations and may use less of it. Regret is how much worse the one selected
is than the best; sequential halving (by means, spending all it is given) gets as many observations as
the races used in the mean, in the same races. The table has the ratios of regrets, geometric means
over the sizes. Beside the deciders, OCBA and top-two Thompson sampling, which do not race in blocks.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from experiments.deciders import OF_ONE_NUMBER
from experiments.frontier.bandits import BANDITS, FIRST, played
from experiments.options import csv_option, run_options, words_option
from experiments.report import mean_and_error, pm, wide, with_progress, write
from experiments.worlds import WORLDS
from racer.deciders import BestForBudget, SequentialHalving, as_decider
from racer.seeding import seed_for
from racer.simulate import play

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.report import Row
    from racer.deciders import Decider

    Floats = NDArray[np.float64]

__all__ = ["COMPETITORS", "HALVING", "Size", "main", "point", "races", "ratios"]

HALVING = "halving"
NAMES = ("bayesian-friedman", "best-for-budget", "bayesian-best", "f-race", "t-race", "anytime")
COMPETITORS: dict[str, Decider | None] = {
    HALVING: OF_ONE_NUMBER[HALVING],
    **{name: OF_ONE_NUMBER[name] for name in NAMES},
    "best-for-budget-mean": BestForBudget(by="mean"),
    "halving-mean-rank": SequentialHalving(by="mean-rank"),
    **dict.fromkeys(BANDITS),
}


class Size(NamedTuple):
    """What is common to all races of a run."""

    rho: float
    repetitions: int
    jobs: int
    seed: int


def point(decider: str, world: str, candidates: int, budget: int, size: Size) -> dict[str, Any]:
    """Return what a decider makes of a budget, and halving of the observations that it used.

    `halving` is the regret of sequential halving by means, given that number of observations, and
    `ratio` the regret over it, in the same races.
    """
    used, mae, regret = races(decider, world, candidates, budget, size)
    mean = float(used.mean())
    # what is left of a budget is less than a block: as good as spent
    equal = budget if mean > 0.98 * budget else max(round(mean), FIRST * candidates)
    _, _, halving = races(HALVING, world, candidates, equal, size)
    row: dict[str, Any] = {"world": world, "candidates": candidates, "decider": decider}
    row |= {"budget": budget, "observations": mean}
    row["mae"], row["mae_se"] = mean_and_error(mae)
    row["regret"], row["regret_se"] = mean_and_error(regret)
    row["halving"] = float(halving.mean())
    row["ratio"], row["ratio_se"] = _ratio(regret, halving)
    return row | size._asdict()


def _ratio(ours: Floats, theirs: Floats) -> tuple[float, float]:
    """Return the ratio of the means of paired values, and its error by the delta method."""
    if not theirs.mean():
        return math.nan, math.nan
    ratio = float(ours.mean() / theirs.mean())
    return ratio, mean_and_error(ours - ratio * theirs)[1] / float(theirs.mean())


@lru_cache
def races(
    decider: str, world: str, candidates: int, budget: int, size: Size
) -> tuple[Floats, Floats, Floats]:
    """Return observations, MAE and regret of each race; the races of all deciders are the same."""
    made, chosen = WORLDS[world](candidates, size.rho), COMPETITORS[decider]
    if chosen is None:
        seeds = [seed_for(size.seed, "play", number) for number in range(size.repetitions)]
        mae, regret = np.array([played(decider, made, budget, seed) for seed in seeds]).T
        return np.full(size.repetitions, float(budget)), mae, regret
    rule: Any = as_decider(chosen)
    frame = play(
        replace(rule, first_test=FIRST),
        made,
        repetitions=size.repetitions,
        n_jobs=size.jobs,
        seed=size.seed,
        blocks=budget,  # more than a race can use
        budget=budget,
    ).frame
    used, mae, regret = frame[["observations", "mae", "regret"]].to_numpy(dtype=np.float64).T
    return used, mae, regret


def ratios(rows: Sequence[Row]) -> str:
    """Return a table with a line per decider and a column per world: geometric means over sizes."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["decider"] != HALVING:
            found.setdefault((row["decider"], row["world"]), []).append(row)
    means = [{"decider": name, "world": world, **_mean(of)} for (name, world), of in found.items()]
    return wide(means, {"decider": "`{decider}`"}, "{world}", pm("ratio"))


def _mean(rows: Sequence[Row]) -> dict[str, float]:
    """Return the geometric mean of ratios, and its standard error, sizes being independent."""
    if not all(row["ratio"] > 0.0 for row in rows):  # nor where there is none
        return {"ratio": math.nan, "ratio_se": math.nan}
    mean = math.exp(sum(math.log(row["ratio"]) for row in rows) / len(rows))
    spread = math.hypot(*(row["ratio_se"] / row["ratio"] for row in rows))
    return {"ratio": mean, "ratio_se": mean * spread / len(rows)}


@click.command()
@run_options(repetitions=200)
@words_option("--candidates", (10, 40), click.IntRange(2))
@words_option("--worlds", WORLDS)
@words_option("--deciders", COMPETITORS)
@words_option("--budgets", (20, 60), click.IntRange(FIRST), help="Evaluations per candidate.")
@csv_option
def main(
    repetitions: int,
    jobs: int,
    seed: int,
    candidates: tuple[int, ...],
    worlds: tuple[str, ...],
    deciders: tuple[str, ...],
    budgets: tuple[int, ...],
    csv_path: Path | None,
) -> None:
    """Print regret relative to sequential halving on as many observations, for every decider."""
    size = Size(1.0, repetitions, jobs, seed)
    names = (HALVING, *(name for name in deciders if name != HALVING))
    grid = product(worlds, candidates, budgets, names)
    todo = [(name, world, q, each * q) for world, q, each, name in grid]
    print(f"Regret against observations: {repetitions} repetitions, seed {seed}")
    rows = [point(*cell, size) for cell in with_progress(todo)]
    print(f"Regret relative to halving on as many observations:\n\n{ratios(rows)}")
    write(csv_path, rows)
