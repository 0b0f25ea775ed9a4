"""Learning curves under pruners: trials that report after each epoch or boosting round.

A trial's loss falls from its start to its final value by a power of the round, or exponentially,
at a rate of its own, with noise. The best trial is that with the least final value. Counted are
studies in which that is pruned, the rounds that are run, and studies in which racer's pruner warns
that these are no instances. Last come studies whose steps are instances, in random order.
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np
import optuna

import racer
from experiments.options import jobs_option, number_option
from experiments.optuna_study.pruning import quiet
from experiments.report import measured, table
from racer.integrations.optuna import RacingPruner
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from optuna.pruners import BasePruner

    from experiments.report import Columns

__all__ = ["main"]

PRUNERS: dict[str, Callable[[], BasePruner]] = {
    "RacingPruner": RacingPruner,
    "MedianPruner": optuna.pruners.MedianPruner,
    "WilcoxonPruner": optuna.pruners.WilcoxonPruner,
}
SECONDS = 0.2  # a study
NOISES = (0.02,)  # standard deviations; final values spread by 0.1
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


class Case(NamedTuple):
    """Steps of a kind under a pruner: noise of curves, or the spread of instances."""

    steps: str
    pruner: str
    spread: float


def one(trials: int, rounds: int, seed: int, case: Case, study: int) -> dict[str, float]:
    """Return whether the best trial is pruned, the steps run in percent, and whether racer warns."""
    draw = curves if case.steps.startswith("curve") else on_instances
    losses = draw(rng_for(seed, "curves", study), trials, rounds, case.spread)
    best, run, warned = pruned(PRUNERS[case.pruner], losses)
    return {"pruned": best, "run": 100.0 * run / (trials * rounds), "warned": warned}


def pruned(make: Callable[[], BasePruner], losses: NDArray[np.float64]) -> tuple[bool, int, bool]:
    """Return whether the best trial of a study is pruned, the rounds, and whether racer warns."""
    rounds, gone = 0, []
    with quiet(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        study = optuna.create_study(pruner=make())
        for row in losses[:, :-1].tolist():
            trial = study.ask()
            gone.append(False)
            for step, value in enumerate(row):
                trial.report(value, step)
                rounds += 1
                if trial.should_prune():
                    gone[-1] = True
                    break
            state = optuna.trial.TrialState.PRUNED if gone[-1] else None
            study.tell(trial, None if gone[-1] else row[-1], state=state)
    has_warned = any(w.category is racer.RacerWarning for w in caught)
    return gone[int(losses[:, -1].argmin())], rounds, has_warned


@click.command()
@number_option("--studies", 100)
@number_option("--trials", 20)
@number_option("--rounds", 30, least=10)
@number_option("--seed", 0, least=0)
@jobs_option
def main(*, studies: int, trials: int, rounds: int, seed: int, jobs: int) -> None:
    """Count the best trials that pruners lose on learning curves."""
    kinds = [(f"curve, noise {noise}", noise) for noise in NOISES]
    kinds += [(f"instances, sd {spread:g}", spread) for spread in DIFFICULTIES]
    cases = [Case(kind, name, spread) for (kind, spread), name in product(kinds, PRUNERS)]
    rows = measured(partial(one, trials, rounds, seed), cases, range(studies), jobs, SECONDS)
    columns: Columns = {
        "steps": "{steps}",
        "pruner": "`{pruner}`",
        "best trials pruned": lambda row: f"{studies * row['pruned']:.0f} of {studies}",
        "steps run, %": "{run:.0f}",
        "warned": lambda row: f"{studies * row['warned']:.0f}",
    }
    print(table(rows, columns))
