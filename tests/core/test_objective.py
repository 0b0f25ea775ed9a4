"""Metrics and objectives: what is taken, what is refused, and which way they point."""

import math

import numpy as np
import pytest

import racer
from racer import Constrained, Metric, Pareto, SettingError, Within
from racer.core.objective import Aim
from racer.core.rules import Rules
from racer.core.table import Row

HOW = {"error": "min", "score": "max", "price": Metric("min", exact=True)}


@pytest.mark.parametrize(
    "objective",
    [
        "error",
        Pareto("error", "score"),
        Within("price", error=0.1, score=0.2),
        Constrained("price", error=("<=", 0.5), score=(">=", 0.8)),
    ],
    ids=str,
)
def test_an_objective_is_made_again_from_plain_data(objective):
    rules = Rules.given({"metrics": HOW, "objective": objective, "budget": 9, "seed": 1})
    again = Rules.given(rules.settings())
    assert again.goal == rules.goal
    assert repr(again.objective) == repr(objective)
    assert again.settings() == rules.settings()
    assert again.decider == rules.decider


def test_rules_without_metrics_have_no_such_settings():
    settings = Rules.given({"budget": 9, "seed": 1}).settings()
    assert not {"metrics", "objective"} & settings.keys()


def test_the_first_metric_of_the_objective_is_the_value():
    aim = Aim.of(HOW, Pareto("score", "error"))
    assert aim.names == ("score", "error", "price")
    assert aim.maximize
    assert Rules(budget=9, metrics=HOW, objective="score").maximize
    assert Rules(budget=9, metrics=HOW, objective="error").maximize is False


def test_one_metric_needs_no_objective():
    assert Aim.of({"score": "max"}, None).objective == "score"


def test_directions_are_turned_into_costs_and_failures_cost_all_metrics():
    told = [
        racer.Outcome("ok", 0.25, metrics={"error": 0.25, "score": 3.0}),
        racer.Outcome("failed", None, message="no"),
    ]
    row = Row.of(0, [0, 1], told)
    aim = Aim.of({"error": "min", "score": "max"}, Pareto("error", "score"))
    assert aim.costs(row).tolist() == [[0.25, -3.0], [math.inf, math.inf]]


def test_bounds_and_limits_are_costs_too():
    how = {"score": Metric("max", bounds=(0, 1)), "price": "min"}
    goal = Aim.of(how, Constrained("price", score=(">=", 0.8))).goal
    assert goal.limits == (-0.8,)
    assert goal.bounds == (None, (-1.0, -0.0))


WRONG = {
    "no metric": ({}, "error", "give names and directions"),
    "a list": (["error"], "error", "give names and directions"),
    "no direction": ({"error": "down"}, "error", 'give "min"'),
    "no name": ({"": "min"}, "error", "no name of a metric"),
    "reserved": ({"spend": "min"}, "spend", "is reserved"),
    "unknown key": ({"a": {"exat": True}}, "a", "did you mean 'exact'"),
    "several without objective": ({"a": "min", "b": "max"}, None, "name the goal"),
    "unknown metric": ({"error": "min"}, "eror", "did you mean 'error'"),
    "unknown in a front": ({"a": "min", "b": "min"}, Pareto("a", "c"), "'c' is none of"),
    "all exact": ({"a": Metric(exact=True), "b": Metric(exact=True)}, Pareto("a", "b"), "nothing"),
    "wrong relation": (HOW, Constrained("price", score=("<=", 1)), "its constraint is >="),
    "an array as direction": ({"a": np.array(["min"])}, "a", 'give "min"'),
    "a number as name": (HOW, {"metric": "price", "within": {3: 0.1}}, "give the name of a metric"),
    "two kinds at once": (
        HOW,
        {"metric": "price", "within": {"error": 1}, "constrained": {"error": ["<=", 1]}},
        "give the name of a metric",
    ),
    "no objective at all": ({"a": "min"}, 3, "give the name of a metric"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_work_is_refused_at_the_call(name):
    metrics, objective, message = WRONG[name]
    with pytest.raises(SettingError, match=message):
        racer.race([1, 2], never, budget=60, metrics=metrics, objective=objective)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pareto("a"), "two to 8"),
        (lambda: Pareto("a", "a"), "each once"),
        (lambda: Pareto(*"abcdefghijkl"), "two to 8"),
        (lambda: Pareto(1, 2), "names of metrics"),
        (lambda: Within("a"), "at least one other"),
        (lambda: Within("a", b=-1), "number >= 0"),
        (lambda: Constrained("a", b=0.2), r"give \(\"<=\", number\)"),
        (lambda: Constrained("a", b=("=", 0.2)), r"give \(\"<=\", number\)"),
        (lambda: Metric("up"), '"min" or "max"'),
        (lambda: Metric(margin=-1.0), ">= 0"),
        (lambda: Metric(bounds=(1, 0)), "the smallest and the largest"),
        (lambda: Metric(exact="yes"), "exact"),
    ],
)
def test_what_makes_no_sense_is_refused_where_it_is_made(make, message):
    with pytest.raises(SettingError, match=message):
        make()


def never(config, instance, seed):
    raise AssertionError("it is refused before")


def test_maximize_and_run_time_are_refused_beside_metrics():
    with pytest.raises(SettingError, match="maximize=True beside metrics="):
        racer.race([1, 2], never, budget=60, metrics={"a": "max"}, maximize=True)
    with pytest.raises(SettingError, match="metrics= with runtime="):
        racer.race([1, 2], never, budget=60, metrics={"a": "min"}, runtime=racer.Runtime(2.0))
    with pytest.raises(SettingError, match="objective='a' without metrics="):
        racer.race([1, 2], never, budget=60, objective="a")


@pytest.mark.parametrize(
    ("decider", "objective", "message"),
    [
        (
            "f-race",
            Pareto("a", "b"),
            "the decider 'f-race' does not decide .* which is 'bayesian-front'",
        ),
        ("front", Within("a", b=1), "the decider 'front' does not decide .* which is 'within'"),
        ("front", "a", "the decider 'front' is for several metrics"),
    ],
)
def test_a_decider_for_something_else_is_refused(decider, objective, message):
    how = {"a": "min", "b": "min"}
    with pytest.raises(SettingError, match=message):
        racer.race([1, 2], never, budget=60, metrics=how, objective=objective, decider=decider)
    with pytest.raises(SettingError, match="for several metrics"):
        racer.race([1, 2], never, budget=60, decider="within")


def test_values_of_a_metric_are_a_table_of_their_own():
    race = racer.Race([0, 1], budget=60, seed=1, metrics={"a": "min", "b": "max"}, objective="a")
    while cells := race.ask():
        for cell in cells:
            found = {"a": float(cell.config), "b": 10.0 * cell.config + cell.block}
            race.tell(cell, racer.Outcome("ok", found["a"], metrics=found))
    result = race.result()
    assert result.metric("a").equals(result.table)
    blocks = np.arange(len(result.table))
    assert result.metric("b")[1].dropna().tolist() == (10.0 + blocks)[: len(blocks)].tolist()
    with pytest.raises(SettingError, match="give one of 'a', 'b'"):
        result.metric("c")
