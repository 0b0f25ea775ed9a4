"""finish: a pruned trial ends with its mean."""

import math

import optuna
import pytest
from optuna.trial import TrialState

from racer import SettingError
from racer.integrations.optuna import finish


def ended(values):
    study = optuna.create_study()

    def objective(trial):
        for step, value in values.items():
            trial.report(value, step)
        finish(trial)

    study.optimize(objective, n_trials=1)
    return study.trials[0]


def test_the_value_is_the_mean_and_not_that_of_the_last_instance():
    trial = ended({0: 4.0, 1: 1.0, 2: 7.0, 5: 0.0})
    assert trial.state == TrialState.PRUNED
    assert trial.value == 3.0
    assert trial.user_attrs["racer:mean_step"] == 6
    assert trial.intermediate_values == {0: 4.0, 1: 1.0, 2: 7.0, 5: 0.0, 6: 3.0}


def test_values_that_are_not_finite_are_left_out():
    assert ended({0: math.nan, 1: 2.0, 2: math.inf, 3: 4.0}).value == 3.0


def test_without_values_there_is_no_mean():
    for values in ({}, {0: math.nan}):
        trial = ended(values)
        assert trial.state == TrialState.PRUNED
        assert trial.value is None
        assert "racer:mean_step" not in trial.user_attrs


def test_the_mean_of_huge_values_is_finite():
    assert ended({0: 1.5e308, 1: 1.7e308}).value == pytest.approx(1.6e308)


def test_a_frozen_trial_is_refused():
    trial = ended({0: 1.0})
    with pytest.raises(SettingError, match="give the trial that the objective was called with"):
        finish(trial)
