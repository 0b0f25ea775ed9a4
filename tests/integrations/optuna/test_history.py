"""What finished trials say, as costs."""

import math

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState, create_trial

from racer.integrations.optuna.attributes import MEAN_STEP
from racer.integrations.optuna.model import History, costs_of

NAN, INF = math.nan, math.inf


def study_of(*trials, direction="minimize"):
    study = optuna.create_study(direction=direction)
    for state, value, steps, attrs in trials:
        study.add_trial(
            create_trial(
                state=state,
                value=value,
                params={"x": 0.5},
                distributions={"x": FloatDistribution(0, 1)},
                intermediate_values=steps,
                user_attrs=attrs,
            )
        )
    return study


def done(value, **steps):
    return TrialState.COMPLETE, value, {int(k[1:]): v for k, v in steps.items()}, {}


def pruned(value, mean_at=None, **steps):
    attrs = {} if mean_at is None else {MEAN_STEP: mean_at}
    return TrialState.PRUNED, value, {int(k[1:]): v for k, v in steps.items()}, attrs


FAILED = TrialState.FAIL, None, {0: 1.0}, {}


def table(*trials, direction="minimize", by_instance=True):
    history = History(direction == "maximize", by_instance).extended(
        study_of(*trials, direction=direction).trials
    )
    return costs_of([observation for observation in history.observations if not observation.failed])


LARGE = {"direction": "maximize"}
SINGLE = {"by_instance": False}


@pytest.mark.parametrize(
    ("trials", "settings", "costs"),
    [
        # values by instance, whatever came when
        ([done(9.0, i2=3, i0=1), pruned(7.0, i1=2, i0=4)], {}, [[1, 4], [NAN, 2], [3, NAN]]),
        ([done(5.0, i0=3.0)], LARGE, [[-3.0]]),
        # NaN and infinitely bad is a failure, and infinitely good the best known
        (
            [done(1.0, i0=NAN, i1=INF, i2=-INF), done(1.0, i0=1.0, i1=2.0, i2=3.0)],
            {},
            [[INF, 1.0], [INF, 2.0], [3.0, 3.0]],
        ),
        ([done(1.0, i0=-INF), done(1.0, i0=1.0)], LARGE, [[INF, -1.0]]),
        # instances without a finite value are left out
        ([done(1.0, i0=NAN, i1=2.0)], {}, [[2.0]]),
        ([done(INF)], {}, np.empty((0, 1))),
        # the mean is no instance
        ([pruned(2.0, 2, i0=1.0, i1=3.0, i2=2.0)], {}, [[1.0], [3.0]]),
        # trials without values by instance, and pruned ones only, are compared by their own
        ([done(2.0, i0=1.0), done(3.0)], {}, [[1.0, NAN], [2.0, 3.0]]),
        ([pruned(1.0, i0=1.0), pruned(5.0, i0=5.0)], SINGLE, [[1.0, 5.0]]),
    ],
)
def test_the_costs_of_trials(trials, settings, costs):
    np.testing.assert_array_equal(table(*trials, **settings), costs)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_without_instances_a_pruned_trial_is_at_best_as_good_as_the_median(direction):
    sign = 1.0 if direction == "minimize" else -1.0
    trials = [done(sign * v, i0=9.0) for v in (1.0, 2.0, 3.0)]
    trials += [pruned(sign * v, i0=sign * v) for v in (0.0, 5.0)]
    costs = table(*trials, direction=direction, by_instance=False)
    np.testing.assert_array_equal(costs, [[1.0, 2.0, 3.0, 2.0, 5.0]])


def test_trials_of_no_use():
    study = study_of(FAILED, pruned(None), done(1.0))
    history = History(maximize=False, by_instance=True).extended(study.trials)
    assert [observation.failed for observation in history.observations] == [True, True, False]
    assert history.n_usable == 1


def test_a_history_is_extended_by_what_is_new_only_and_never_changed():
    study = study_of(done(1.0))
    first = History(maximize=False, by_instance=True).extended(study.trials)
    running = study.ask()
    running.suggest_float("x", -1, 0.25)
    assert first.extended(study.trials) is first
    study.ask().suggest_float("y", 3, 3)
    study.tell(2, 5.0)
    second = first.extended(study.trials)
    study.tell(running, 7.0)
    third = second.extended(study.trials)
    assert [len(history.observations) for history in (first, second, third)] == [1, 2, 3]
    assert [observation.final for observation in third.observations] == [
        1.0,
        5.0,
        7.0,
    ]  # as they came
    assert third.free == {"x": FloatDistribution(-1, 1)}
    assert set(third.distributions) == {"x", "y"}
    assert first.distributions == {"x": FloatDistribution(0, 1)}
