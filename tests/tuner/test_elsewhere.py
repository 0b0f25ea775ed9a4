"""Outcomes made elsewhere go into a tuning before it begins."""

import pandas as pd
import pytest

import racer

SPACE = racer.Space({"x": racer.Real(-5, 5), "kind": racer.Categorical(["a", "b"])})
GOOD = {"x": 3.0, "kind": "a"}


def cost(config, instance):
    return abs(config["x"] - 3) + (config["kind"] == "b") + instance


def tuned(tuner):
    asked = []
    while cells := tuner.ask():
        for cell in cells:
            asked.append(cell)
            tuner.tell(cell, racer.Outcome("ok", cost(cell.config, cell.instance)))
    return asked


def tuner(**how):
    how = {"budget": 120, "seed": 1, "deterministic": True} | how
    return racer.Tuner.of(SPACE, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5], **how)


def test_a_good_configuration_from_elsewhere_is_found_and_not_asked_for_again():
    made, plain = tuner(), tuner()
    for instance in made.instances:
        made.tell_elsewhere(GOOD, instance, 7, racer.Outcome("ok", cost(GOOD, instance)))
        made.tell_elsewhere({"x": -5.0, "kind": "b"}, instance, 7, racer.Outcome("failed", None))
    asked = tuned(made)
    assert made.result().best == GOOD
    assert all(cell.config != GOOD for cell in asked)
    assert made.result().evaluations <= 120
    tuned(plain)
    assert plain.result().best != GOOD


def test_outcomes_with_other_seeds_are_not_taken_for_those_of_a_block():
    made = tuner(deterministic=False)
    made.tell_elsewhere(GOOD, 0.0, -1, racer.Outcome("ok", 0.0))
    assert any(cell.config == GOOD for cell in tuned(made))


def test_a_frame_is_the_same_as_its_rows():
    rows = [{**GOOD, "instance": i, "value": cost(GOOD, i)} for i in (0.0, 0.5)]
    one, other = tuner(), tuner()
    one.tell_elsewhere(
        pd.DataFrame([*rows, {"x": 1.0, "kind": "b", "instance": 0.0, "value": None}])
    )
    for row in rows:
        other.tell_elsewhere(GOOD, row["instance"], None, racer.Outcome("ok", row["value"]))
    other.tell_elsewhere({"x": 1.0, "kind": "b"}, 0.0, None, racer.Outcome("failed", None))
    assert tuned(one) == tuned(other)
    assert one.result().best == GOOD


def test_a_small_budget_has_no_room_for_all():
    made = tuner(budget=11)
    for x in (1.0, 2.0, 3.0):
        made.tell_elsewhere({"x": x, "kind": "a"}, 0.0, None, racer.Outcome("ok", 3 - x))
    tuned(made)
    assert made.result().evaluations <= 11


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (({"x": 9.0, "kind": "a"}, 0.0, 1, racer.Outcome("ok", 1.0)), racer.CandidateError, "x"),
        ((GOOD, 9.0, 1, racer.Outcome("ok", 1.0)), racer.SettingError, "none of the tuning's"),
        ((GOOD, 0.0, 1), racer.RaceStateError, "tell_elsewhere"),
        ((pd.DataFrame({"x": [1.0]}),), racer.SettingError, "column 'value'"),
    ],
)
def test_what_cannot_be_told_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        tuner().tell_elsewhere(*given)


def test_after_the_first_ask_it_is_too_late():
    made = tuner()
    made.ask()
    with pytest.raises(racer.RaceStateError, match="before the first ask"):
        made.tell_elsewhere(GOOD, 0.0, 1, racer.Outcome("ok", 1.0))
