"""Optuna's TPE and racer's sampler, in studies of the same problem."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import optuna

from experiments.tuner.problems import FOR_TUNING, space
from racer.integrations.optuna import RacingSampler
from racer.seeding import block_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from optuna.samplers import BaseSampler

    from experiments.tuner.problems import Problem

__all__ = ["SAMPLERS", "Found", "ran"]

LATE = 0.1  # share of the trials that are late

SAMPLERS: dict[str, tuple[Callable[[int], BaseSampler], bool]] = {  # and whether trials report
    "TPESampler": (lambda seed: optuna.samplers.TPESampler(seed=seed), False),
    "RacingSampler, final values": (lambda seed: RacingSampler(seed=seed), False),
    "RacingSampler, values by instance": (lambda seed: RacingSampler(seed=seed), True),
}


class Found(NamedTuple):
    """What came of a study.

    Attributes
    ----------
    best : float
        Quality of the trial with the best value.
    late : float
        Median quality of the last tenth of the trials: where the sampler looks in the end.
    milliseconds : float
        Wall time of a trial within the sampler and Optuna, on average over the study.
    late_milliseconds : float
        The same for the last tenth.
    """

    best: float
    late: float
    milliseconds: float
    late_milliseconds: float


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
    order = rng_for(seed, "rotation").permutation(FOR_TUNING).tolist()
    distributions = space().to_optuna()
    qualities, times = [], []
    for number in range(trials):
        start = time.perf_counter()
        trial = study.ask(distributions)
        times.append(time.perf_counter() - start)
        blocks = range(number, number + 1) if per_trial == 1 else range(per_trial)
        values = []
        for block in blocks:
            instance = order[block % FOR_TUNING]
            values.append(problem(trial.params, instance, block_seed(seed, block)))
            if reports:
                trial.report(values[-1], step=instance)
        study.tell(trial, float(np.mean(values)))
        qualities.append(problem.quality(trial.params))
    late = round(trials * (1.0 - LATE))
    return Found(
        problem.quality(study.best_params),
        float(np.median(qualities[late:])),
        1e3 * float(np.mean(times)),
        1e3 * float(np.mean(times[late:])),
    )
