"""Studies with several directions: raced to a front, or to what an objective seeks."""

import math
from itertools import pairwise

import numpy as np
import optuna
import pytest
from objectives import Counting
from optuna.trial import TrialState
from studies import InOrder, held

import racer
from racer.integrations.optuna import best_trials_by_evidence, race_study
from racer.stats import front_posterior

N = 10
HOW = {"error": "min", "score": "max"}
FRONT = racer.Pareto("error", "score")


def suggest(trial):
    return trial.suggest_float("x", 0.0, 1.0), trial.suggest_float("worse", 0.0, 1.0)


def evaluate(config, instance, seed):
    x, worse = config
    level = instance / 100
    noise = 0.02 * np.random.default_rng([seed, int(1e6 * x)]).normal(size=2)
    return {"error": x + worse + level + noise[0], "score": x - worse - level + noise[1]}


def new(storage=None, names=None):
    study = optuna.create_study(
        directions=["minimize", "maximize"], sampler=InOrder(), storage=storage
    )
    if names is not None:
        study.set_metric_names(names)
    return study


def raced(study, **changes):
    given = {"suggest": suggest, "budget": 160, "trials": 2, "seed": 1, "metrics": HOW} | changes
    return race_study(
        study, given.pop("evaluate", evaluate), range(N), **{"objective": FRONT, **given}
    )


def told(trial):
    """The metrics of a trial by instance."""
    return {
        int(name.rpartition(":")[2]): value
        for name, value in trial.user_attrs.items()
        if name.startswith("racer:values:")
    }


def test_the_dominated_are_pruned_and_the_others_complete_with_a_mean_per_direction():
    study = new()
    evidence = raced(study)
    for trial in study.trials:
        values = told(trial)
        assert not trial.intermediate_values
        if trial.state == TrialState.COMPLETE:
            assert sorted(values) == list(range(N))
            for d, name in enumerate(HOW):
                mean = math.fsum(v[name] for v in values.values()) / N
                assert trial.values[d] == pytest.approx(mean, rel=1e-12)
        else:
            assert trial.state == TrialState.PRUNED
            assert 3 <= len(values) < N
            assert trial.values is None
    states = [trial.state for trial in study.trials]
    assert states.count(TrialState.PRUNED) > 2
    assert sum(len(told(trial)) for trial in study.trials) <= 160
    worse = [t.params["worse"] for t in study.trials if t.state == TrialState.PRUNED]
    kept = [study.trials[number].params["worse"] for number in evidence.front]
    assert np.mean(kept) < np.mean(worse)


def test_the_evidence_is_that_of_the_statistics():
    study = new()
    evidence = raced(study, trials=4, budget=80)
    table = np.full((2, N, len(study.trials)), np.nan)
    for trial in study.trials:
        for block, values in told(trial).items():
            table[:, block, trial.number] = [values[name] for name in HOW]
    expected = front_posterior(table, maximize=[False, True])
    found = [evidence.probability[trial.number] for trial in study.trials]
    assert found == pytest.approx(expected.probability_front.tolist(), abs=1e-12)
    frame = evidence.trials
    assert frame.index.tolist() == list(evidence.probability)
    assert frame["metric:score"].to_dict() == pytest.approx(dict(enumerate(expected.mean[:, 1])))
    assert (frame["low:score"] <= frame["high:score"]).all()
    assert frame["state"][evidence.best] == study.trials[evidence.best].state.name
    assert evidence.instances == {t.number: len(told(t)) for t in study.trials}
    assert evidence.indistinguishable == evidence.front
    assert "front=" in repr(evidence)
    again = best_trials_by_evidence(study)
    assert (again.front, again.probability) == (evidence.front, evidence.probability)
    sets = [best_trials_by_evidence(study, confidence=level).front for level in (0.51, 0.95, 0.999)]
    assert len(sets[0]) <= len(sets[1]) == len(evidence.front) <= len(sets[2])
    assert len(sets[0]) < len(sets[2])
    assert all(first == last[: len(first)] for first, last in pairwise(sets))


@pytest.mark.filterwarnings("ignore:.*set_metric_names is experimental")
def test_names_may_be_those_of_the_study():
    named, given = new(names=["error", "score"]), new()
    raced(named, metrics=None, budget=60)
    raced(given, budget=60)
    assert held(named) == held(given)


@pytest.mark.parametrize(
    ("objective", "sought"),
    [
        ("error", lambda x, worse: x + worse),
        (racer.Within("error", score=0.3), None),
        (racer.Constrained("error", score=(">=", 0.2)), None),
    ],
)
def test_other_objectives_are_raced_on_too(objective, sought):
    study = new()
    shift = 0.045  # of the mean score by the instances
    if isinstance(objective, racer.Constrained):
        objective = racer.Constrained("error", score=(">=", 0.2 - shift))
    evidence = raced(study, objective=objective)
    total = sum(evidence.probability.values())
    if isinstance(objective, racer.Constrained):  # perhaps none is acceptable
        assert 0.5 < total <= 1.0 + 1e-9
    else:
        assert total == pytest.approx(1.0)
    params = {t.number: (t.params["x"], t.params["worse"]) for t in study.trials}
    complete = [t.number for t in study.trials if t.state == TrialState.COMPLETE]
    score = {n: params[n][0] - params[n][1] for n in complete}
    error = {n: params[n][0] + params[n][1] for n in complete}
    if isinstance(objective, racer.Within):
        error = {n: e for n, e in error.items() if score[n] >= max(score.values()) - 0.3}
    elif isinstance(objective, racer.Constrained):
        error = {n: e for n, e in error.items() if score[n] >= 0.2}
    if sought is not None:
        assert error[evidence.best] == sought(*params[evidence.best])
    assert error[evidence.best] <= min(error.values()) + 0.05
    assert evidence.best in evidence.indistinguishable


def test_a_race_that_was_killed_goes_on_as_if_it_had_not_been(tmp_path):
    whole = new()
    raced(whole, budget=50)
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    with pytest.raises(racer.RaceInterrupted):
        raced(new(storage), budget=50, evaluate=Counting(evaluate, 28))
    loaded = optuna.load_study(study_name=None, storage=storage, sampler=InOrder())
    evidence = raced(loaded, budget=50)
    assert held(loaded) == held(whole)
    assert evidence.probability == best_trials_by_evidence(whole).probability


def test_a_failure_costs_its_cell_in_all_metrics():
    def fails(config, instance, seed):
        if instance == 3 and config[1] > 0.5:
            return {"error": math.nan, "score": 1.0}
        return evaluate(config, instance, seed)

    study = new()
    raced(study, evaluate=fails)
    failed = [t for t in study.trials if "racer:failed:3" in t.user_attrs]
    assert failed
    for trial in failed:
        assert trial.state == TrialState.PRUNED
        assert 3 not in told(trial)
        assert trial.user_attrs["racer:failed:3"][0] == "invalid"
        assert "error" in trial.user_attrs["racer:failed:3"][1]


def test_what_does_not_fit_is_refused_before_anything_is_written():
    for change, words in (
        ({"metrics": None, "objective": None}, "set_metric_names"),
        ({"objective": None}, "racer.Pareto"),
        ({"metrics": {"error": "min", "score": "min"}}, "directions"),
        ({"metrics": {"score": "max", "error": "min"}}, "in their order"),
        ({"metrics": {**HOW, "third": "min"}}, "each direction"),
        ({"decider": "t-race"}, "does not decide"),
        ({"objective": racer.Pareto("error", "sore")}, "did you mean"),
    ):
        study = new()
        with pytest.raises(racer.SettingError, match=words):
            raced(study, **change)
        assert not study.trials
        assert not study.user_attrs
    single = optuna.create_study()
    with pytest.raises(racer.SettingError, match="several directions"):
        raced(single)
    with pytest.raises(racer.SettingError, match="no values on single instances"):
        best_trials_by_evidence(new())


def test_another_objective_on_a_raced_study_is_refused():
    study = new()
    raced(study, budget=60)
    with pytest.raises(racer.SettingError, match="another objective"):
        raced(study, budget=80, objective=racer.Pareto("score", "error"))
    with pytest.raises(racer.SettingError, match="another"):
        raced(study, budget=80, metrics={"error": racer.Metric("min", exact=True), "score": "max"})


def test_a_number_where_metrics_are_asked_for_is_refused_at_once():
    calls = []
    with pytest.raises(racer.ObjectiveError, match=r"no mapping of metrics but a float: return \{"):
        raced(new(), evaluate=lambda *given: calls.append(given) or 1.0)
    assert len(calls) == 1
