"""Trials that violate a constraint: no opponents, no elites, not recommended."""

import warnings

import numpy as np
import optuna
import pytest
from optuna.samplers import RandomSampler, TPESampler
from optuna.trial import TrialState
from studies import add, run

import racer
from racer.integrations.optuna import (
    RacingPruner,
    RacingSampler,
    best_trials_by_evidence,
    race_study,
)

N = 8


def suggest(trial):
    return trial.suggest_float("x", -5.0, 5.0)


def evaluate(x, instance, seed):
    return x + instance + 0.01 * np.random.default_rng([seed, int(1e6 * (x + 5.0))]).normal()


def above(trial):
    """Feasible is x >= 0, while smaller x cost less."""
    return (-trial.params["x"],)


def constrained(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna 5 would have Trial.set_constraint
        return TPESampler(seed=1, n_startup_trials=5, constraints_func=function)


def raced(study, **changes):
    given = {"suggest": suggest, "budget": 150, "trials": 3, "seed": 1} | changes
    return race_study(study, given.pop("evaluate", evaluate), range(N), **given)


def n_instances(trial):
    """On how many instances a trial was evaluated."""
    mean_at = trial.user_attrs.get("racer:mean_step")
    return len([step for step in trial.intermediate_values if step != mean_at])


def check(study, evidence):
    """Check a race of which feasible is x >= 0."""
    infeasible = [t for t in study.trials if t.params["x"] < 0.0]
    feasible = [t for t in study.trials if t.params["x"] >= 0.0]
    assert len(infeasible) > 3
    assert all(n_instances(t) == 1 and t.state == TrialState.PRUNED for t in infeasible)
    assert evidence.best in {t.number for t in feasible}
    assert evidence.probability.keys() <= {t.number for t in feasible}
    first = min(feasible, key=lambda t: t.params["x"])  # which no feasible one can drop
    assert first.state == TrialState.COMPLETE
    assert n_instances(first) == N


def test_infeasible_trials_take_no_part_in_a_race():
    study = optuna.create_study(sampler=constrained(above))
    check(study, raced(study))


def test_constraints_may_be_set_when_a_trial_is_suggested():
    if not hasattr(optuna.Trial, "set_constraint"):
        pytest.skip("Optuna 5")

    def told(trial):
        x = suggest(trial)
        trial.set_constraint("positive", -x)
        return x

    study = optuna.create_study(sampler=RandomSampler(seed=1))
    check(study, raced(study, suggest=told))


@pytest.mark.skipif(
    optuna.__version__.startswith("4.8"), reason="its TPE fails where an infeasible trial is pruned"
)
def test_of_several_directions_too():
    study = optuna.create_study(directions=["minimize"] * 2, sampler=constrained(above))
    how = {"a": "min", "b": "min"}

    def both(x, instance, seed):
        return {"a": evaluate(x, instance, seed), "b": 0.1 * x}

    evidence = raced(study, evaluate=both, metrics=how, objective=racer.Pareto("a", "b"))
    assert {study.trials[n].params["x"] >= 0.0 for n in evidence.probability} == {True}
    first = min((t for t in study.trials if t.params["x"] >= 0.0), key=lambda t: t.params["x"])
    assert first.state == TrialState.COMPLETE
    assert evidence.front[0] == first.number


def test_a_race_goes_on_with_the_same_constraints(tmp_path):
    whole = optuna.create_study(sampler=constrained(above))
    raced(whole, budget=100)
    study = optuna.create_study(sampler=constrained(above))
    raced(study, budget=50)
    evidence = raced(study, budget=150)
    check(study, evidence)


def test_constraints_that_need_values_are_refused_in_words():
    def by_value(trial):
        return (trial.values[0] - 1.0,)

    study = optuna.create_study(sampler=constrained(by_value))
    with pytest.raises(racer.SettingError, match="set_constraint in suggest"):
        raced(study)
    assert [t.state for t in study.trials] == [TrialState.FAIL]


def test_where_nothing_is_feasible_nothing_is_recommended():
    study = optuna.create_study(sampler=constrained(lambda trial: (1.0,)))
    with pytest.raises(racer.ScoresError, match="satisfies"):
        raced(study, budget=40)
    assert sum(map(n_instances, study.trials)) <= 40


def test_the_evidence_leaves_infeasible_trials_out():
    study = optuna.create_study()
    rng = np.random.default_rng(1)
    good = add(study, rng.normal(size=20), constraints=(0.0, -1.0))
    better = add(study, rng.normal(size=20) - 3.0, constraints=(-1.0, 0.5))
    evidence = best_trials_by_evidence(study)
    assert evidence.best == good
    assert better not in evidence.probability
    assert better not in evidence.trials.index


def test_an_infeasible_trial_prunes_nobody():
    for constraint, pruned in ((0.5, None), (-0.5, True)):
        study = optuna.create_study(pruner=RacingPruner())
        rng = np.random.default_rng(1)
        for _ in range(3):
            add(study, rng.normal(size=40), constraints=(constraint,))
        assert (run(study, rng.normal(size=40) + 5.0) is not None) is bool(pruned)


def sampled(constraint, n=40, seed=1):
    """Run a study of the sampler in which smaller is better, and feasible x + y >= 6."""
    study = optuna.create_study(sampler=RacingSampler(seed=seed, constraints_func=constraint))
    study.optimize(lambda t: t.suggest_float("x", 0.0, 5.0) + t.suggest_float("y", 0.0, 5.0), n)
    return study


def test_the_sampler_goes_where_it_is_feasible_and_records_the_constraints():
    def enough(trial):
        return (6.0 - trial.params["x"] - trial.params["y"],)

    study = sampled(enough)
    values = np.array([trial.value for trial in study.trials])
    for trial in study.trials:
        assert trial.system_attrs["constraints"] == enough(trial)
    later = values[20:]
    assert np.mean(later >= 6.0) > 0.5
    assert values[values >= 6.0].min() < 6.3
    assert np.median(sampled(None).trials_dataframe()["value"][20:]) < 1.0  # without, far below


def test_the_sampler_begins_where_hardly_anything_is_feasible():
    def rarely(trial):
        return (abs(trial.params["x"] - 2.5) - 0.25,)

    study = sampled(rarely, n=60)
    inside = [abs(trial.params["x"] - 2.5) <= 0.25 for trial in study.trials]
    assert np.mean(inside[30:]) > 0.3  # of the whole range a tenth
