"""What racer recorded in a study is checked when it is read, as a store is."""

import math

import optuna
import pytest

import racer
from racer.integrations.optuna import best_trials_by_evidence, race_study
from racer.integrations.optuna.attributes import recorded

DIRECTIONS = {"metrics": {"a": "min", "b": "min"}, "objective": racer.Pareto("a", "b")}


def raced(study, **settings):
    def evaluate(config, instance, seed):
        value = config["x"] + instance
        return {"a": value, "b": 1 - value} if settings else value

    suggest = {"x": optuna.distributions.FloatDistribution(0, 1)}
    race_study(study, evaluate, range(3), suggest=suggest, budget=12, trials=2, seed=1, **settings)
    return best_trials_by_evidence(study)


def set_user_attr(study, where, name, value):
    trial_id = study.trials[0]._trial_id
    if where == "study":
        study.set_user_attr(name, value)
    else:  # of a trial that has ended, as another program would
        attributes = study._storage._get_trial(trial_id).user_attrs
        attributes[name] = value


HOSTILE = [  # one for each place that reads
    ("study", "racer:race_study", {"seed": 1, "instances": [3, 1], "metrics": 7}),
    ("study", "racer:asked", [1, 2]),
    ("study", "racer:sampler_ended", 5),
    ("trial", "racer:race", "0"),
    ("trial", "racer:mean_step", [1]),
    ("trial", "racer:failed:x", ["failed", ""]),
]
OF_DIRECTIONS = [
    ("trial", "racer:values:-1", {"a": 1.0, "b": 1.0}),
    ("trial", "racer:values:0", {"a": 1.0}),
]
OF_STUDY = ("racer:race_study", "racer:driver", "racer:asked", "racer:sampler_ended")
OF_TRIAL = ("racer:race", "racer:mean_step", "racer:failed:1", "racer:values:0")
STRANGE = [
    *(
        True,
        -1,
        1.5,
        2**63,
        b"",
        math.nan,
        [],
        [1],
        [[]],
        [[], []],
        [None, 1],
        ["failed"],
        [1, [-1]],
    ),
    *({"a": None}, {"a": "1"}, {"a": math.inf}, {"seed": 1, "instances": [3]}),
]


@pytest.mark.parametrize("name", OF_STUDY + OF_TRIAL)
def test_nothing_strange_is_taken(name):
    for value in STRANGE:
        holder = optuna.create_study() if name in OF_STUDY else optuna.trial.create_trial(value=1.0)
        holder.set_user_attr(name, value)
        with pytest.raises(racer.StoreError, match="which racer never writes"):
            recorded(holder, name)


@pytest.mark.parametrize(
    ("where", "name", "value", "settings"),
    [*((*one, {}) for one in HOSTILE), *((*one, DIRECTIONS) for one in OF_DIRECTIONS)],
)
def test_a_changed_attribute_is_refused_by_its_name(where, name, value, settings):
    directions = ["minimize", "minimize"] if settings else ["minimize"]
    study = optuna.create_study(directions=directions)
    raced(study, **settings)
    set_user_attr(study, where, name, value)
    with pytest.raises(racer.StoreError, match=f"'{name}' = .*, which racer never writes"):
        raced(study, **settings)
