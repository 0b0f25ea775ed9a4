"""How often each decider drops a best candidate, and what its races cost: one line per decider.

Races in which all candidates are equal, and in which one is better by 0.25 and 1 standard
deviations of the noise (of its scale where it has none), with the library's first_test and
each_test. In percent with standard errors: the races that drop a best candidate (where all are equal:
the fraction of the candidates that is dropped). All deciders meet the same races.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
import pandas as pd

from experiments import worlds as drawn_from
from experiments.deciders import BY_CLASS, OF_ONE_NUMBER
from experiments.options import csv_option, run_options, words_option
from experiments.report import markdown, measured, pm, write
from racer.deciders import (
    AnytimeRace,
    BayesianBest,
    BayesianFriedman,
    BestForBudget,
    FRace,
    SequentialHalving,
)
from racer.seeding import seed_for
from racer.simulate.play import run_race

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.report import Row
    from racer import RaceResult
    from racer.deciders import Decider
    from racer.simulate import World

__all__ = ["DECIDERS", "Cell", "counts", "main", "rates", "summary"]

WORLDS = {name: world for name, world in drawn_from.WORLDS.items() if name != "runtime"}
NAMED: Mapping[str, Decider] = {
    name: decider
    for name, decider in OF_ONE_NUMBER.items()
    if name not in BY_CLASS and decider.bounds is None
}
EACH_BLOCK = "bayesian-friedman-no-pair-prior-each-block"
DECIDERS: Mapping[str, Decider] = {
    **NAMED,
    **BY_CLASS,
    "bayesian-friedman-no-gate": BayesianFriedman(gate=False),
    "f-race-no-gate": FRace(gate=False),
    "bayesian-friedman-0.99": BayesianFriedman(confidence=0.99),
    "f-race-0.01": FRace(alpha=0.01),
    "anytime-familywise": AnytimeRace(familywise=True),
    EACH_BLOCK: BayesianFriedman(pair_strength=0.0),
}
PLANNERS = (SequentialHalving, BayesianBest, BestForBudget)  # they spend the budget they are given
COUNTS = ("best_dropped", "any_dropped", "blocks_used", "observations")
HEAD = (
    *("decider", "all equal: drops a given one", "worst cell: drops a given best one"),
    *("keeps its alpha", "worst cell: drops any best one", "1 sd better: observations"),
)


class Cell(NamedTuple):
    """One decider in one world."""

    decider: str
    world: str
    candidates: int
    effect: float  # how much better one candidate is, in units of the noise

    def draws_from(self) -> World:
        """Return the world: noise of scale 1, one candidate better by `effect`."""
        qualities = (-self.effect, *[0.0] * (self.candidates - 1))
        return WORLDS[self.world](self.candidates, 1.0, qualities=qualities)


def counts(horizons: Sequence[int], cell: Cell, seed: int) -> dict[int, dict[str, float]]:
    """Return COUNTS of one race by each horizon, a number of blocks.

    best_dropped is the fraction of the best candidates that was dropped; with all equal, each of
    them is one. blocks_used and observations: until the race was decided, or all blocks.

    A race that tests after each block contains the shorter ones. Others also test at their end, or
    plan with the budget, which is spent on as many blocks as it pays for: a race is run for each.
    """
    decider: Any = DECIDERS[cell.decider]
    drawn = cell.draws_from().draw(seed)
    best = np.flatnonzero(drawn.quality == drawn.quality.min())
    each_test, plans = 1 if cell.decider == EACH_BLOCK else None, isinstance(decider, PLANNERS)

    def run(blocks: int) -> RaceResult:
        budget = blocks * cell.candidates
        rules = {"decider": replace(decider, each_test=each_test), "budget": budget}
        return run_race(drawn, seed, budget if plans else blocks, rules)

    if plans or (each_test is None and decider.tests == "growing"):
        found = {horizon: _by(run(horizon), best) for horizon in horizons}
    else:
        longest = run(max(horizons))
        found = {horizon: _by(longest, best, horizon) for horizon in horizons}
    return {horizon: dict(zip(COUNTS, values, strict=True)) for horizon, values in found.items()}


def _by(
    result: RaceResult, best: NDArray[np.intp], horizon: int | None = None
) -> tuple[float, ...]:
    rows = result.known.rows[:horizon]
    gone = result._eliminations  # noqa: SLF001  (as events: a frame each takes most of the time)
    out = [one.candidate for one in gone if one.block < len(rows)]
    fraction = float(np.isin(best, out).mean())
    return fraction, float(bool(out)), len(rows), sum(len(row.candidates) for row in rows)


def rates(
    cells: Sequence[Cell], blocks: Sequence[int], repetitions: int, jobs: int, seed: int
) -> list[dict[str, Any]]:
    """Return a row for each cell and number of blocks: means and standard errors of COUNTS."""
    seeds = [seed_for(seed, "error-rates", repetition) for repetition in range(repetitions)]
    found = measured(partial(counts, blocks), cells, seeds, jobs, by="blocks")
    return [row | {"seed": seed} for row in found]


def alpha(name: str) -> float:
    """Return the level of a decider (1 - confidence, or threshold); NaN where it has none."""
    match DECIDERS[name]:
        case object(confidence=float(confidence)):
            return 1.0 - confidence
        case object(alpha=float(level)) | object(threshold=float(level)):
            return level
        case _:
            return math.nan


def label(name: str) -> str:
    """Return the name of a decider, or the object with what is not default."""
    if name in NAMED:
        return f'"{name}"'
    decider: Any = DECIDERS[name]
    chosen = [(each.name, vars(decider)[each.name], each.default) for each in fields(decider)]
    given = [f"{setting}={value!r}" for setting, value, default in chosen if value != default]
    named = f"{type(decider).__name__}({', '.join(given)})".replace("'", '"')
    return f"{named}, each_test=1" if name == EACH_BLOCK else named


def keeps(level: float, rate: float, error: float) -> str:
    """Return whether a rate is within two standard errors of a level; without one, neither."""
    if math.isnan(level):
        return "promises none"
    return "yes" if rate <= level + 2.0 * (0.0 if math.isnan(error) else error) else "no"


def summary(rows: Sequence[Row]) -> str:
    """Return a line per decider; figures of cells that were not run are left out.

    All but the worst cells, which are of all worlds, are for normal noise and 10 candidates. A
    decider keeps its alpha if in its worst cell a given best candidate is dropped no more often
    than that, give or take two standard errors.
    """
    percent, lines = {name: pm(name, 1, 100) for name in COUNTS[:2]}, []
    for name in dict.fromkeys(row["decider"] for row in rows):
        own = [row for row in rows if row["decider"] == name]
        plain = [row for row in own if (row["world"], row["candidates"]) == ("normal", 10)]
        at = {(row["effect"], row["blocks"]): row for row in plain}
        equal, clear = at.get((0.0, 50)), at.get((1.0, 200))
        worst = max(own, key=lambda row: row["best_dropped"])
        families = [(COUNTS[not row["effect"]], row) for row in own]  # any best one
        family, of_any = max(families, key=lambda pair: pair[1][pair[0]])
        lines.append(
            (
                f"`{label(name)}`",
                percent["best_dropped"](equal) if equal else "-",
                percent["best_dropped"](worst),
                keeps(alpha(name), worst["best_dropped"], worst["best_dropped_se"]),
                percent[family](of_any),
                pm("observations", 0)(clear) if clear else "-",
            )
        )
    return markdown(HEAD, lines)


@click.command()
@words_option("--deciders", DECIDERS)
@words_option("--worlds", WORLDS)
@words_option("--candidates", (2, 10, 30), click.IntRange(2))
@words_option(
    "--effects",
    (0, 0.25, 1),
    click.FloatRange(0.0, 1e6),
    help="By how many standard deviations one candidate is better; 0 is all equal.",
)
@words_option("--blocks", (10, 50, 200), click.IntRange(5), help="When to count.")
@run_options(400)
@csv_option
def main(
    deciders: tuple[str, ...],
    worlds: tuple[str, ...],
    candidates: tuple[int, ...],
    effects: tuple[float, ...],
    blocks: tuple[int, ...],
    repetitions: int,
    jobs: int,
    seed: int,
    csv_path: Path | None,
) -> None:
    """Print how often each decider drops a best candidate, and what its races cost.

    A file that is there already keeps its other rows, which count in the summary as well.
    """
    grid = product(worlds, candidates, effects, deciders)
    cells = [Cell(decider, world, m, effect) for world, m, effect, decider in grid]
    print(f"Error rates: {len(cells)} cells, {repetitions} races each, seed {seed}.\n", flush=True)
    rows: list[Row] = []
    if csv_path is not None and csv_path.exists():
        rows += pd.read_csv(csv_path).to_dict("records")
    rows += rates(cells, blocks, repetitions, jobs, seed)
    ordered = sorted({_place(row): row for row in rows}.values(), key=_place)
    print(summary(ordered))
    write(csv_path, ordered)


def _place(row: Row) -> tuple[float, ...]:
    """Return where a row stands in the file."""
    numbers = (row["candidates"], row["effect"], row["blocks"])
    return (list(WORLDS).index(row["world"]), list(DECIDERS).index(row["decider"]), *numbers)
