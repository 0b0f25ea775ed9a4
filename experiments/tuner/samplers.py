"""What racer's sampler finds in an Optuna study, beside TPE.

Two problems of the suite: five reals; 50 instances for tuning that differ in level, scale and
optimum; noise of sd 1. The number of evaluations is the same with one instance a trial and with
five. Quality is the mean over 200 other instances without level, scale and noise, smaller is
better: that of the trial with the best value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np
import optuna

from experiments.options import csv_option, number_option
from experiments.report import averaged, pm, wide, with_progress, write
from experiments.tuner.suite import SUITE
from racer.integrations.optuna import RacingSampler
from racer.seeding import block_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from optuna.samplers import BaseSampler

    from experiments.report import Row
    from experiments.tuner.problem import Problem

__all__ = ["SAMPLERS", "main", "qualities", "ran"]

KINDS = ("sphere", "rastrigin")
PER_TRIAL = (5, 1)

SAMPLERS: dict[str, tuple[Callable[[int], BaseSampler], bool]] = {  # and whether trials report
    "TPESampler": (lambda seed: optuna.samplers.TPESampler(seed=seed), False),
    "RacingSampler, final values": (lambda seed: RacingSampler(seed=seed), False),
    "RacingSampler, values by instance": (lambda seed: RacingSampler(seed=seed), True),
}


def ran(name: str, problem: Problem, trials: int, per_trial: int, seed: int) -> float:
    """Run a study in memory; return the quality of its best trial.

    Each trial is the mean over some instances.

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
    return problem.quality(study.best_params)


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
    rows = []
    for name, kind, per, seed in with_progress(jobs):
        found = ran(name, SUITE[kind].draw(seed), evaluations // per, per, seed)
        rows.append(
            {"sampler": name, "problem": kind, "per_trial": per, "seed": seed, "best": found}
        )
    write(csv_path, rows)
    print(qualities(rows))


def qualities(rows: Sequence[Row]) -> str:
    """Return the mean qualities, by sampler and problem, as Markdown."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        key = (row["sampler"], f"{row['problem']}, {row['per_trial']} a trial")
        found.setdefault(key, []).append({"best": row["best"]})
    means = [{"sampler": name, "case": case, **averaged(of)} for (name, case), of in found.items()]
    return wide(means, {"trial with the best value": "{sampler}"}, "{case}", pm("best"))
