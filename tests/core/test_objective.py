"""Metrics and objectives: what is taken, what is refused, and which way they point."""

import math

import flat
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
    "no metric": (dict, 'give "min", "max"'),
    "no direction": (lambda: {"error": "down"}, 'give "min"'),
    "no name": (lambda: {"": "min"}, "no name of a metric"),
    "reserved": (lambda: {"spend": "min"}, "is reserved"),
    "unknown key": (lambda: {"a": {"exat": True}}, "did you mean 'exact'"),
    "unknown metric": (lambda: Within({"error": "min"}, eror=1), "did you mean 'error'"),
    "all exact": (lambda: {"a": Metric(exact=True), "b": Metric(exact=True)}, "nothing"),
    "wrong relation": (lambda: Constrained(HOW, score=("<=", 1)), "its constraint is >="),
    "too many": (lambda: dict.fromkeys("abcdefghi", "min"), "two to 8"),
    "names alone": (lambda: Within("price", error=1), r'give \{\'price\': "min", \'error\''),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_work_is_refused_at_the_call(name):
    goal, message = WRONG[name]
    with pytest.raises(SettingError, match=message):
        racer.race([1, 2], never, budget=60, goal=goal())


def test_the_first_without_a_limit_is_raced_for_and_others_are_recorded():
    assert Within(HOW, score=0.1).names == (next(n for n in HOW if n != "score"), "score")
    assert Constrained(HOW).decisive == next(iter(HOW))
    assert repr(Pareto({"a": "min", "b": "max"})) == "Pareto({'a': 'min', 'b': 'max'})"
    assert repr(Pareto(HOW, "price", "error").decisive) == "Pareto('price', 'error')"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Pareto("a"), "two to 8"),
        (lambda: Pareto("a", "a"), "each once"),
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
        flat.race([1, 2], never, budget=60, metrics=how, objective=objective, decider=decider)
    with pytest.raises(SettingError, match="for several metrics"):
        racer.race([1, 2], never, budget=60, decider="within")


def test_values_of_a_metric_are_a_table_of_their_own():
    race = racer.Race.of([0, 1], budget=60, seed=1, metrics={"a": "min", "b": "max"}, objective="a")
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
