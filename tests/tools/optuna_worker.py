"""A process of its own on a storage: `python optuna_worker.py KIND URL STUDY [DIE_AT]`.

It takes part in a study with RacingPruner ("pruner"), or drives races in it ("race"). With DIE_AT
it kills itself, without a word to the study, in its evaluation of that number.
"""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import optuna

from racer.integrations.optuna import RacingPruner, finish, race_study

N = 12


def open_storage(url):
    """Return the storage behind a URL: of a database, or of a journal in a file."""
    if url.startswith("journal:"):
        from optuna.storages.journal import JournalFileBackend

        return optuna.storages.JournalStorage(JournalFileBackend(url.removeprefix("journal:")))
    return optuna.storages.RDBStorage(url)


def suggest(trial):
    return {"x": trial.suggest_float("x", -5.0, 5.0)}


class Evaluate:
    """Evaluates, and dies when its time has come."""

    def __init__(self, die_at):
        self.die_at = die_at
        self.count = 0

    def __call__(self, config, instance, seed):
        if self.count == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1
        noise = np.random.default_rng([seed, int(1e6 * (config["x"] + 5.0))]).normal()
        return config["x"] ** 2 + instance + noise


class InOrder(optuna.samplers.BaseSampler):
    """Proposes a value that depends on the number of the trial."""

    def infer_relative_search_space(self, study, trial):
        return {}

    def sample_relative(self, study, trial, search_space):
        return {}

    def sample_independent(self, study, trial, name, distribution):
        rng = np.random.default_rng(trial.number)
        return float(rng.uniform(distribution.low, distribution.high))


def race(study, evaluate):
    """Drive races."""
    instances = [float(i) for i in range(N)]
    return race_study(study, evaluate, instances, suggest=suggest, budget=90, trials=4, seed=3)


def take_part(study, evaluate, trials):
    """Run trials that are pruned."""

    def objective(trial):
        config = suggest(trial)
        values = []
        for instance in range(N):
            values.append(evaluate(config, instance, 1000 * trial.number + instance))
            trial.report(values[-1], step=instance)
            if trial.should_prune():
                finish(trial)
        return float(np.mean(values))

    study.optimize(objective, n_trials=trials)


def main(kind, url, name, die_at=-1):
    """Do what the arguments say."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(
        study_name=name,
        storage=open_storage(url),
        sampler=InOrder(),
        pruner=RacingPruner(instances=N),
    )
    evaluate = Evaluate(int(die_at))
    if kind == "race":
        race(study, evaluate)
    else:
        take_part(study, evaluate, 10)


if __name__ == "__main__":
    main(*sys.argv[1:])
