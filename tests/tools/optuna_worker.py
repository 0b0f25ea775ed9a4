"""Processes of their own on a storage: `python optuna_worker.py`, and on its input what they do.

Lines of `start KIND URL STUDY DIE_AT` are answered with the number of a new process, and lines of
`wait NUMBER` with its exit code. Each is a fork of one process that has loaded what a race needs.

It takes part in a study with RacingPruner ("pruner"), or drives races in it ("race"). With DIE_AT
it kills itself, without a word to the study, in its evaluation of that number.
"""

import os
import signal
import sys
import traceback

import numpy as np
import optuna

from racer.integrations.optuna import RacingPruner, finish, race_study

N = 8


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


def race(study, evaluate, budget=60):
    """Drive races."""
    instances = [float(i) for i in range(N)]
    return race_study(study, evaluate, instances, suggest=suggest, budget=budget, trials=4, seed=3)


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


def loaded(url, name):
    """Return a study as a process that has just begun sees it."""
    storage, pruner = open_storage(url), RacingPruner(instances=N)
    return optuna.load_study(study_name=name, storage=storage, sampler=InOrder(), pruner=pruner)


def work(kind, url, name, die_at):
    """Do what the words say."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study, evaluate = loaded(url, name), Evaluate(int(die_at))
    if kind == "race":
        race(study, evaluate)
    else:
        take_part(study, evaluate, 8)


def answer(number):
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def main():
    """Answer what is asked, until the end of the input."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    race(optuna.create_study(storage="sqlite://", sampler=InOrder()), Evaluate(-1), budget=16)
    for line in sys.stdin:
        do, *words = line.split()
        if do == "wait":
            status = os.waitpid(int(words[0]), 0)[1]
            answer(os.waitstatus_to_exitcode(status))
        elif pid := os.fork():
            answer(pid)
        else:
            try:
                work(*words)
            except BaseException:  # noqa: BLE001
                traceback.print_exc()
                os._exit(1)
            os._exit(0)


if __name__ == "__main__":
    main()
