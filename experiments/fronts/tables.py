"""Races to the Pareto front, beside other procedures: losses, dominated candidates, evaluations.

Worlds have 12 candidates and 150 blocks; the true means are those of the law that draws blocks.
"S-Race" is written from what its paper's abstract and summaries say: sign tests of how often one
dominates the other on a block, by Holm's correction. Settings of racer's deciders were chosen on seeds
below 100 of "square", "half dominated" and of candidates that are tied in one metric.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np
from scipy.stats import binom, t

import racer
from experiments.options import jobs_option, number_option
from experiments.report import measured, plus_minus, table, write
from racer.stats.hypervolume import hypervolume
from racer.stats.several import on_front

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from experiments.report import Column

    Floats = NDArray[np.float64]

__all__ = ["main"]

HERE = Path(__file__).parent
M, N, ALPHA = 12, 150, 0.05
FIRST_SEED = 1000


class World(NamedTuple):
    """One draw: true means (m, d), costs (n, m, d), NaN where a cell failed, and exact metrics."""

    means: Floats
    costs: Floats
    exact: tuple[int, ...] = ()


def _line(rng: Generator, m: int) -> Floats:
    place = rng.random(m)
    return np.stack([place, 1.0 - place], axis=1)


def _half(rng: Generator) -> Floats:
    front = _line(rng, M // 2)
    behind = front[rng.integers(0, len(front), M - len(front))]
    return np.concatenate([front, behind + rng.uniform(0.5, 1.0, (len(behind), 1))])


def _normal(means: Floats, rng: Generator) -> World:
    return World(means, means + rng.standard_normal((N, *means.shape)))


def _heavy(rng: Generator) -> World:
    means = 1.6 * rng.random((M, 2))
    return World(means, means + rng.standard_t(3, (N, M, 2)) / math.sqrt(3.0))


def _unequal(rng: Generator) -> World:
    means = 1.6 * rng.random((M, 2))
    plain = means + rng.standard_normal((N, M, 2))
    scale = np.exp(rng.standard_normal((N, 1, 1)))
    return World(means, 10.0 * rng.standard_normal((N, 1, 1)) + scale * plain)


def _failing(rng: Generator) -> World:
    means = 1.6 * rng.random((M, 2))
    costs = means + rng.standard_normal((N, M, 2))
    costs[rng.random((N, M)) < 0.1] = np.nan  # each fails as often, so nobody is better by that
    return World(means, costs)


def _priced(rng: Generator) -> World:
    world = _normal(1.6 * rng.random((M, 2)), rng)
    world.costs[..., 1] = world.means[:, 1]
    return world._replace(exact=(1,))


WORLDS: dict[str, Callable[[Generator], World]] = {
    "all on the front": lambda rng: _normal(_line(rng, M), rng),
    "half dominated": lambda rng: _normal(_half(rng), rng),
    "square": lambda rng: _normal(1.6 * rng.random((M, 2)), rng),
    "heavy tails": _heavy,
    "unequal instances": _unequal,
    "three metrics": lambda rng: _normal(1.6 * rng.random((M, 3)), rng),
    "five metrics": lambda rng: _normal(1.6 * rng.random((M, 5)), rng),
    "a tenth fails": _failing,
    "exact prices": _priced,
}


class Kept(NamedTuple):
    """Who is left, and the evaluations used."""

    alive: NDArray[np.intp]
    used: int


def dominated(means: Floats) -> NDArray[np.bool_]:
    """Return which of (m, d) another is better than in every metric."""
    return np.asarray(~on_front(np.asarray(means)[None])[0])


def by_racer(decider: str, world: World) -> Kept:
    """Race with a decider of racer's."""
    d = world.means.shape[1]
    names = tuple("abcde"[:d])
    race = racer.Race(
        range(M),
        decider=decider,
        budget=M * N,
        seed=1,
        metrics={n: racer.Metric("min", exact=k in world.exact) for k, n in enumerate(names)},
        objective=racer.Pareto(*names),
    )
    block = 0
    while block < N and race.ask():
        rows = world.costs[block, list(race.alive)]
        race.tell_block(
            [
                racer.Outcome("failed", None, message="it failed")
                if np.isnan(row).any()
                else racer.Outcome("ok", float(row[0]), metrics=dict(zip(names, row, strict=True)))
                for row in rows
            ]
        )
        block += 1
    return Kept(np.array(race.alive), race.result().evaluations)


def one_by_one(rule: Callable[[Floats, int], NDArray[np.bool_]], world: World) -> Kept:
    """Race with a rule that returns whom to eliminate, given costs (n, m, d) and the block's number."""
    alive, used = np.arange(M), 0
    costs = np.where(np.isnan(world.costs), np.nanmax(world.costs) + 1.0, world.costs)
    for n in range(1, N + 1):
        used += len(alive)
        if n < 5:
            continue
        gone = rule(costs[:n, alive], n)
        if gone.all():
            gone[0] = False
        alive = alive[~gone]
    return Kept(alive, used)


def naive_t(costs: Floats, _: int) -> NDArray[np.bool_]:
    """Paired t-tests at 5 % in each metric, at every block."""
    differences = costs[:, :, None] - costs[:, None]
    error = differences.std(axis=0, ddof=1) / math.sqrt(len(costs)) + 1e-12
    ratio: Floats = np.asarray(differences.mean(axis=0) / error)
    is_worse: NDArray[np.bool_] = np.asarray(ratio > float(t.isf(ALPHA, len(costs) - 1)))
    in_all: NDArray[np.bool_] = np.asarray(is_worse.all(axis=2))
    return np.asarray(in_all.any(axis=1))


def s_race(costs: Floats, _: int) -> NDArray[np.bool_]:
    """S-Race: one-sided sign tests of dominance, by Holm's correction over the pairs."""
    wins = (costs[:, :, None] < costs[:, None]).all(axis=3).sum(axis=0)
    i, j = np.nonzero(~np.eye(costs.shape[1], dtype=bool))
    p: Floats = np.asarray(binom.sf(wins[i, j] - 1, wins[i, j] + wins[j, i], 0.5))
    order = np.argsort(p, kind="stable")
    rejected = np.logical_and.accumulate(p[order] <= ALPHA / (len(p) - np.arange(len(p))))
    gone = np.zeros(costs.shape[1], dtype=bool)
    gone[j[order[rejected]]] = True
    return gone


def all_blocks(world: World) -> Kept:
    """Evaluate everything, and take the front of the means."""
    return Kept(np.flatnonzero(~dominated(np.nanmean(world.costs, axis=0))), M * N)


WAYS: dict[str, Callable[[World], Kept]] = {
    "front": lambda world: by_racer("front", world),
    "bayesian-front": lambda world: by_racer("bayesian-front", world),
    "S-Race": lambda world: one_by_one(s_race, world),
    "t-tests at each block": lambda world: one_by_one(naive_t, world),
    "all blocks, front of means": all_blocks,
}


class Cell(NamedTuple):
    """A world, and a way to race in it."""

    world: str
    way: str


def one(cell: Cell, seed: int) -> dict[str, float]:
    """Race once; return what is lost of the front, left of the dominated, and used, as shares."""
    world = WORLDS[cell.world](np.random.default_rng([seed, len(cell.world)]))
    with np.errstate(all="ignore"):
        found = WAYS[cell.way](world)
    worse, alive = dominated(world.means), np.zeros(M, dtype=bool)
    alive[found.alive] = True
    span = np.ptp(world.means, axis=0)
    reference = world.means.max(axis=0) + 0.1 * np.where(span > 0.0, span, 1.0)
    whole = hypervolume(world.means, reference)
    return {
        "lost": float((~alive[~worse]).mean()),
        "any_lost": float((~alive[~worse]).any()),
        "left": float(alive[worse].mean()) if worse.any() else math.nan,
        "volume": 1.0 - hypervolume(world.means[alive], reference) / whole,
        "used": found.used / (M * N),
    }


def shown(name: str) -> Column:
    """Return the column of a share in per cent; "-" where nobody is dominated."""
    return lambda row: plus_minus(100.0 * abs(float(row[name])), math.nan, 1)


COLUMNS: dict[str, Column] = {
    "world": "{world}",
    "way": "{way}",
    "a given one lost": shown("lost"),
    "any lost": shown("any_lost"),
    "dominated left": shown("left"),
    "volume lost": shown("volume"),
    "used": shown("used"),
}


@click.command("fronts")
@number_option("--repetitions", 300, help="Races in each world.")
@jobs_option
def main(repetitions: int, jobs: int) -> None:
    """Race to fronts in nine worlds by five ways; write experiments/fronts/fronts.csv."""
    cells = [Cell(world, way) for world in WORLDS for way in WAYS]
    seeds = range(FIRST_SEED, FIRST_SEED + repetitions)
    rows = measured(one, cells, seeds, jobs, 0.05)
    print(table(rows, COLUMNS))
    write(HERE / "fronts.csv", rows)
