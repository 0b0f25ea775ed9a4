"""Ways to spend a budget of evaluations on a problem."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import racer
from experiments.tuner.problems import FOR_TUNING, space
from racer.seeding import block_seed, rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.tuner.problems import Problem

    Config = Mapping[str, float]
    Contender = Callable[[Problem, int, int], Config]

__all__ = ["CONTENDERS", "overhead"]

PER_TRIAL = 5  # instances, for those that average over some


def by_racer(problem: Problem, budget: int, seed: int, **settings: Any) -> Config:
    """Tune with racer's default settings."""
    best = racer.tune(
        space(), problem, range(FOR_TUNING), budget=budget, seed=seed, **settings
    ).best
    if best is None:
        raise RuntimeError("no instance told two configurations apart")
    return best


def by_random_search(problem: Problem, budget: int, seed: int) -> Config:
    """Draw configurations, evaluate each on the same few instances, take the best mean."""
    configs = space().sample(budget // PER_TRIAL, seed=seed)
    instances = rng_for(seed, "few").choice(FOR_TUNING, PER_TRIAL, replace=False).tolist()
    means = [
        np.mean([problem(c, i, block_seed(seed, k)) for k, i in enumerate(instances)])
        for c in configs
    ]
    return configs[int(np.argmin(means))]


def _by_tpe(problem: Problem, budget: int, seed: int, per_trial: int) -> Config:
    import optuna  # noqa: PLC0415  (an extra)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    order = rng_for(seed, "rotation").permutation(FOR_TUNING).tolist()
    distributions = space().to_optuna()
    for trial_number in range(budget // per_trial):
        trial = study.ask(distributions)
        blocks = range(trial_number * per_trial, (trial_number + 1) * per_trial)
        if per_trial > 1:
            blocks = range(per_trial)  # the same for every trial
        values = [problem(trial.params, order[b % FOR_TUNING], block_seed(seed, b)) for b in blocks]
        study.tell(trial, float(np.mean(values)))
    return study.best_params


def by_tpe_rotating(problem: Problem, budget: int, seed: int) -> Config:
    """Optuna's TPE, one evaluation a trial, on one instance after the other."""
    return _by_tpe(problem, budget, seed, 1)


def by_tpe_averaging(problem: Problem, budget: int, seed: int) -> Config:
    """Optuna's TPE, a trial being the mean over the same five instances."""
    return _by_tpe(problem, budget, seed, PER_TRIAL)


CONTENDERS: dict[str, Contender] = {
    "racer.tune": by_racer,
    "Optuna TPE, 1 instance a trial": by_tpe_rotating,
    "Optuna TPE, 5 instances a trial": by_tpe_averaging,
    "random search, 5 instances each": by_random_search,
}


def overhead(problem: Problem, budget: int, seed: int, **settings: Any) -> float:
    """Return the CPU time of racer.tune per evaluation, without that of the objective; in us."""
    inside = 0.0

    def timed(config: Config, instance: int, seed: int) -> float:
        nonlocal inside
        start = time.process_time()
        value = problem(config, instance, seed)
        inside += time.process_time() - start
        return value

    start = time.process_time()
    racer.tune(space(), timed, range(FOR_TUNING), budget=budget, seed=seed, **settings)
    return (time.process_time() - start - inside) / budget * 1e6
