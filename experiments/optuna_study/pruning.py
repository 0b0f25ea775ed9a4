"""When pruners prune: equal and worse challengers of trials that are already there.

Values are quality + difficulty of the instance + normal noise with sd 1, to be minimised. The
challenger reports instance by instance and asks after each, through Optuna.
"""

from __future__ import annotations

import math
import time
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import joblib
import numpy as np
import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.trial import TrialState, create_trial

from racer.deciders import (
    AnytimeRace,
    BayesianFriedman,
    BradleyTerryRace,
    FRace,
    SignedRankRace,
    TRace,
)
from racer.integrations.optuna import RacingPruner
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray
    from optuna.pruners import BasePruner

    from racer.deciders import Decider

__all__ = ["DEFAULTS", "LADDERS", "Setting", "milliseconds", "prunings", "quiet", "running"]


def _wilcoxon(level: float) -> BasePruner:
    return optuna.pruners.WilcoxonPruner(p_threshold=level)


def _racing(decider: Decider) -> BasePruner:
    """Return a pruner that is told that steps are instances, and not how many there are to come."""
    return RacingPruner(decider, instances=1_000_000)


# One pruner per level of error that it is given; the deciders with the settings of their names
LADDERS: Mapping[str, Callable[[float], BasePruner]] = {
    "WilcoxonPruner": _wilcoxon,
    "anytime": lambda level: _racing(AnytimeRace(level)),
    "bayesian-friedman": lambda level: _racing(BayesianFriedman(1.0 - level, epsilon=0.0)),
    "f-race": lambda level: _racing(FRace(alpha=level)),
    "f-race-sign": lambda level: _racing(FRace("sign", alpha=level)),
    "f-race-mean-rank": lambda level: _racing(FRace("mean-rank", alpha=level)),
    "t-race": lambda level: _racing(TRace(alpha=level)),
    "bradley-terry": lambda level: _racing(BradleyTerryRace(threshold=level)),
    "signed-rank": lambda level: _racing(SignedRankRace(confidence=1.0 - level)),
}
DEFAULTS: Mapping[str, float] = {"WilcoxonPruner": 0.1, **dict.fromkeys(list(LADDERS)[1:], 0.05)}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Optuna from logging trials, and from warning of what is experimental in it."""
    verbosity = optuna.logging.get_verbosity()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        try:
            yield
        finally:
            optuna.logging.set_verbosity(verbosity)


@dataclass(frozen=True)
class Setting:
    """What a challenger meets.

    Attributes
    ----------
    instances : int
    worse : float
        By how much the challenger is worse than the best trial, in sds of the noise.
    difficulty : float
        The sd of the instances' difficulty.
    earlier : int
        Complete trials that are already there.
    spread : float
        Their qualities: the best one at 0, the others above it as normal numbers with this sd.
    """

    instances: int
    worse: float = 0.0
    difficulty: float = 0.0
    earlier: int = 1
    spread: float = 0.0


def prunings(
    pruner: str, level: float, setting: Setting, repetitions: int, jobs: int, seed: int
) -> NDArray[np.float64]:
    """Return after how many instances the challenger of each repetition was pruned; or NaN."""
    one = joblib.delayed(_challenge)
    with joblib.Parallel(n_jobs=jobs) as parallel:
        found = parallel(
            one(pruner, level, setting, (seed, part))
            for part in np.array_split(np.arange(repetitions), 4 * jobs)
        )
    return np.concatenate([np.array(part, dtype=np.float64) for part in found])


def _challenge(
    pruner: str, level: float, setting: Setting, of: tuple[int, NDArray[np.intp]]
) -> list[float]:
    with quiet():
        return [_pruned_after(LADDERS[pruner](level), setting, of[0], int(i)) for i in of[1]]


def _pruned_after(pruner: BasePruner, setting: Setting, seed: int, repetition: int) -> float:
    rng = rng_for(seed, "challenge", repetition)  # the same values for each pruner
    n, k = setting.instances, setting.earlier
    quality = rng.normal(size=k) * setting.spread
    difficulty = rng.normal(size=n) * setting.difficulty
    values = quality - quality.min() + difficulty[:, None] + rng.normal(size=(n, k))
    challenger = setting.worse + difficulty + rng.normal(size=n)
    study = optuna.create_study(pruner=pruner)
    for column in values.T.tolist():
        study.add_trial(_complete(column))
    trial = study.ask()
    for step, value in enumerate(challenger.tolist()):
        trial.report(value, step)
        if trial.should_prune():
            return step + 1.0
    return math.nan


def _complete(values: list[float]) -> optuna.trial.FrozenTrial:
    return create_trial(
        state=TrialState.COMPLETE,
        value=math.fsum(values) / len(values),
        intermediate_values=dict(enumerate(values)),
    )


def running(
    pruner: str, at_once: int, instances: int, repetitions: int, jobs: int, seed: int
) -> NDArray[np.float64]:
    """Return the fraction of equal trials pruned, of so many that run at once, per repetition.

    They report in a random order, as workers do that share a study.
    """
    one = joblib.delayed(_run_together)
    with joblib.Parallel(n_jobs=jobs) as parallel:
        return np.array(
            parallel(one(pruner, at_once, instances, seed, i) for i in range(repetitions))
        )


@quiet()
def _run_together(pruner: str, at_once: int, instances: int, seed: int, repetition: int) -> float:
    rng = rng_for(seed, "together", repetition)
    study = optuna.create_study(pruner=LADDERS[pruner](DEFAULTS[pruner]))
    trials = [study.ask() for _ in range(at_once)]
    done = dict.fromkeys(range(at_once), 0)
    pruned = 0
    while done:
        i = int(rng.choice(list(done)))
        trials[i].report(float(rng.normal()), done[i])
        done[i] += 1
        if trials[i].should_prune():
            pruned += 1
            study.tell(trials[i], state=TrialState.PRUNED)
            del done[i]
        elif done[i] == instances:
            study.tell(trials[i], 0.0)
            del done[i]
    return pruned / at_once


@quiet()
def milliseconds(pruner: str, earlier: int, instances: int, seed: int) -> NDArray[np.float64]:
    """Return the CPU time of each report with its should_prune, in memory, of three challengers.

    The first of them, which imports what is needed, is left out.
    """
    rng = rng_for(seed, "milliseconds")
    study = optuna.create_study(pruner=LADDERS[pruner](DEFAULTS[pruner]))
    for values in rng.normal(size=(earlier, instances)).tolist():
        study.add_trial(_complete(values))
    times = []
    for _ in range(3):
        trial = study.ask()
        for step, value in enumerate(rng.normal(size=instances).tolist()):
            start = time.process_time()
            trial.report(value, step)
            trial.should_prune()
            times.append(time.process_time() - start)
        study.tell(trial, state=TrialState.FAIL)
    return np.array(times[instances:]) * 1e3
