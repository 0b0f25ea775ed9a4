"""What a study finds on a noisy objective with instances, at an equal number of evaluations."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import joblib
import numpy as np
import optuna
from optuna.pruners import NopPruner, WilcoxonPruner
from optuna.samplers import TPESampler

from experiments.optuna_study.pruning import quiet
from racer.integrations.optuna import RacingPruner, finish, race_study
from racer.seeding import rng_for, seed_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from optuna.study import Study
    from optuna.trial import BaseTrial

__all__ = ["STRATEGIES", "Found", "Problem", "find"]


class Problem:
    """A bowl in four dimensions; each instance shifts its centre and adds its difficulty.

    value = 10 |x - centre - shift_i|^2 + difficulty_i + noise: shifts normal with sd 0.1,
    difficulties with sd 3, noise with sd 1. x in [0, 1]^4, the centre in [0.2, 0.8]^4.
    """

    def __init__(self, seed: int, instances: int) -> None:
        rng = rng_for(seed, "problem")
        self.instances = instances
        self.centre = rng.uniform(0.2, 0.8, 4)
        self.shifts = rng.normal(0.0, 0.1, (instances, 4))
        self.difficulty = rng.normal(0.0, 3.0, instances)

    def suggest(self, trial: BaseTrial) -> list[float]:
        """Return x."""
        return [trial.suggest_float(f"x{k}", 0.0, 1.0) for k in range(4)]

    def evaluate(self, config: list[float], instance: int, seed: int) -> float:
        """Return a value whose noise is another one for each configuration."""
        x = np.array(config)
        noise = np.random.default_rng([seed, zlib.crc32(x.tobytes())]).normal()
        off = x - self.centre - self.shifts[instance]
        return float(10.0 * (off @ off) + self.difficulty[instance] + noise)

    def regret(self, config: list[float]) -> float:
        """Return the noise-free mean over the instances, above the best there is."""
        off = np.array(config) - self.centre - self.shifts.mean(axis=0)
        return float(10.0 * (off @ off))


class Found(NamedTuple):
    """The result of a study."""

    regret: float  # of its best_trial
    trials: int
    evaluations: int
    by_evidence: float = math.nan  # regret of the best by evidence


def _averaging(study: Study, problem: Problem, budget: int, seed: int) -> Found:
    """Evaluate each trial on all instances, unless the study's pruner stops it.

    In an order of its own for each trial. A trial that WilcoxonPruner stops returns the mean of
    what it has, and one that RacingPruner stops ends with `finish`, as their documentations say.
    """
    rng = rng_for(seed, "order")
    used = 0

    def objective(trial: optuna.Trial) -> float:
        nonlocal used
        config = problem.suggest(trial)
        values: list[float] = []
        for instance in rng.permutation(problem.instances).tolist():
            used += 1
            values.append(problem.evaluate(config, instance, seed_for(seed, "noise", instance)))
            trial.report(values[-1], instance)
            if trial.should_prune():
                if isinstance(study.pruner, RacingPruner):
                    finish(trial)
                break
        return math.fsum(values) / len(values)

    while used + problem.instances <= budget:
        study.optimize(objective, n_trials=1)
    return Found(problem.regret(problem.suggest(study.best_trial)), len(study.trials), used)


def _racing(study: Study, problem: Problem, budget: int, seed: int, **settings: Any) -> Found:
    evidence = race_study(
        study,
        problem.evaluate,
        range(problem.instances),
        suggest=problem.suggest,
        budget=budget,
        seed=seed,
        **settings,
    )
    return Found(
        problem.regret(problem.suggest(study.best_trial)),
        len(study.trials),
        sum(evidence.instances.values()),
        problem.regret(problem.suggest(study.trials[evidence.best])),
    )


def _strategy(name: str) -> Callable[[Problem, int, int], Found]:
    setting = name.partition(", ")[2]
    settings = {"trials": 5} if setting == "5 at once" else {"decider": setting} if setting else {}

    def run(problem: Problem, budget: int, seed: int) -> Found:
        pruner = {"TPE, WilcoxonPruner": WilcoxonPruner, "TPE, RacingPruner": RacingPruner}.get(
            name, NopPruner
        )()
        study = optuna.create_study(sampler=TPESampler(seed=seed), pruner=pruner)
        if not name.startswith("race_study"):
            return _averaging(study, problem, budget, seed)
        return _racing(study, problem, budget, seed, **settings)

    return run


STRATEGIES: Mapping[str, Callable[[Problem, int, int], Found]] = {
    name: _strategy(name)
    for name in (
        "TPE, mean of all",
        "TPE, WilcoxonPruner",
        "TPE, RacingPruner",
        "race_study",
        "race_study, 5 at once",
        "race_study, bayesian-friedman",
        "race_study, f-race",
        "race_study, anytime",
    )
}


def find(
    strategy: str, budget: int, instances: int, repetitions: int, jobs: int, seed: int
) -> list[Found]:
    """Return what a strategy finds on as many problems, the same for each strategy."""
    one = joblib.delayed(_find)
    with joblib.Parallel(n_jobs=jobs) as parallel:
        found: list[Found] = parallel(
            one(strategy, budget, instances, seed + i) for i in range(repetitions)
        )
    return found


def _find(strategy: str, budget: int, instances: int, seed: int) -> Found:
    with quiet():
        return STRATEGIES[strategy](Problem(seed, instances), budget, seed)
