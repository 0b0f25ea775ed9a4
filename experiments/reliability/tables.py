"""Reliability of P(best): what is said, and what is true, in tables, races, searches and tunings.

Worlds without failures and with them (`worlds.py`), 3, 10 and 30 candidates. Tables are complete, of
5 to 50 blocks; races are held by three deciders, with a budget of 15 and of 50 evaluations per
candidate; searches are tables and races over folds; tunings are of formulas. Of all candidates of all
of them (in tunings: of those that are compared), those of which a probability between two edges was
said are counted together. Where several are equally best, each is so with an equal part. Seeds are
other ones than those that the model was chosen on, which were 0 to 99.
"""

from __future__ import annotations

import math
import warnings
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import joblib
import numpy as np
import pandas as pd

import racer
from experiments.options import jobs_option, number_option, words_option
from experiments.reliability.counts import Summary, said, summary, table
from experiments.reliability.worlds import (
    FAILING,
    RUNTIME,
    TIMED,
    WORLDS,
    evaluate,
    folds,
    problems,
)
from experiments.sklearn_folds.worlds import race_over_folds
from racer.deciders import CorrelatedTRace
from racer.stats import best_posterior

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from experiments.reliability.counts import Said
    from experiments.reliability.worlds import Drawn

__all__ = ["main"]

HERE = Path(__file__).parent
CANDIDATES = (3, 10, 30)
BLOCKS = (5, 10, 20, 50)
DECIDERS = ("bayesian-friedman", "f-race", "best-for-budget")
PER_CANDIDATE = (15, 50)
N_FOLDS = (5, 10, 20)
FIRST_SEED = 200  # the model was chosen on those before
BUDGETS = (400, 1200)  # of a tuning, in evaluations
MORE, OVER_FOLDS = 4, 12  # draws of tables and races, and of folds, for each repetition
# Widths of the uniform qualities of models, in standard deviations of a fold's noise. In searches of
# 24 models of real data the means vary by .35 to 5.6 of them.
WIDTHS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
NEAR = 1.0  # up to this width they hardly differ


def raced(drawn: Drawn, budget: int, seed: int, **settings: Any) -> racer.RaceResult:
    """Race the candidates of a draw."""
    race = racer.Race(range(len(drawn.quality)), budget=budget, seed=seed, **settings)
    costs = cache(drawn.costs)
    while cells := race.ask():
        for cell in cells:
            cost = float(costs(cell.block)[cell.candidate])
            told = racer.Outcome("ok", cost)
            if cell.bound is not None and cost >= cell.bound:
                told = racer.Outcome("capped", cell.bound)
            elif math.isinf(cost):
                told = racer.Outcome("failed", None, message="by chance")
            race.tell(cell, told)
    return race.result()


def in_world(name: str, m: int, seed: int) -> list[Said]:
    """Return what is said of tables and of races of m candidates of a world."""
    drawn, rows = (WORLDS | FAILING)[name](m, seed), []
    for n in BLOCKS:
        table = np.array([drawn.costs(block) for block in range(n)])
        rows.append(said("tables", name, drawn.quality, best_posterior(table)))
    for decider, each in product(DECIDERS, PER_CANDIDATE):
        result = raced(drawn, each * m, seed, decider=decider)
        rows.append(said(decider, name, drawn.quality, result.posterior, result.leader))
    return rows


def of_run_times(name: str, m: int, seed: int) -> list[Said]:
    """Return what is said of races of m candidates by PAR10, with caps and all defaults."""
    drawn = TIMED[name](m, seed)
    result = raced(drawn, 25 * m, seed, runtime=RUNTIME)
    leader = result.survivors[0] if result.leader is None else result.leader
    return [said("run times", name, drawn.quality, result.posterior, leader)]


def over_folds(n: int, seed: int) -> list[Said]:
    """Return what is said of models over n folds: all folds, and a search that drops models."""
    rng, rows = np.random.default_rng([seed, n]), []
    for width in WIDTHS:
        costs, quality = folds(n, width, rng)
        world = f"models, {'near' if width <= NEAR else 'apart'}"
        found = best_posterior(costs, measure="mean", correlation=1.0 / n)
        rows.append(said(f"{n} folds", world, quality, found))
        result = race_over_folds(CorrelatedTRace(1.0 / n), costs, seed)
        rows.append(said(f"{n} folds", world, quality, result.posterior, result.leader))
    return rows


def in_tunings(seed: int) -> list[Said]:
    """Return what is said of the candidates of tunings that are compared."""
    rows = []
    for name, (space, formula) in problems().items():
        for noise, budget in product((0.05, 0.3), BUDGETS):
            noisy = partial(evaluate, formula, noise)
            result = racer.tune(space, noisy, range(30), budget=budget, seed=seed)
            quality = np.array([formula(config) for config in result.configs])
            known = (result.posterior, result.leader, result.compared)
            rows.append(said("tunings", f"tunings, {name}", quality, *known))
    return rows


def groups(rows: Sequence[Said]) -> Iterable[tuple[str, list[Said]]]:
    """Yield what is reported: by source, by world, by number of candidates."""
    drawn = [row for row in rows if row.world in WORLDS]
    wholes: dict[str, Callable[[Said], bool]] = {
        "tables and races": lambda row: row.world in WORLDS,
        "failures": lambda row: row.world in FAILING,
        "folds": lambda row: row.source.endswith("folds"),
    }
    for name, holds in wholes.items():
        yield name, [row for row in rows if holds(row)]
    for source in dict.fromkeys(row.source for row in rows if row.world not in FAILING):
        yield source, [row for row in rows if row.source == source and row.world not in FAILING]
    for world in dict.fromkeys(row.world for row in rows):
        yield world, [row for row in rows if row.world == world]
    for m in CANDIDATES:
        yield f"{m} candidates", [row for row in drawn if row.candidates == m]


def counted(call: tuple[Any, ...]) -> list[Said]:
    """Return what a function of this module counts; races may set blocks aside in silence."""
    warnings.simplefilter("ignore", racer.RacerWarning)
    function, *arguments = call
    return list(function(*arguments))


def seeds(repetitions: int) -> range:
    """Return so many seeds."""
    return range(FIRST_SEED, FIRST_SEED + repetitions)


PARTS: dict[str, Callable[[int], Iterable[tuple[Any, ...]]]] = {
    "worlds": lambda n: product((in_world,), WORLDS, CANDIDATES, seeds(MORE * n)),
    "failures": lambda n: product((in_world,), FAILING, CANDIDATES, seeds(n)),
    "run-times": lambda n: product((of_run_times,), TIMED, CANDIDATES, seeds(n)),
    "tunings": lambda n: product((in_tunings,), seeds(n)),
    "folds": lambda n: product((over_folds,), N_FOLDS, seeds(OVER_FOLDS * n)),
}


@click.command("reliability")
@number_option(
    "--repetitions", 60, help="A quarter of the draws of each world, a twelfth of folds."
)
@words_option("--parts", PARTS)
@jobs_option
def main(repetitions: int, parts: tuple[str, ...], jobs: int) -> None:
    """Count how often P(best) is right, and write experiments/reliability/reliability.csv."""
    calls = [joblib.delayed(counted)(call) for part in parts for call in PARTS[part](repetitions)]
    write([row for some in joblib.Parallel(n_jobs=jobs)(calls) for row in some])


def write(rows: Sequence[Said]) -> None:
    """Print what was counted by groups, and write it: recorded groups of other parts stay."""
    found = {name: some for name, some in groups(rows) if some}
    bins = [(name, *row) for name, some in found.items() for row in table(some)]
    counted = pd.DataFrame(bins, columns=["group", "said", "true", "candidates"])
    summaries = [(name, *summary(some)) for name, some in found.items()]
    told = pd.DataFrame(summaries, columns=["group", *Summary._fields])
    for file, new in (("reliability.csv", counted), ("groups.csv", told)):
        recorded = pd.read_csv(HERE / file) if (HERE / file).exists() else new
        stays = recorded[~recorded["group"].isin(list(found))]
        pd.concat([stays, new] if len(stays) else [new]).to_csv(
            HERE / file, index=False, float_format="%.5g"
        )
    click.echo(told.to_string(index=False))
