"""Few instances, many seeds: levels and power of the gate, and how often P(best) is right.

Costs are a candidate's effect, its interaction with the instance (standard deviation 1), and noise
(1). About these instances, candidates are equal if the interactions cancel over them; about
instances like them, if interactions have the mean 0.
"""

from __future__ import annotations

import csv
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING

import click
import joblib
import numpy as np

from experiments.options import jobs_option, number_option
from racer.deciders import Blocks
from racer.deciders.parts.gates import Omnibus
from racer.deciders.parts.ranking import RunningRanks
from racer.stats import best_posterior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["main"]

HERE = Path(__file__).parent
SIZES = tuple(product((5, 10), (5, 10), (2, 4, 10)))  # candidates, instances, seeds
# what is asked, whether the first candidate is better, and by how much
WORLDS = {
    "these, equal ranks": (False, 0.0),
    "these, equal means": (False, 0.0),
    "these, one 0.3 better": (False, 0.3),
    "these, one 0.6 better": (False, 0.6),
    "like these, equal": (True, 0.0),
    "like these, one 1 better": (True, 1.0),
}
LEVEL = 0.05
GATES = ("world", "candidates", "instances", "seeds", "blind", "aware", "without")
BINS = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0])
SPREADS = (0.1, 0.3, 1.0)  # of candidates, in standard deviations of the noise
INTERACTIONS = (0.0, 0.3, 1.0)
SAID = (
    *("question", "interaction", "from", "to"),
    *("blind_n", "blind_said", "blind_true", "aware_n", "aware_said", "aware_true"),
)


def effects(world: str, m: int, n_instances: int, rng: np.random.Generator) -> Floats:
    """Return what instances add to the costs of candidates, (I, m).

    "these, equal ranks": in pairs of opposite sign, so that expected ranks are equal on average;
    "these, equal means": less their means over instances, so that expected costs are.
    """
    found = rng.normal(size=(n_instances, m))
    if world == "these, equal means":
        found -= found.mean(axis=0)
    elif world.startswith("these"):
        half = n_instances // 2
        found[half : 2 * half] = -found[:half]
        found[2 * half :] = 0.0
    return found


def opened(costs: Floats, instances: NDArray[np.intp] | None, seed: int, *, like: bool) -> bool:
    """Return whether the gate rejects "all equal"."""
    m = costs.shape[1]
    ranks = RunningRanks(m)
    ranks.update(Blocks(np.arange(m), costs, instances=instances))
    return Omnibus("sign-flip", LEVEL, seed, generalize=like).ask(ranks)[0]


def rejected(world: str, size: tuple[int, int, int], seed: int) -> tuple[bool, bool, bool]:
    """Return whether a gate rejects: blind to instances, aware of them, and without interaction.

    The last is blind, on costs from which the interaction was left out: what there is to find.
    """
    m, n_instances, seeds = size
    like, ahead = WORLDS[world]
    rng = np.random.default_rng([seed, m, n_instances, seeds])
    instances = np.tile(np.arange(n_instances), seeds)
    noise = rng.normal(size=(len(instances), m))
    noise[:, 0] -= ahead
    costs = noise + effects(world, m, n_instances, rng)[instances]
    return (
        opened(costs, None, seed, like=like),
        opened(costs, instances, seed, like=like),
        opened(noise, None, seed, like=like),
    )


def said(question: str, interaction: float, size: tuple[int, int, int], seed: int) -> Floats:
    """Return what is said of each candidate, blind and aware, and whether it is the best, (3, m)."""
    m, n_instances, seeds = size
    rng = np.random.default_rng([7, seed, m, n_instances, seeds])
    ability = rng.choice(SPREADS) * rng.normal(size=m)
    mixed = interaction * rng.normal(size=(n_instances, m))
    instances = np.tile(np.arange(n_instances), seeds)
    costs = ability + mixed[instances] + rng.normal(size=(len(instances), m))
    if rng.random() < 0.5:  # as after a race: half of the candidates have left
        seen = max(3, 2 * len(costs) // 5)
        costs[seen:, costs[:seen].mean(axis=0).argsort()[m // 2 :]] = np.nan
    like = question == "like these"
    best = (ability if like else ability + mixed.mean(axis=0)).argmin()
    blind = best_posterior(costs).probability_best
    aware = best_posterior(costs, instances=instances, generalize=like).probability_best
    return np.array([blind, aware, np.arange(m) == best])


def write(name: str, head: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    """Write a table to a file, and print it."""
    with (HERE / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
    lines = [head, ("---",) * len(head), *rows]
    click.echo("\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n")


def probabilities(question: str, interaction: float, drawn: Floats) -> list[tuple[object, ...]]:
    """Return a row for each bin of what is said of candidates, (3, k), and how often it is true."""
    rows: list[tuple[object, ...]] = []
    for low, high in pairwise(BINS):
        row: list[object] = [question, interaction, low, high]
        for chance in drawn[:2]:
            inside = (chance >= low) & ((chance < high) | (high == 1.0))
            n = int(inside.sum())
            means = (chance[inside].mean(), drawn[2][inside].mean()) if n else (np.nan, np.nan)
            row += [n, *(f"{mean:.3f}" for mean in means)]
        rows.append(tuple(row))
    return rows


@click.command("few-instances")
@number_option("--repetitions", 1000, help="Tables of each kind for the gate.")
@number_option("--tables", 100, help="Tables of each kind for P(best).")
@jobs_option
def main(repetitions: int, tables: int, jobs: int) -> None:
    """Show tables of few instances and many seeds to the gate and P(best); write two CSV files."""
    run = joblib.Parallel(n_jobs=jobs)
    gates: list[tuple[object, ...]] = []
    for world, size in product(WORLDS, SIZES):
        seeds = range(repetitions)
        found = np.mean(run(joblib.delayed(rejected)(world, size, s) for s in seeds), axis=0)
        gates.append((world, *size, *(f"{share:.3f}" for share in found)))
    write("gate.csv", GATES, gates)
    bins: list[tuple[object, ...]] = []
    for question, interaction in product(("like these", "these"), INTERACTIONS):
        kinds = list(product(SIZES, range(tables)))
        drawn = run(joblib.delayed(said)(question, interaction, size, s) for size, s in kinds)
        bins += probabilities(question, interaction, np.concatenate(drawn, axis=1))
    write("probabilities.csv", SAID, bins)
