"""Money: a budget of it is never exceeded, it is planned with, and what was spent is told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import Scripted, short, tell_block

import racer
from racer import Budget, BudgetError, Ended, Outcome, Race, SettingError
from racer.deciders import BayesianBest

LAWS = settings(max_examples=12, deadline=None, derandomize=True)


def spent_in(result):
    return float(result.scores["spend"].sum())


def play(race, cost, spend):
    """Run a race by ask and tell, with cost(cell) and spend(cell); None: no value, not known."""
    while cells := race.ask():
        for cell in cells:
            value, paid = cost(cell), spend(cell)
            status = "failed" if value is None else "ok"
            race.tell(cell, Outcome(status, value, spend=paid))
    return race.result()


def noisy(cell):
    return cell.config + np.random.default_rng([cell.seed, cell.candidate]).normal()


@LAWS
@given(st.data())
def test_known_prices_are_never_exceeded_and_the_next_block_was_too_expensive(data):
    m = data.draw(st.integers(2, 5))
    n = data.draw(st.integers(1, 6))
    table = np.array(
        data.draw(st.lists(st.floats(0.01, 30.0), min_size=m * n, max_size=m * n))
    ).reshape(n, m)
    least = float(table[np.arange(5) % n].sum())
    budget = least * data.draw(st.floats(1.0, 4.0))
    decider = data.draw(st.sampled_from(["best-for-budget", "halving", "f-race"]))
    race = Race(
        range(m),
        range(n),
        seed=1,
        decider=decider,
        budget=Budget(spend=budget, prices=lambda config, instance: table[instance, config]),
    )
    result = play(race, noisy, lambda cell: None)
    assert result.spent == pytest.approx(spent_in(result))
    assert result.spent <= budget * (1 + 1e-9)
    if result.ended == Ended.BUDGET:
        coming = table[race.n_blocks % n, list(result.survivors)].sum()
        assert result.spent + coming > budget


@pytest.mark.parametrize("decider", ["best-for-budget", "halving", "f-race"])
@pytest.mark.parametrize("seed", range(3))
def test_learned_prices_keep_a_budget_if_none_costs_more_than_before(seed, decider):
    prices = 30.0 ** np.random.default_rng(seed).random(4)
    budget = float(prices.sum()) * 7.5
    race = Race(range(4), decider=decider, budget=Budget(spend=budget), seed=seed)
    result = play(race, noisy, lambda cell: prices[cell.candidate])
    assert result.spent == pytest.approx(spent_in(result))
    assert result.spent <= budget
    if result.ended == Ended.BUDGET:
        assert result.spent + prices[list(result.survivors)].sum() > budget


def test_the_last_cent_is_spent_although_tenths_are_not_exact_in_binary():
    race = Race([0, 1], budget=Budget(spend=2.0, prices=[0.1, 0.1]), seed=1)
    assert play(race, lambda cell: 1.0, lambda cell: None).evaluations == 20


@pytest.mark.parametrize("limits", [{}, {"evaluations": 14}])
def test_free_candidates_end_with_what_else_limits_the_race(limits):
    race = Race.of([0, 1], budget=Budget(spend=1.0, **limits, prices=[0.0, 0.0]), first_test=2)
    result = play(race, lambda cell: 1.0, lambda cell: None)
    assert result.evaluations == limits.get("evaluations", 4)
    finite = Race.of(
        [0, 1], [1, 2, 3], budget=Budget(spend=1.0, prices=[0.0, 0.0]), deterministic=True
    )
    assert play(finite, noisy, lambda cell: None).evaluations == 6


@pytest.mark.parametrize("limits", [{"evaluations": 30}, {"seconds": 15.0}])
def test_each_limit_holds_beside_money(limits):
    def run(**budget):
        race = Race([0, 1], budget=Budget(**budget), decider="best-for-budget", seed=1)
        while race.ended is None:
            values = np.random.default_rng(race.n_blocks).normal(size=2)
            tell_block(race, [Outcome("ok", v, spend=1.0, seconds=0.5) for v in values])
        return race.result()

    assert run(spend=100.0, **limits).evaluations == 30
    assert run(spend=20.0, **limits).evaluations == 20


def test_a_budget_that_does_not_pay_for_the_first_test_is_refused():
    with pytest.raises(BudgetError, match=r"2 candidates on the 5 blocks .* cost 20; raise"):
        Race([0, 1], budget=Budget(spend=19.9, prices=[1.0, 3.0]))
    Race([0, 1], budget=Budget(spend=20.0, prices=[1.0, 3.0]))
    with pytest.warns(racer.RacerWarning, match="before the first test .* larger budget"):
        result = play(Race([0, 1], budget=Budget(spend=3.0)), noisy, lambda cell: 1.0)
    assert result.best is None


@pytest.mark.parametrize(
    ("prices", "match"),
    [
        ([1.0], "has 1 numbers for 2 candidates"),
        ([1.0, -1.0], r"prices\[1\] is -1.0: give a finite number >= 0"),
        ([1.0, 1e308], r"prices\[1\] is 1e\+308: give a finite number >= 0, of at most 1e\+300"),
        ([1.0, "2"], r"prices\[1\] is '2'"),
        ("cheap", "give a number per candidate"),
        (lambda config, instance: None, r"prices\(7, 'a'\) is None"),
        (lambda config, instance: float("inf") if instance == "b" else 1.0, r"prices\(7, 'b'\)"),
    ],
)
def test_prices_that_make_no_sense_are_refused_before_anything_runs(prices, match):
    with pytest.raises(SettingError, match=match):
        Race([7, 8], ["a", "b"], budget=Budget(spend=100.0, prices=prices))


def test_money_with_run_times_is_refused():
    with pytest.raises(SettingError, match=r"Budget\(spend=.., prices=..\) with goal=Runtime"):
        Race.of([7, 8], budget=Budget(spend=100.0), runtime=racer.Runtime(1.0))


def test_values_without_a_spend_are_refused_where_it_is_needed():
    race = Race([0, 1], budget=Budget(spend=10.0))
    tell_block(race, [Outcome("ok", 1.0, spend=1.0), Outcome("ok", 2.0)])
    failures = race.result().failures
    assert list(failures["candidate"]) == [1]
    assert "returned no 'spend'" in failures["message"].iloc[0]
    known = Race([0, 1], budget=Budget(spend=10.0, prices=[0.5, 0.25]))
    tell_block(known, [1.0, 2.0])
    assert known.result().spent == 0.75


@pytest.mark.parametrize(
    ("limits", "shares"),
    [
        ({"spend": 16.0}, [0.5, 0.75, 1.0]),
        ({"spend": 16.0, "evaluations": 6}, [4 / 6, 1.0]),
        ({"seconds": 16.0}, [0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]),
        ({"evaluations": 6}, [None, None]),
    ],
)
def test_a_decider_is_told_how_much_of_the_nearest_limit_is_used(limits, shares):
    decider = Scripted()
    race = Race.of([0, 1], budget=Budget(**limits), decider=decider, first_test=2, each_test=1)
    while race.ended is None:
        tell_block(race, [Outcome("ok", 1.0, spend=2.0, seconds=1.0)] * 2)
    assert decider.shares == shares
    assert decider.setting.has_share is (shares[0] is not None)
    assert decider.setting.prices is None


def test_a_decider_is_told_the_given_prices():
    decider = Scripted()
    Race([0, 1], budget=Budget(evaluations=60, prices=[1.0, 3.0]), decider=decider)
    assert decider.setting.prices.tolist() == [1.0, 3.0]
    budget = Budget(evaluations=60, prices=lambda config, i: config * i)
    Race([2, 3], [1, 2], budget=budget, decider=decider)
    assert decider.setting.prices.tolist() == [3.0, 4.5]


def test_it_plans_with_money_as_it_does_with_as_many_evaluations_of_one_price():
    """At equal prices both are the same plan."""
    for decider in ("best-for-budget", BayesianBest(), "halving"):
        money, plain = (
            play(
                Race(range(9), decider=decider, budget=budget, seed=4),
                noisy,
                lambda cell: 0.25,
            )
            for budget in (Budget(spend=75.0), 300)
        )
        assert money.eliminations.equals(plain.eliminations)
        assert len(money.eliminations) > 3
        assert (money.evaluations, money.survivors) == (plain.evaluations, plain.survivors)


@pytest.mark.parametrize("decider", ["best-for-budget", BayesianBest(), "halving"], ids=short)
@pytest.mark.parametrize("spend", [0.0, 1e-300, 1.0])
def test_plans_bear_rejections_before_the_first_test_and_prices_of_nothing(decider, spend):
    race = Race(range(4), list("abcdefgh"), decider=decider, budget=Budget(spend=1e3), seed=1)
    tell_block(
        race, [Outcome("ok", float(c), spend=spend) for c in range(3)] + [Outcome("rejected")]
    )
    while race.ended is None and race.n_blocks < 12:
        tell_block(race, [Outcome("ok", float(c), spend=spend) for c in race.alive])
    assert race.alive == (0, 1, 2)  # next to nothing is spent
    assert (race.ended is None) is (spend > 0.0)  # what is free has no end, and stops at a test


def test_the_plan_follows_the_money_where_prices_differ():
    """Once the expensive ones have left, what is left of the money goes further."""
    prices = [1.0] * 4 + [30.0] * 4
    race = Race(range(8), decider="best-for-budget", budget=Budget(spend=1240.0), seed=1)
    result = play(
        race, lambda cell: cell.config + noisy(cell) / 9, lambda cell: prices[cell.config]
    )
    used = result.scores.groupby("block")["spend"].sum().cumsum()
    left = result.eliminations.groupby("block").size().cumsum()
    for block, gone in left.items():
        room = 8 ** ((1 - used[block] / 1240.0) ** (1 - 1.5 / 8))
        assert 8 - gone == max(2, int(np.ceil(room - 1e-9)))
    assert len(left) > 2
    assert result.spent > 1230.0
    assert result.best == 0


def test_what_was_spent_is_in_the_result_and_in_each_event():
    events = []
    race = Race.of(["a", "b"], budget=Budget(spend=16.0), callbacks=[events.append], first_test=2)
    first, second = sorted(race.ask(), key=lambda cell: cell.candidate)
    race.tell(first, Outcome("ok", 1.0, spend=0.5))
    assert race.result().spent == 0.5
    race.tell(second, Outcome("ok", 2.0, spend=1.0))
    tell_block(race, [Outcome("ok", 1.0, spend=0.5), Outcome("failed", None, spend=2.0)])
    assert [event.spent for event in events] == [1.5, 4.0]
    result = race.result()
    assert (result.spent, result.to_dict()["spent"]) == (4.0, 4.0)
    assert result.scores["spend"].tolist() == [0.5, 1.0, 0.5, 2.0]
    text = " ".join(str(result).split())
    assert "4 spent of 16 (all candidates in all of these runs: about 4)" in text


def test_without_money_nothing_speaks_of_it():
    events = []
    result = play(
        Race([0, 1], budget=60, callbacks=[events.append]), lambda cell: 1.0, lambda cell: None
    )
    assert result.spent is None is events[0].spent
    assert "spent" not in result.to_dict()
    assert "spend" not in result.scores.columns
    assert "spent" not in str(result)
