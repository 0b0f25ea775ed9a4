"""What deciders reach as those of a tuner, on the same problems and seeds.

The logarithm of the quality that is reached, less that of the first decider: the mean over seeds, and
its standard error. "scaled": instances are of wildly unequal scale while it is tuned, and of
one when quality is judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click
import numpy as np

import racer
from experiments.options import number_option, words_option
from experiments.report import markdown, mean_and_error, plus_minus
from experiments.tuner.problems import FOR_TUNING, INSTANCES, KINDS, problem, space
from racer.deciders import BayesianFriedman, as_decider
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.tuner.problems import Kind
    from racer.deciders import Decider

__all__ = ["main"]

FIRST = "bayesian-friedman-no-pair-prior"
DECIDERS: Mapping[str, Decider] = {
    FIRST: BayesianFriedman(pair_strength=0.0),
    **{name: as_decider(name) for name in ("bayesian-friedman", "best-for-budget", "f-race")},
}
LOG_SCALE = 1.5
ONE = np.ones(INSTANCES)


def reached(name: str, kind: Kind, budget: int, seed: int, *, scaled: bool) -> float:
    """Return the logarithm of the quality of the configuration that a tuning ends with."""
    judged = tuned = problem(kind, seed)
    if scaled:
        scale = np.exp(rng_for(seed, "scales").normal(0.0, LOG_SCALE, INSTANCES))
        judged, tuned = replace(judged, scale=ONE), replace(tuned, scale=scale)
    best = racer.tune(
        space(), tuned, range(FOR_TUNING), budget=budget, seed=seed, decider=DECIDERS[name]
    ).best
    return float(np.log(judged.quality(best or {})))


@click.command()
@number_option("--seeds", 20, least=2)
@number_option("--first-seed", 1000, least=0)
@number_option("--budget", 1000, least=200)
@words_option("--deciders", DECIDERS)
def main(seeds: int, first_seed: int, budget: int, deciders: tuple[str, ...]) -> None:
    """Print what each decider reaches, as a difference of logarithms; smaller is better."""
    names = [FIRST, *(name for name in deciders if name != FIRST)]
    lines = []
    columns = [(kind, scaled) for scaled in (False, True) for kind in KINDS]
    found = {
        (name, *column): np.array(
            [
                reached(name, column[0], budget, seed, scaled=column[1])
                for seed in range(first_seed, first_seed + seeds)
            ]
        )
        for column in columns
        for name in names
    }
    for name in names:
        differences = (found[name, *column] - found[FIRST, *column] for column in columns)
        lines.append([f"`{name}`", *(plus_minus(*mean_and_error(d)) for d in differences)])
    head = ("decider", *(f"{kind}, scaled" if scaled else kind for kind, scaled in columns))
    print(markdown(head, lines))
