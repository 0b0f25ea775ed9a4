"""Races and tunings that cost money: workers, stores, resumes, progress."""

from __future__ import annotations

import sys

import flat
import numpy as np
import pytest
from objectives import Counting
from objectives import paid as evaluate
from objectives import paid_of_x as tuned
from playing import story
from stored import executed

import racer
from racer import Budget, ObjectiveError, RaceInterrupted, StoreError
from racer.store.load import check_store
from racer.store.schema import checksum

SPACE = racer.Space({"x": racer.Real(0, 1), "y": racer.Real(0, 1)})
SETTINGS = {"decider": "best-for-budget", "seed": 3}


def price(config, instance):
    return evaluate(config, instance, 0)["spend"]


def timed(config, instance, seed):
    return tuned(config, instance, seed) | {"time": config["x"] + config["y"]}


@pytest.mark.parametrize("prices", [None, price])
def test_workers_stores_and_interruptions_change_nothing(prices, path):
    given = {**SETTINGS, "budget": Budget(spend=400.0, prices=prices)}
    alone = flat.race(range(8), evaluate, range(20), **given)
    assert 380.0 < alone.spent <= 400.0
    assert len(alone.survivors) < 8
    interrupted = Counting(evaluate, 50)
    with pytest.raises(RaceInterrupted) as stop:
        flat.race(range(8), interrupted, range(20), store=path, **given)
    told = stop.value.result
    assert told.evaluations == 49
    assert told.spent == pytest.approx(sum(price(c, i) for c, i, _ in interrupted.calls[:49]))
    with pytest.warns(racer.RacerWarning, match="was begun with evaluate="):
        resumed = racer.resume(path, evaluate, budget=prices and Budget(prices=prices), n_jobs=2)
    assert story(resumed) == story(alone)
    assert resumed.unused.cells == 0  # nothing that is paid for goes ahead
    if prices is None:
        assert story(racer.load(path)) == story(alone)


def test_a_race_goes_on_with_more_money_but_not_with_less(path):
    given = {"decider": "f-race", "first_test": 9, "seed": 3, "store": path}
    short = flat.race(range(8), evaluate, range(20), budget=Budget(spend=550.0), **given)
    more = racer.resume(path, evaluate, budget=Budget(spend=700.0))
    assert short.spent <= 550.0 < more.spent <= 700.0
    assert more.scores.iloc[: short.evaluations].equals(short.scores)
    with pytest.raises(StoreError, match=r"budget is 600 in money, but the race in .* has 700"):
        racer.resume(path, evaluate, budget=Budget(spend=600.0))


def test_the_prices_of_a_race_are_recorded_whatever_says_them(path):
    given = {**SETTINGS, "budget": Budget(spend=400.0, prices=price)}
    one = flat.race(range(8), evaluate, range(20), store=path, **given)
    assert story(racer.load(path)) == story(racer.resume(path, evaluate)) == story(one)
    assert not check_store(path).notes
    listed = racer.load(path).rules.prices
    assert [listed[c][i] for c in range(8) for i in range(20)] == [
        price(c, i) for c in range(8) for i in range(20)
    ]
    given["budget"] = Budget(spend=400.0, prices=listed)
    assert story(flat.race(range(8), evaluate, range(20), **given)) == story(one)
    with pytest.raises(StoreError, match="prices is"):
        racer.resume(path, evaluate, budget=Budget(prices=[1.0] * 8))


def test_prices_by_instance_are_one_for_each():
    wrong = [[1.0] * 20, [1.0] * 19, 2.0]
    with pytest.raises(racer.SettingError, match=r"prices\[1\] has 19 numbers for 20 instances"):
        racer.race(range(3), evaluate, range(20), budget=Budget(evaluations=60, prices=wrong))
    with pytest.raises(racer.SettingError, match=r"prices\[0\]\[1\] is -1.0"):
        racer.race(
            range(3),
            evaluate,
            range(2),
            budget=Budget(evaluations=60, prices=[[1.0, -1.0], 1.0, 1.0]),
        )


def per_unit(config, instance):
    return tuned(config, instance, 0)["spend"]


def tune_by_price(path, evaluate=tuned):
    given = {"budget": Budget(spend=60.0, prices=per_unit), "metrics": {"error": "min"}, "seed": 1}
    return flat.tune(SPACE, evaluate, range(9), store=path, **given)


def test_the_prices_of_a_tuning_are_recorded_with_its_candidates(tmp_path):
    path = tmp_path / "tuning.db"
    one = tune_by_price(path)
    assert story(racer.load(path)) == story(one)
    assert check_store(path).notes == check_store(path).problems == []
    prices = racer.load(path).rules.prices
    assert len(prices) == len(one.configs)
    assert prices[0][3] == per_unit(one.configs[0], 3)
    with pytest.raises(
        racer.StoreError,
        match=r"only describes its prices.*resume\(.., budget=racer.Budget\(prices=..\)\)",
    ):
        racer.resume(path, tuned)  # which may sample others
    assert racer.resume(path, tuned, budget=Budget(prices=per_unit)).spent == one.spent


def test_a_tuning_that_was_interrupted_is_loaded_with_its_prices_and_goes_on(tmp_path):
    path = tmp_path / "tuning.db"
    with pytest.raises(RaceInterrupted):
        tune_by_price(path, evaluate=Counting(tuned, 30))
    found = racer.load(path)
    assert (found.ended, found.evaluations) == ("interrupted", 29)
    with pytest.warns(racer.RacerWarning, match="was begun with evaluate="):
        resumed = racer.resume(path, tuned, budget=Budget(prices=per_unit))
    assert story(resumed) == story(tune_by_price(None))
    assert story(racer.load(path)) == story(resumed)


def test_a_recorded_price_that_was_changed_or_is_missing_is_said(tmp_path):
    path = tmp_path / "tuning.db"
    tune_by_price(path)
    executed(path, "UPDATE prices SET value = '1.5' WHERE candidate = 1")
    with pytest.raises(StoreError, match=r"row 1 of .* does not match its checksum"):
        racer.load(path)
    executed(path, "DELETE FROM prices WHERE candidate = 1")
    with pytest.raises(StoreError, match=r"are a function, which is not in the file.*prices=\.\."):
        racer.load(path)
    assert check_store(path).notes == [
        "its prices are a function, which is not in the file: verdicts were not replayed"
    ]


def test_recorded_prices_that_make_no_sense_are_refused(tmp_path):
    path = tmp_path / "tuning.db"
    tune_by_price(path)
    for value in ("[]", "[1.0]", "[[1.0]]", '"x"', "{}", "-1", "true", "[", "null"):
        row = (value, checksum((1, value)))
        executed(path, "UPDATE prices SET value = ?, checksum = ? WHERE candidate = 1", *row)
        with pytest.raises(StoreError, match="price"):
            racer.load(path)


def test_recorded_seconds_decide_after_a_resume_as_they_did(path, monkeypatch):
    """A plan by the clock is made again from what is recorded."""
    ticks = np.random.default_rng(1).exponential(size=10_000).cumsum()
    monkeypatch.setattr("racer.evaluate.attempt._clock", iter(ticks.tolist()).__next__)
    given = {**SETTINGS, "budget": Budget(seconds=150.0)}
    first = flat.race(range(6), evaluate, range(50), store=path, **given)
    assert len(first.eliminations) > 2
    # by these ticks
    assert 140.0 < first.seconds <= 155.0
    assert story(racer.load(path)) == story(first)
    executed(path, "DELETE FROM ending")
    assert story(racer.resume(path, evaluate)) == story(first)


@pytest.mark.skipif(sys.platform == "win32", reason="programs are refused")
def test_a_program_that_cannot_print_its_price_is_refused_before_it_runs(tmp_path):
    marker, path = tmp_path / "ran", tmp_path / "race.db"
    program = racer.Command(["touch", str(marker), "{parameters}"])
    message = 'money .* the program is read for its cost alone: give reads = "json"'
    with pytest.raises(racer.SettingError, match=message):
        racer.tune(SPACE, program, budget=Budget(spend=3.0), store=path)
    with pytest.raises(racer.SettingError, match="metrics were given, but the program is read"):
        racer.tune(SPACE, program, budget=99, goal={"a": "min"}, store=path)
    assert not marker.exists()
    assert not path.exists()


def test_an_evaluate_that_does_not_say_what_it_spent_is_refused_at_its_first_cell(tmp_path):
    plain, path = Counting(lambda c, *_: float(c)), tmp_path / "race.db"
    with pytest.raises(ObjectiveError, match="returned no 'spend', which a budget of money needs"):
        racer.race([1, 2], plain, budget=Budget(spend=5.0), store=path)
    assert len(plain.calls) == 1
    assert not path.exists()  # it would refuse a budget with prices
    priced = racer.race([1, 2], plain, budget=Budget(spend=20.0, prices=[1.0, 3.0]), seed=1)
    assert priced.spent == 4.0 * len(priced.blocks)


def test_what_is_spent_is_shown(path, capsys):
    given = {**SETTINGS, "budget": Budget(spend=400.0), "store": path, "progress": True}
    result = flat.race(range(8), evaluate, range(20), **given)
    assert " of 400 spent): " in capsys.readouterr().err
    assert f"{result.spent:.4g} spent of 400" in " ".join(str(result).split())


@pytest.mark.parametrize("prices", [None, lambda c, i: tuned(c, i, 0)["spend"]])
@pytest.mark.parametrize(
    "more",
    [
        {"instances": range(9)},
        {"instances": None, "decider": "f-race"},
        {"instances": range(6), "deterministic": True, "test_instances": range(3)},
        {
            "instances": range(9),
            "metrics": {"error": "min", "time": "min"},
            "objective": racer.Pareto("error", "time"),
        },
    ],
    ids=["instances", "none", "deterministic", "front"],
)
def test_a_tuning_never_spends_more_than_its_budget(prices, more):
    instances = more["instances"]
    given = {name: value for name, value in more.items() if name != "instances"}
    called = timed if "metrics" in more else tuned
    result = flat.tune(
        SPACE, called, instances, budget=Budget(spend=400.0, prices=prices), seed=3, **given
    )
    assert result.spent == pytest.approx(result.scores["spend"].sum())
    assert result.spent <= 400.0
    assert result.spent > 300.0 or result.ended == "instances"
    assert result.survivors


def test_a_tuning_in_which_all_is_free_ends():
    with pytest.warns(racer.RacerWarning, match="cost nothing"):
        result = racer.tune(
            SPACE, lambda c, i, s: {"x": c["x"], "spend": 0.0}, budget=Budget(spend=5.0), seed=1
        )
    assert result.spent == 0.0


def test_a_tuning_with_a_price_per_candidate_is_refused():
    with pytest.raises(racer.SettingError, match=r"give a function prices\(config, instance\)"):
        racer.tune(SPACE, tuned, range(9), budget=Budget(spend=400.0, prices=[1.0, 2.0]))


def test_an_ablation_says_what_it_spent_and_takes_no_budget_of_money():
    tuning = racer.tune(SPACE, tuned, range(9), budget=Budget(spend=60.0), seed=3)
    ends = {"source": {"x": 0.0, "y": 0.0}, "target": {"x": 1.0, "y": 1.0}}
    with pytest.raises(racer.BudgetError, match="an ablation has no budget of money"):
        racer.ablation(tuning, tuned, budget=Budget(spend=5.0), **ends)
    result = racer.ablation(tuning, tuned, **ends)
    costs = [o.spend for row in result.known.rows for o in row.outcomes()]
    assert result.spent == pytest.approx(np.sum(costs))
