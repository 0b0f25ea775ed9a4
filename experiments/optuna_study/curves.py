"""Learning curves under pruners: trials that report after each epoch or boosting round.

A trial's loss falls from its start to its final value by a power of the round, or exponentially,
at a rate of its own, with noise. The best trial is that with the least final value. Counted are
studies in which that is pruned, the rounds that are run, and studies in which racer's pruner warns
that these are no instances. Last come studies whose steps are instances, in random order.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING

import click
import numpy as np
import optuna

import racer
from experiments.options import number_option
from experiments.optuna_study.pruning import quiet
from experiments.report import print_row
from racer.integrations.optuna import RacingPruner
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from optuna.pruners import BasePruner

    Draw = Callable[[np.random.Generator, int, int, float], NDArray[np.float64]]

__all__ = ["main"]

PRUNERS: dict[str, Callable[[], BasePruner]] = {
    "RacingPruner": RacingPruner,
    "MedianPruner": optuna.pruners.MedianPruner,
    "WilcoxonPruner": optuna.pruners.WilcoxonPruner,
}
NOISES = (0.0, 0.005, 0.02)  # standard deviations; final values spread by 0.1
DIFFICULTIES = (0.0, 3.0)  # of instances; the noise is 1, as the spread of trials


def curves(rng: np.random.Generator, trials: int, rounds: int, noise: float) -> NDArray[np.float64]:
    """Return the losses of trials, (trials, rounds), and their final values as the last column."""
    final = 0.3 + 0.1 * rng.normal(size=(trials, 1))
    start = rng.uniform(0.5, 1.5, size=(trials, 1))
    t = np.arange(1.0, rounds + 1.0)
    if rng.random() < 0.5:
        falls = t ** -rng.uniform(0.3, 1.0, size=(trials, 1))
    else:
        falls = np.exp(-t / rng.uniform(2.0, rounds / 3.0, size=(trials, 1)))
    losses = final + start * falls
    return np.hstack([losses + noise * rng.normal(size=losses.shape), losses[:, -1:]])


def on_instances(
    rng: np.random.Generator, trials: int, rounds: int, difficulty: float
) -> NDArray[np.float64]:
    """Return the values of trials on instances, and as the last column what they are without noise."""
    quality = rng.normal(size=(trials, 1))
    values = quality + difficulty * rng.normal(size=rounds)
    return np.hstack([values + rng.normal(size=values.shape), quality])


def one(make: Callable[[], BasePruner], losses: NDArray[np.float64]) -> tuple[bool, int, bool]:
    """Return whether the best trial of a study is pruned, the rounds, and whether racer warns."""
    rounds, pruned = 0, []
    with quiet(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = optuna.create_study(pruner=make())
        for row in losses[:, :-1].tolist():
            trial = study.ask()
            pruned.append(False)
            for step, value in enumerate(row):
                trial.report(value, step)
                rounds += 1
                if trial.should_prune():
                    pruned[-1] = True
                    break
            state = optuna.trial.TrialState.PRUNED if pruned[-1] else None
            study.tell(trial, None if pruned[-1] else row[-1], state=state)
    has_warned = any(w.category is racer.RacerWarning for w in caught)
    return pruned[int(losses[:, -1].argmin())], rounds, has_warned


@click.command()
@number_option("--studies", 100)
@number_option("--trials", 20)
@number_option("--rounds", 30, least=10)
@number_option("--seed", 0, least=0)
def main(*, studies: int, trials: int, rounds: int, seed: int) -> None:
    """Count the best trials that pruners lose on learning curves."""
    print_row("steps", "pruner", "best trials pruned", "steps run, %", "warned", head=True)
    kinds: list[tuple[str, Draw, float]] = [
        (f"curve, noise {noise}", curves, noise) for noise in NOISES
    ]
    kinds += [(f"instances, sd {spread:g}", on_instances, spread) for spread in DIFFICULTIES]
    for (kind, draw, spread), (name, make) in product(kinds, PRUNERS.items()):
        found = [
            one(make, draw(rng_for(seed, "curves", study), trials, rounds, spread))
            for study in range(studies)
        ]
        lost, run, warned = (np.array(column) for column in zip(*found, strict=True))
        share = 100.0 * run.mean() / (trials * rounds)
        said = f"{warned.sum()}" if name == "RacingPruner" else "-"
        print_row(kind, f"`{name}`", f"{lost.sum()} of {studies}", f"{share:.0f}", said)
