"""What racer's sampler finds in an Optuna study, beside TPE.

Two problems of the suite: five reals; 50 instances for tuning that differ in level, scale and
optimum; noise of sd 1. The number of evaluations is the same with one instance a trial and with
five. Quality is the mean over 200 other instances without level, scale and noise, smaller is
better: that of the trial with the best value, and the median of the last tenth of the trials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
import optuna

from experiments.options import csv_option, number_option
from experiments.report import markdown, mean_and_error, plus_minus, with_progress, write
from experiments.tuner.suite import SUITE
from racer.integrations.optuna import RacingSampler
from racer.seeding import block_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from optuna.samplers import BaseSampler

    from experiments.tuner.problem import Problem

__all__ = ["SAMPLERS", "Found", "main", "qualities", "ran"]

KINDS = ("sphere", "rastrigin")
PER_TRIAL = (5, 1)
SECONDS = 5e-3  # per trial
LATE = 0.1  # fraction of the trials that are late
TITLES = {"best": "trial with the best value", "late": "last tenth of the trials"}

SAMPLERS: dict[str, tuple[Callable[[int], BaseSampler], bool]] = {  # and whether trials report
    "TPESampler": (lambda seed: optuna.samplers.TPESampler(seed=seed), False),
    "RacingSampler, final values": (lambda seed: RacingSampler(seed=seed), False),
    "RacingSampler, values by instance": (lambda seed: RacingSampler(seed=seed), True),
}


class Found(NamedTuple):
    """The result of a study.

    Attributes
    ----------
    best : float
        Quality of the trial with the best value.
    late : float
        Median quality of the last tenth of the trials: where the sampler looks in the end.
    """

    best: float
    late: float


def ran(name: str, problem: Problem, trials: int, per_trial: int, seed: int) -> Found:
    """Run a study in memory; each trial is the mean over some instances.

    With one instance a trial, they take turns; several are the same for all trials.

    Parameters
    ----------
    name : str
        Of `SAMPLERS`.
    problem : Problem
    trials, per_trial, seed : int
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    make, reports = SAMPLERS[name]
    study = optuna.create_study(sampler=make(seed))
    order = rng_for(seed, "rotation").permutation(problem.tuning).tolist()
    distributions = problem.space.to_optuna()
    qualities = []
    for number in range(trials):
        trial = study.ask(distributions)
        blocks = range(number, number + 1) if per_trial == 1 else range(per_trial)
        values = []
        for block in blocks:
            instance = order[block % problem.tuning]
            values.append(problem(trial.params, instance, block_seed(seed, block)))
            if reports:
                trial.report(values[-1], step=instance)
        study.tell(trial, float(np.mean(values)))
        qualities.append(problem.quality(trial.params))
    late = round(trials * (1.0 - LATE))
    return Found(problem.quality(study.best_params), float(np.median(qualities[late:])))


@click.command()
@number_option("--seeds", 10, least=2)
@number_option("--evaluations", 1_000, least=200)
@csv_option
def main(seeds: int, evaluations: int, csv_path: Path | None) -> None:
    """Print the tables of qualities, mean ± standard error."""
    jobs = [
        (name, kind, per, seed)
        for kind in KINDS
        for per in PER_TRIAL
        for seed in range(seeds)
        for name in SAMPLERS
    ]
    expected = [evaluations / per * SECONDS for _, _, per, _ in jobs]
    rows = []
    for name, kind, per, seed in with_progress(
        jobs, expected, 1, lambda job: f"{job[0]}, {job[1]}"
    ):
        found = ran(name, SUITE[kind].draw(seed), evaluations // per, per, seed)
        rows.append(
            {"sampler": name, "problem": kind, "per_trial": per, "seed": seed, **found._asdict()}
        )
    write(csv_path, rows)
    for which in TITLES:
        print(qualities(rows, which), "\n")


def qualities(rows: Sequence[Mapping[str, Any]], which: str) -> str:
    """Return the mean qualities, by sampler and problem, as Markdown."""
    cases = [(kind, per) for kind in KINDS for per in PER_TRIAL]
    found: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        key = (row["sampler"], row["problem"], row["per_trial"])
        found.setdefault(key, []).append(row[which])
    table = [
        [name, *(plus_minus(*mean_and_error(np.array(found[name, *case]))) for case in cases)]
        for name in SAMPLERS
    ]
    return markdown((TITLES[which], *(f"{kind}, {per} a trial" for kind, per in cases)), table)
