"""Prune trials by their values on single instances, and ask which trial is really best."""

import numpy as np
import optuna
import optunahub


racing = optunahub.load_module(package="pruners/racing")

INSTANCES = np.random.default_rng(0).normal(0.0, 5.0, 30)  # of unequal difficulty


def objective(trial: optuna.Trial) -> float:
    """Return the mean over all instances."""
    x = trial.suggest_float("x", -5.0, 5.0)
    noise = np.random.default_rng(trial.number)
    values: list[float] = []
    for i, difficulty in enumerate(INSTANCES):
        values.append((x - 2.0) ** 2 + difficulty + noise.normal())
        trial.report(values[-1], step=i)
        if trial.should_prune():
            racing.finish(trial)  # pruned, with its mean
    return float(np.mean(values))


if __name__ == "__main__":
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=0),
        pruner=racing.RacingPruner(instances=len(INSTANCES)),
    )
    study.optimize(objective, n_trials=40)
    print(racing.best_trials_by_evidence(study).trials.head())
