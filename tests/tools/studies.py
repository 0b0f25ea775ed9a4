"""Optuna's studies: their databases, which Optuna leaves open, their trials, a sampler for races."""

from contextlib import contextmanager

import numpy as np
from optuna.storages import RDBStorage
from optuna.trial import TrialState, create_trial
from optuna_worker import InOrder as ByNumber


def in_races(study):
    """Return the trials of races, but for those that failed before they could be evaluated."""
    return [
        t
        for t in study.get_trials(deepcopy=False)
        if "racer:race" in t.user_attrs and (t.intermediate_values or t.state != TrialState.FAIL)
    ]


def held(study, trials=in_races):
    """Return all that races, or others, leave in a study, trial by trial."""
    return [
        (t.state.name, t.params, t.values, sorted(t.intermediate_values.items()), t.user_attrs)
        for t in trials(study)
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


def add(study, values, state=TrialState.COMPLETE, attrs=None, constraints=None, value=None):
    """Add a trial with these values, by instance, to a study; its own is their mean by default."""
    by_step = dict(values) if isinstance(values, dict) else dict(enumerate(map(float, values)))
    finite = [value for value in by_step.values() if value == value]
    ended = state == TrialState.COMPLETE
    study.add_trial(
        create_trial(
            state=state,
            value=(sum(finite) / len(finite) if value is None else value) if ended else None,
            intermediate_values=by_step,
            user_attrs=attrs,
            system_attrs=constraints and {"constraints": constraints},
        )
    )
    return study.trials[-1].number


def run(study, values, end=True, trial=None):
    """Report values one by one as a new trial; return after how many it is pruned, or None."""
    trial = trial or study.ask()
    items = values.items() if isinstance(values, dict) else enumerate(map(float, values))
    pruned = None
    for count, (step, value) in enumerate(items, start=1):
        trial.report(value, step)
        if trial.should_prune():
            pruned = count
            break
    if end:
        study.tell(trial, state=TrialState.FAIL)
    return pruned
