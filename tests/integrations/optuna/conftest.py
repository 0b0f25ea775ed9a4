"""Studies that are quiet, and trials with given values."""

from __future__ import annotations

import optuna
import pytest
from optuna.trial import TrialState, create_trial
from studies import databases_closed


@pytest.fixture(autouse=True)
def _quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


@pytest.fixture(autouse=True)
def _closed(monkeypatch):
    with databases_closed(monkeypatch):
        yield


@pytest.fixture
def add():
    """Add a trial with these values, by instance, to a study."""

    def add(study, values, state=TrialState.COMPLETE, attrs=None, constraints=None):
        by_step = dict(values) if isinstance(values, dict) else dict(enumerate(map(float, values)))
        finite = [value for value in by_step.values() if value == value]
        ended = state == TrialState.COMPLETE
        study.add_trial(
            create_trial(
                state=state,
                value=sum(finite) / len(finite) if ended else None,
                intermediate_values=by_step,
                user_attrs=attrs,
                system_attrs=constraints and {"constraints": constraints},
            )
        )
        return study.trials[-1].number

    return add


@pytest.fixture
def run():
    """Report values one by one as a new trial; return after how many it is pruned, or None."""

    def run(study, values, end=True, trial=None):
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

    return run
