"""A run of races as a state machine: ask, tell, and what may not be told."""

from __future__ import annotations

import math

import pytest

from racer import (
    BudgetError,
    CandidateError,
    Ended,
    Outcome,
    Race,
    Real,
    Runtime,
    Search,
    SettingError,
    Space,
    Tuner,
)
from racer.deciders import FRace
from racer.tuner import schedule

OK = Outcome("ok", 1.0, seconds=1.0)


def test_the_first_block_is_asked_for_at_once(tuning):
    tuner = Tuner(tuning.mixed(), ["i", "j"], budget=200, seed=1)
    cells = tuner.ask()
    assert {cell.candidate: cell.config for cell in cells} == dict(enumerate(tuner.configs))
    assert {(cell.block, cell.instance) for cell in cells} <= {(0, "i"), (0, "j")}
    assert len({(cell.instance, cell.seed) for cell in cells}) == 1
    assert all(type(cell.seed) is int for cell in cells)


def test_asking_and_looking_change_nothing(tuning):
    tuner = Tuner(tuning.reals(), budget=120, seed=1)
    plain = Tuner(tuning.reals(), budget=120, seed=1)
    tuning.play(plain)
    while cells := tuner.ask():
        for cell in cells:
            assert tuner.ask() == tuner.ask()
            assert tuner.result().evaluations == tuner.result().evaluations
            assert cell in tuner.ask()
            tuner.tell(cell, tuning.outcome_of(tuning.noisy(cell)))
            assert cell not in tuner.ask()
    assert tuner.ask() == ()
    assert tuning.content(tuner.result()) == tuning.content(plain.result())


def test_the_settings_of_a_run_make_it_again(tuning):
    given_ = {
        "decider": "f-race",
        "budget": 150,
        "initial": [{"x1": 1, "x0": 2.0}],
        "maximize": True,
        "seed": 4,
        "deterministic": True,
        "first_test": 9,
        "each_test": 2,
        "block_size": 2,
        "search": Search(elites=2),
        "instance_order": "given",
        "runtime": None,
    }
    tuner = Tuner.of(tuning.reals(), list("abcd"), test_instances=["x", "y"], **given_)
    assert {*given_} - {"search"} | {"elites"} == set(tuner.settings)
    assert tuner.settings["first_test"] == 9  # as given, though there are four instances
    settings = dict(tuner.description().settings)
    space, tests = Space.from_json(settings.pop("space")), settings.pop("test_instances")
    del settings["sampling"]  # of this version
    search = Search(settings.pop("elites"))
    again = Tuner.of(space, tuner.instances, test_instances=tests, search=search, **settings)
    assert again.settings == tuner.settings
    tuning.play(tuner)
    tuning.play(again)
    assert tuning.content(tuner.result()) == tuning.content(again.result())


def test_it_says_what_it_is_made_of(tuning):
    tuner = Tuner.of(tuning.reals(), ["a", "b"], test_instances=["x", "y"], budget=120, seed=1)
    said = tuner.description()
    assert (said.candidates, said.instances) == ((), ("a", "b"))
    assert (said.test_instances, said.parameters) == (("x", "y"), ("x0", "x1"))
    assert Tuner(tuning.reals(), budget=120).description().instances is None
    assert Race([1, 2], budget=20, seed=1).description().candidates == (1, 2)


def test_nothing_happens_before_it_is_asked(tuning):
    events = []
    tuner = Tuner(tuning.reals(), ["a", "b"], budget=120, seed=1, callbacks=[events.append])
    assert (tuner.configs, tuner.n_blocks, tuner.ended, events) == ((), 0, None, [])
    assert tuner.result().configs == ()
    tuner.watch(lambda event: events.append(("second", event)))
    tuner.ask()
    assert len(tuner.configs) == events[0].first + len(events[0].configs) > 0
    assert events[1] == ("second", events[0])


def test_it_has_elites_and_no_min_survivors(tuning):
    with pytest.raises(SettingError, match="a tuner has no min_survivors: give search="):
        Tuner(tuning.reals(), budget=120, decider=FRace(min_survivors=2))


def test_no_seed_draws_one_that_repeats_the_run(tuning):
    one, other = (Tuner(tuning.reals(), budget=120) for _ in range(2))
    tuning.play(one)
    tuning.play(other)
    assert one.seed != other.seed
    again = Tuner(tuning.reals(), budget=120, seed=one.result().seed)
    tuning.play(again)
    assert tuning.content(again.result()) == tuning.content(one.result())


WRONG = [
    (SettingError, {"space": {"x": 1}}, "give a racer.Space"),
    (CandidateError, {"initial": {"x0": 1, "x1": 1}}, "give a list of dicts"),
    (CandidateError, {"initial": [{"x0": 1}]}, r"initial\[0\]: .*'x1'"),
    (CandidateError, {"initial": [{"x0": 1, "x1": 9}]}, r"initial\[0\]: x1=9: give a number"),
    (CandidateError, {"initial": [{"x0": 1, "x1": 1}, 3]}, r"initial\[1\]: "),
    (
        CandidateError,
        {"initial": [{"x0": 1, "x1": 1}, {"x1": 1.0, "x0": 1.0}]},
        r"initial\[1\]=.* give it once",
    ),
    (SettingError, {"deterministic": True, "instances": None}, "without instances"),
    (BudgetError, {"budget": []}, "give at least one"),
    (BudgetError, {"budget": [300, 200]}, "give a larger one"),
    (BudgetError, {"budget": [300, 300]}, "give a larger one"),
]


@pytest.mark.parametrize(("error", "wrong", "message"), WRONG, ids=lambda v: str(v)[:40])
def test_settings_that_cannot_work_are_refused(tuning, error, wrong, message):
    settings_ = {"space": tuning.reals(), "instances": [1, 2], "budget": 200, **wrong}
    with pytest.raises(error, match=message):
        Tuner.of(**settings_)


def test_a_run_that_goes_on_can_be_looked_at(tuning):
    tuner = Tuner(tuning.reals(), budget=120, seed=3)
    empty = tuner.result()
    assert (empty.best, empty.elites, empty.evaluations) == (None, (), 0)
    assert empty.scores.shape == (0, 8)
    assert empty.races.empty
    assert empty.tests.empty
    assert (empty.probability_best, empty.indistinguishable, empty.shared_blocks) == ({}, (), 0)
    tuner.tell(tuner.ask()[0], OK)
    result = tuner.result()
    assert result.ended is Ended.INTERRUPTED
    assert tuner.ended is None
    assert (result.evaluations, result.seconds, len(result.scores)) == (1, 1.0, 1)


def test_a_larger_tuning_keeps_more_candidates_to_the_end_of_its_races(tuning, monkeypatch):
    """Near the optimum they differ by less than noise: the process chooses among them."""
    decided = []
    for decisive in (schedule._DECISIVE, 10_000):  # the second: as in a small tuning
        monkeypatch.setattr(schedule, "_DECISIVE", decisive)
        tuner = Tuner(tuning.reals(), budget=2500, seed=1, decider="best-for-budget")
        tuning.play(tuner, tuning.noisy)
        decided.append([race.ended for race in tuner.result().completed_races].count("decided"))
    assert decided[0] < decided[1]


def test_without_a_decider_it_is_one_that_takes_the_costs():
    given = [{}, {"runtime": Runtime(5.0)}, {"runtime": Runtime(5.0, slack=math.inf)}]
    space = Space({"x": Real(0, 1)})
    names = [type(Tuner.of(space, budget=100, **more).rules.decider).__name__ for more in given]
    assert names == ["BestForBudget", "BayesianFriedman", "BestForBudget"]
