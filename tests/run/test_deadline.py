"""A deadline on the wall, for any number of workers; a guess at any moment."""

import itertools
import math
import random
from concurrent.futures import ThreadPoolExecutor

import flat
import pytest

import racer
from racer.errors import RacerWarning
from racer.evaluate import attempt
from racer.run import deadline as module
from racer.store.load import check_store

POOL = [{"x": x / 5} for x in range(5)]
SPACE = racer.Space({"x": racer.Real(0, 1)})
LONG = {"seed": 1, "first_test": 1_000_000}


@pytest.fixture
def clock(monkeypatch):
    """A clock that only evaluations advance, by a second each."""
    now = [0.0]
    monkeypatch.setattr(module, "_clock", lambda: now[0])
    return now


def wall(seconds, evaluations=None):
    return racer.Budget(evaluations=evaluations, wall=seconds)


def at(clock, seconds=1.0):
    def evaluate(config, instance, seed):
        clock[0] += seconds
        return config["x"] + seed % 7

    return evaluate


@pytest.mark.parametrize("seconds", [1, 4, 5, 12.5])
def test_nothing_begins_after_the_deadline(clock, seconds, tmp_path):
    settings = {"seed": 3, "budget": wall(seconds, 200)}  # best first
    path = tmp_path / "run.db"
    with pytest.warns(RacerWarning, match="before the first .* give more time, or fewer candidat"):
        result = flat.race(POOL, at(clock), **settings, store=path)
    assert (result.ended, result.evaluations) == (racer.Ended.DEADLINE, math.ceil(seconds))
    assert result.best is None
    assert result.guess == 0
    guess = f", {math.ceil(seconds / 5)} evaluation"
    assert "Best guess, without a test: #0 (" in result.verdict[0]
    assert guess in result.verdict[0]
    assert "0.0" in str(result).split("Survivors")[0]  # its configuration
    whole = racer.resume(path, at(clock))
    assert whole.table.equals(racer.race(POOL, at(clock), budget=200, seed=3).table)


@pytest.mark.filterwarnings("ignore:the deadline passed")
def test_one_success_is_enough_for_a_guess(clock):
    calls = []

    def evaluate(config, instance, seed):
        calls.append(config)
        clock[0] += 1.0
        if len(calls) % 4:
            raise ValueError("no")
        return 1.0

    result = racer.race(POOL, evaluate, budget=wall(4, 100), seed=1)
    fourth = POOL.index(calls[-1])
    assert (result.evaluations, result.guess, result.to_dict()["guess"]) == (4, fourth, fourth)
    with pytest.warns(RacerWarning, match="after 3 evaluations.* called the best; give more time"):
        result = racer.race(POOL, evaluate, budget=wall(3, 100), seed=1)
    assert result.guess is None


def test_a_tuning_has_a_guess_and_no_held_out_instances_after_the_deadline(clock):
    space = racer.Space({"x": racer.Real(0, 1)}, default={"x": 0.5})
    given = {"budget": wall(7, 60), "test_instances": [1, 2]}
    words = (
        "the deadline passed after 7 evaluations, before .* give more time, or a lower first_test"
    )
    with pytest.warns(RacerWarning, match=words):
        result = flat.tune(space, at(clock), seed=1, **given)
    assert (result.ended, result.evaluations) == (racer.Ended.DEADLINE, 7)
    assert result.guess is not None
    assert result.tests.empty


def test_without_a_budget_the_workers_have_nine_tenths_of_the_time():
    def budget(**settings):
        return module.budget_within(100, racer.Workers(**settings))

    assert budget() == racer.Budget(seconds=90.0)
    assert budget(n=4) == racer.Budget(seconds=360.0)
    with pytest.raises(racer.BudgetError, match=r"no budget: give budget=1000 \(evaluations\) or"):
        module.budget_within(None, racer.Workers())
    with pytest.raises(racer.BudgetError, match=r"Budget\(wall=..\) with an executor needs"):
        budget(executor=ThreadPoolExecutor(1))
    for wrong in (0, math.nan):
        with pytest.raises(racer.BudgetError, match=f"budget of {wrong} seconds of wall time"):
            racer.Budget(wall=wrong)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("is_stored", [False, True])
def test_callbacks_see_the_end_by_a_deadline(n_jobs, is_stored, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_clock", itertools.count().__next__)  # a second at each look
    events = []
    given = {**LONG, "n_jobs": n_jobs, "callbacks": [events.append]}
    given |= {"store": tmp_path / "run.db"} if is_stored else {}
    with pytest.warns(RacerWarning, match="before the first test"):
        result = flat.race(POOL, lambda c, i, s: c["x"] + s % 7, **given, budget=wall(50, 10**7))
    assert events[-1] == racer.RaceEnded(racer.Ended.DEADLINE, eliminated=())
    assert events[-1].result.ended is racer.Ended.DEADLINE
    assert events[-1].result.scores.equals(result.scores)
    assert sum(isinstance(event, racer.RaceEnded) for event in events) == 1


@pytest.mark.parametrize("is_tuning", [False, True])
@pytest.mark.parametrize("least", [1, 1000])  # with its result, and without it
@pytest.mark.filterwarnings("ignore:the deadline passed", "ignore:.* goes on with")
def test_a_store_holds_the_deadline_until_its_race_goes_on(
    clock, monkeypatch, folder, is_tuning, least
):
    monkeypatch.setattr("racer.store.result.LEAST", least)
    path = folder / "run.db"
    call, pool = (racer.tune, SPACE) if is_tuning else (racer.race, POOL)
    result = call(pool, at(clock), budget=wall(26, 60), seed=1, store=path)
    assert (result.ended, result.evaluations) == (racer.Ended.DEADLINE, 26)
    assert (racer.load(path).ended, check_store(path).problems) == (racer.Ended.DEADLINE, [])

    def stopped(config, instance, seed):
        raise KeyboardInterrupt

    with pytest.raises(racer.RaceInterrupted):
        racer.resume(path, stopped)
    assert racer.load(path).ended is racer.Ended.INTERRUPTED
    assert racer.resume(path, at(clock), budget=wall(1)).ended is racer.Ended.DEADLINE
    assert racer.load(path).ended is racer.Ended.DEADLINE
    whole = racer.resume(path, at(clock), budget=wall(100))
    assert whole.table.equals(call(pool, at(clock), budget=60, seed=1).table)
    assert (racer.load(path).ended, check_store(path).problems) == (whole.ended, [])


@pytest.mark.parametrize("is_tuning", [False, True])
def test_a_deadline_alone_that_is_too_short_asks_for_time_not_for_a_budget(is_tuning):
    call, pool = (racer.Tuner.of, SPACE) if is_tuning else (racer.Race.of, POOL)
    contest = call(pool, budget=module.budget_within(12, racer.Workers()), seed=1, first_test=5)
    words = (
        r"the time for evaluations \(10\.8 s\) ended after .* result.guess .* give more time, or"
    )

    def play():
        while cells := contest.ask():
            for cell in cells:
                contest.tell(cell, racer.Outcome("ok", cell.config["x"], seconds=1.0))

    with pytest.warns(RacerWarning, match=words):
        play()
    assert contest.result().guess is not None


@pytest.mark.parametrize("limit", [{"budget": wall(1.0)}, {"budget": 60}])
@pytest.mark.parametrize("n_jobs", [0, "2", 1.5, 10_001, 10**30])
def test_a_wrong_number_of_workers_is_refused_with_a_deadline_too(n_jobs, limit):
    with pytest.raises(racer.SettingError, match=f"^n_jobs={n_jobs!r}: give "):
        flat.race(POOL, lambda c, i, s: 1.0, n_jobs=n_jobs, **limit)


@pytest.mark.parametrize("is_tuning", [False, True])
@pytest.mark.filterwarnings("ignore:the deadline passed")
def test_a_recorded_budget_that_is_not_used_up_holds_for_a_later_deadline(
    clock, is_tuning, tmp_path
):
    path = tmp_path / "run.db"
    call, pool = (racer.tune, SPACE) if is_tuning else (racer.race, POOL)
    given = {"seed": 1, "store": path, "decider": "best-for-budget"}  # plans by it
    first = call(pool, at(clock), **given, budget=wall(100), n_jobs=1)
    assert first.rules.budget == racer.Budget(seconds=90.0)
    for deadline in (5, 100 if is_tuning else 200):  # a tuning goes on from its end
        again = call(pool, at(clock), **given, budget=wall(deadline))
        assert again.rules.budget == racer.Budget(seconds=90.0)
    with pytest.raises(racer.StoreError, match="budget is 45 s, but the race in"):
        call(pool, at(clock), **given, budget=racer.Budget(seconds=45.0, wall=1))


@pytest.mark.parametrize("is_tuning", [False, True])
def test_a_longer_deadline_buys_time_for_a_run_whose_budget_is_used_up(
    clock, monkeypatch, is_tuning, tmp_path
):
    monkeypatch.setattr(attempt, "_clock", lambda: clock[0])
    path = tmp_path / "run.db"
    call, pool = (flat.tune, SPACE) if is_tuning else (flat.race, [0, 0.1, 0.2])
    given = {"seed": 1, "store": path, "first_test": 5}

    def noise(config, instance, seed):
        clock[0] += 1.0
        return random.Random(f"{config} {seed}").random()

    for deadline, evaluations in ((60, 54), (60, 54), (30, 54), (120, 108)):
        result = call(pool, noise, **given, budget=wall(deadline))
        assert (result.ended, result.evaluations) == ("budget", evaluations)
    with pytest.warns(RacerWarning, match=r"used up its budget of 108 s.* give more seconds \(b"):
        assert racer.resume(path, noise, budget=wall(600)).evaluations == 108
    with pytest.raises(racer.StoreError, match=r"has 108 s: give more seconds \(budget=racer.Bud"):
        racer.resume(path, noise, budget=200)
    more = racer.resume(path, noise, budget=racer.Budget(seconds=120.0))
    assert more.evaluations == 120
    if is_tuning:
        budgets = [racer.Budget(seconds=float(seconds)) for seconds in (54, 108, 120)]
        del given["store"]
        whole = flat.tune(pool, noise, **given, budget=budgets)
        assert whole.table.equals(more.table)


def test_a_longer_deadline_buys_time_for_a_race_in_progress_that_does_not_plan(
    clock, monkeypatch, tmp_path
):
    monkeypatch.setattr(attempt, "_clock", lambda: clock[0] / 2.0)  # a second for each evaluation

    def noise(config, instance, seed):
        clock[0] += 2.0
        return random.Random(f"{config} {seed}").random()

    given = {"seed": 1, "store": tmp_path / "run.db", "decider": "f-race"}
    for deadline, evaluations, seconds in ((40, 20, 36.0), (30, 35, 36.0), (100, 85, 90.0)):
        result = flat.race([0, 0.1, 0.2], noise, **given, budget=wall(deadline))
        assert (result.ended, result.evaluations) == ("deadline", evaluations)
        assert result.rules.budget == racer.Budget(seconds=seconds)


@pytest.mark.filterwarnings("ignore:the deadline passed")
def test_a_deadline_adds_nothing_to_a_budget_of_evaluations(clock, tmp_path):
    given = {"seed": 1, "store": tmp_path / "run.db"}
    flat.tune(SPACE, at(clock), **given, budget=20)
    assert flat.tune(SPACE, at(clock), **given, budget=wall(500)).evaluations == 20
    assert racer.resume(given["store"], at(clock), budget=wall(500)).evaluations == 20


def test_a_budget_without_end_leaves_the_deadline(clock):
    budget = racer.Budget(seconds=1e308, wall=0.5)
    result = racer.tune(SPACE, at(clock, 1e-3), budget=budget, seed=1)
    assert result.ended is racer.Ended.DEADLINE
