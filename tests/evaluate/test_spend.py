"""What `evaluate` returns beside its number or metrics: what the evaluation cost."""

import sys

import numpy as np
import pytest
from objectives import Counting

import racer
from racer.evaluate.attempt import evaluate_cell
from racer.evaluate.limits.processes import parse, write
from racer.evaluate.outcome import Cell


def outcome_of(answer, metrics=None, **given):
    cell = Cell(0, 0, None, None, 1, metrics=metrics)
    return evaluate_cell(lambda *_: answer, cell, **given)


@pytest.mark.parametrize(
    ("answer", "value", "spend"),
    [
        ({"cost": 1.5, "spend": 0.25}, 1.5, 0.25),
        ({"spend": 0, "whatever": 1.5}, 1.5, 0.0),
        ({"cost": 1.5, "spend": None}, 1.5, None),
        ({"cost": 1.5}, 1.5, None),
        ({"cost": np.float64(1.5), "spend": np.float32(0.25)}, 1.5, 0.25),
        (1.5, 1.5, None),
    ],
)
def test_one_number_beside_the_spend_is_the_value(answer, value, spend):
    outcome = outcome_of(answer)
    assert (outcome.status, outcome.value, outcome.spend) == ("ok", value, spend)
    assert outcome.metrics is None


def test_metrics_stand_beside_the_spend():
    outcome = outcome_of({"score": 0.5, "time": 2.0, "spend": 0.25}, ("score", "time"))
    assert outcome.metrics == {"score": 0.5, "time": 2.0}
    assert (outcome.value, outcome.spend) == (0.5, 0.25)


@pytest.mark.parametrize(
    ("spend", "why"),
    [
        (-0.5, "'spend': returned -0.5, less than 0"),
        (float("nan"), "'spend': returned nan, not a finite number"),
        (1e308, "'spend': returned 1e+308, more than 1e+300"),  # of which no sum is finite
        ("0.1", "'spend': returned a str, not a number"),
    ],
)
@pytest.mark.parametrize("metrics", [None, ("score",)])
def test_a_spend_that_makes_no_sense_costs_the_cell(spend, why, metrics):
    outcome = outcome_of({"score": 0.5, "spend": spend}, metrics)
    assert (outcome.status, outcome.value, outcome.spend) == ("invalid", None, None)
    assert why in outcome.message


@pytest.mark.parametrize("spend", ["0.1", -1.0, float("nan")])
def test_a_wrong_spend_ends_the_race_at_its_first_cell(spend):
    evaluate = Counting(lambda config, *_: {"score": config, "spend": spend})
    with pytest.raises(racer.ObjectiveError, match="evaluate gave a wrong 'spend'"):
        racer.race([1, 2, 3], evaluate, budget=60, goal={"score": "min"}, seed=1)
    assert len(evaluate.calls) == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"spend": 0.1}, "returned a mapping without a number"),
        ({"a": 1.0, "b": 2.0, "spend": 0.1}, "returned several metrics, 'a', 'b': give"),
        ({"a": float("nan"), "spend": 0.1}, "returned nan"),
    ],
)
def test_a_cell_without_a_value_may_have_spent(answer, why):
    outcome = outcome_of(answer)
    assert (outcome.status, outcome.value, outcome.spend) == ("invalid", None, 0.1)
    assert outcome.message.startswith(why)


def test_retries_are_paid_for_as_far_as_is_known():
    answers = iter([{"cost": float("nan"), "spend": 0.5}, None, {"cost": 2.0, "spend": 0.25}])
    cell = Cell(0, 0, None, None, 1)
    outcome = evaluate_cell(lambda *_: next(answers), cell, retries=3)
    assert (outcome.value, outcome.attempts, outcome.spend) == (2.0, 3, 0.75)


def test_the_spend_comes_out_of_a_process_of_its_own(tmp_path):
    given = racer.Outcome("ok", 1.0, spend=0.5)
    with (tmp_path / "pipe").open("wb") as file:
        write(file.fileno(), given)
    assert parse((tmp_path / "pipe").read_bytes()) == given


@pytest.mark.parametrize("goal", ["min", {"cost": "min"}])
def test_a_program_prints_its_spend_in_json(goal):
    code = "import json, sys; x = float(sys.argv[1]); print(json.dumps(dict(cost=x, spend=x / 4)))"
    command = racer.Command([sys.executable, "-I", "-S", "-c", code, "{x}"], reads="json")
    result = racer.race(
        [{"x": 1}, {"x": 2}],
        command,
        racer.Instances(deterministic=False),
        budget=racer.Budget(spend=4.0),
        decider=racer.deciders.BayesianFriedman(first_test=2),
        goal=goal,
        seed=1,
    )
    assert result.table.iloc[0].tolist() == [1.0, 2.0]
    assert result.scores["spend"].iloc[:2].tolist() == [0.25, 0.5]
    assert result.spent == pytest.approx(0.75 * len(result.blocks))
