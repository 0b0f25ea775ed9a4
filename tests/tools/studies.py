"""Optuna's studies: their databases, which Optuna leaves open, and a sampler for races."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
from optuna.storages import RDBStorage
from optuna.trial import TrialState
from optuna_worker import InOrder as ByNumber


def in_races(study):
    """Return the trials of races, but for those that failed before they could be evaluated."""
    return [
        t
        for t in study.get_trials(deepcopy=False)
        if "racer:race" in t.user_attrs and (t.intermediate_values or t.state != TrialState.FAIL)
    ]


class InOrder(ByNumber):
    """Proposes values that depend on how many trials are in races: the same after a crash."""

    def sample_independent(self, study, trial, name, distribution):
        rng = np.random.default_rng([len(in_races(study)), len(trial.params)])
        return float(rng.uniform(distribution.low, distribution.high))


@contextmanager
def databases_closed(monkeypatch):
    """Close the databases of studies that are made here; Python 3.13 warns of open ones."""
    made, begin = [], RDBStorage.__init__

    def begin_and_keep(storage, *args, **kwargs):
        begin(storage, *args, **kwargs)
        made.append(storage)

    monkeypatch.setattr(RDBStorage, "__init__", begin_and_keep)
    yield
    for storage in made:
        storage.remove_session()
        storage.engine.dispose()
