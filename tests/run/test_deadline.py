"""A deadline on the wall, for any number of workers; a guess at any moment."""

import math

import pytest

import racer
from racer.run import deadline as module

POOL = [{"x": x / 5} for x in range(5)]


@pytest.fixture
def clock(monkeypatch):
    """A clock that only evaluations advance, by a second each."""
    now = [0.0]
    monkeypatch.setattr(module, "_clock", lambda: now[0])
    return now


def at(clock, seconds=1.0):
    def evaluate(config, instance, seed):
        clock[0] += seconds
        return config["x"] + seed % 7

    return evaluate


@pytest.mark.parametrize("seconds", [1, 4, 5, 12.5])
def test_nothing_begins_after_the_deadline(clock, seconds, tmp_path):
    settings = {"budget": 200, "seed": 1}
    path = tmp_path / "run.db"
    result = racer.race(POOL, at(clock), **settings, deadline=seconds, store=path)
    assert (result.ended, result.evaluations) == (racer.Ended.DEADLINE, math.ceil(seconds))
    assert result.best is None
    assert result.guess == 0
    guess = f"which no test supports, is #0, by {max(int(seconds / 5), 1)} evaluation"
    assert guess in result.verdict[0]
    assert "0.0" in str(result).split("Survivors")[0]  # its configuration
    whole = racer.resume(path, at(clock))
    assert whole.table.equals(racer.race(POOL, at(clock), **settings).table)


def test_one_success_is_enough_for_a_guess(clock):
    def evaluate(config, instance, seed):
        clock[0] += 1.0
        if config["x"] < 0.5:
            raise ValueError("no")
        return 1.0

    result = racer.race(POOL, evaluate, budget=100, deadline=4, seed=1)
    assert (result.evaluations, result.guess, result.to_dict()["guess"]) == (4, 3, 3)
    result = racer.race(POOL, evaluate, budget=100, deadline=3, seed=1)
    assert result.guess is None


def test_a_tuning_has_a_guess_and_no_held_out_instances_after_the_deadline(clock):
    space = racer.Space({"x": racer.Real(0, 1)}, default={"x": 0.5})
    result = racer.tune(space, at(clock), budget=60, deadline=7, seed=1, test_instances=[1, 2])
    assert (result.ended, result.evaluations) == (racer.Ended.DEADLINE, 7)
    assert result.guess is not None
    assert result.tests.empty


def test_without_a_budget_the_workers_have_nine_tenths_of_the_time():
    def budget(**settings):
        given = {"budget": None, "deadline": 100, "n_jobs": 1, "executor": None}
        return module.budget_within(**given | settings)

    assert budget() == racer.Budget(seconds=90.0)
    assert budget(n_jobs=4) == racer.Budget(seconds=360.0)
    assert budget(budget=7) == 7
    for wrong, message in (
        ({"deadline": None}, r"no budget: give budget= \(evaluations\) or deadline="),
        ({"executor": object()}, "deadline= with executor="),
        ({"deadline": 0}, "deadline=0: give seconds of wall time"),
    ):
        with pytest.raises(racer.BudgetError, match=message):
            budget(**wrong)
    with pytest.raises(racer.BudgetError, match="deadline=nan"):
        racer.race(POOL, lambda c, i, s: 1.0, budget=50, deadline=math.nan)


def test_a_race_ends_by_the_deadline_with_two_workers_too():
    def slow(config, instance, seed):
        return config["x"] + seed % 7

    result = racer.race(POOL, slow, budget=10_000_000, deadline=1e-3, seed=1, n_jobs=2)
    assert result.ended is racer.Ended.DEADLINE
