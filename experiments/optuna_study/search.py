"""What a study finds on a noisy objective with instances, at an equal number of evaluations."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import optuna
from optuna.pruners import NopPruner, WilcoxonPruner
from optuna.samplers import TPESampler

from experiments.optuna_study.pruning import quiet
from experiments.report import measured, pm, table
from racer.integrations.optuna import RacingPruner, finish, race_study
from racer.seeding import rng_for, seed_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from optuna.pruners import BasePruner
    from optuna.study import Study
    from optuna.trial import BaseTrial

    from experiments.report import Columns

__all__ = ["STRATEGIES", "Problem", "find", "found_by", "search"]

INSTANCES = 20
STRATEGIES: Mapping[str, Callable[[], BasePruner] | dict[str, Any]] = {
    # by name the pruner of a study that averages, or the settings of race_study
    "TPE, mean of all": NopPruner,
    "TPE, WilcoxonPruner": WilcoxonPruner,
    "TPE, RacingPruner": RacingPruner,
    "race_study": {},
    "race_study, anytime": {"decider": "anytime"},
}
COLUMNS: Columns = {
    "evaluations": "{evaluations}",
    "strategy": "{strategy}",
    "trials": "{trials:.0f}",
    "regret of best_trial": pm("regret", 3),
    "less than WilcoxonPruner by": pm("gain", 3),
    "regret of the best by evidence": pm("by_evidence", 3),
}


class Problem:
    """A bowl in four dimensions; each instance shifts its centre and adds its difficulty.

    value = 10 |x - centre - shift_i|^2 + difficulty_i + noise: shifts normal with sd 0.1,
    difficulties with sd 3, noise with sd 1. x in [0, 1]^4, the centre in [0.2, 0.8]^4.
    """

    def __init__(self, seed: int, instances: int = INSTANCES) -> None:
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


class Budget(NamedTuple):
    """The most evaluations that a study may take."""

    evaluations: int


def find(budget: Budget, seed: int) -> dict[str, dict[str, float]]:
    """Return what each strategy finds on a problem, and its gain on WilcoxonPruner."""
    found = {name: found_by(name, budget.evaluations, seed) for name in STRATEGIES}
    bar = found["TPE, WilcoxonPruner"]["regret"]
    return {name: each | {"gain": bar - each["regret"]} for name, each in found.items()}


@quiet()
def found_by(strategy: str, budget: int, seed: int) -> dict[str, float]:
    """Return the regret of what a study finds, by the best trial and by evidence, and its trials."""
    problem, how = Problem(seed), STRATEGIES[strategy]
    pruner = NopPruner() if isinstance(how, dict) else how()
    study = optuna.create_study(sampler=TPESampler(seed=seed), pruner=pruner)
    by_evidence = math.nan
    if isinstance(how, dict):
        evidence = race_study(
            study,
            problem.evaluate,
            range(problem.instances),
            suggest=problem.suggest,
            budget=budget,
            seed=seed,
            **how,
        )
        used = sum(evidence.instances.values())
        by_evidence = problem.regret(problem.suggest(study.trials[evidence.best]))
    else:
        used = _averaging(study, problem, budget, seed)
    if used > budget:
        raise RuntimeError(f"{strategy} used {used} of {budget} evaluations")
    regret = problem.regret(problem.suggest(study.best_trial))
    return {"regret": regret, "trials": len(study.trials), "by_evidence": by_evidence, "used": used}


def _averaging(study: Study, problem: Problem, budget: int, seed: int) -> int:
    """Evaluate each trial on all instances, unless the study's pruner stops it; return how many.

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
    return used


def search(budgets: tuple[int, ...], seeds: int, jobs: int, seed: int) -> str:
    """Return a table of what studies find, the same problems for each strategy."""
    cells = [Budget(budget) for budget in budgets]
    rows = measured(find, cells, range(seed, seed + seeds), jobs, by="strategy")
    return table(rows, COLUMNS)
