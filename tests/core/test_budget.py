"""What a race may spend, and that it never spends more."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer import Budget, BudgetError, Ended, Outcome, Race, RacerWarning

LAWS = settings(max_examples=30, deadline=None, derandomize=True)


@LAWS
@given(st.data())
def test_a_budget_of_evaluations_is_never_exceeded_and_no_block_is_left_half_done(racing, data):
    m = data.draw(st.integers(2, 6), label="candidates")
    first_test = data.draw(st.integers(1, 4), label="first_test")
    budget = data.draw(st.integers(m * first_test, m * first_test + 40), label="budget")
    looks = st.integers(first_test, first_test + 6)
    dropped = data.draw(st.dictionaries(st.integers(1, m - 1), looks, max_size=m - 2))
    script = {}
    for candidate, look in dropped.items():
        script.setdefault(look, []).append(candidate)
    race = Race.of(range(m), decider=racing.Scripted(script), budget=budget, first_test=first_test)
    result = racing.play(race, lambda cell: cell.config)
    assert result.ended == Ended.BUDGET
    assert result.evaluations <= budget < result.evaluations + len(result.survivors)
    assert result.evaluations == int(result.blocks["evaluated"].sum())
    assert result.evaluations == int(result.table.notna().to_numpy().sum())


def test_failed_cells_are_paid_for(racing):
    result = racing.play(
        Race.of([1, 2], budget=11, first_test=2, decider=racing.Scripted()),
        lambda cell: None if cell.candidate and cell.block else 1.0,
    )
    assert result.evaluations == 10
    assert result.failures.shape[0] == 4


@pytest.mark.parametrize(
    ("m", "first_test", "needed"), [(2, 5, 10), (3, 5, 15), (100, 1, 100), (4, 7, 28)]
)
def test_a_budget_that_does_not_reach_the_first_test_is_refused(m, first_test, needed):
    with pytest.raises(BudgetError, match=rf"{m} candidates x {first_test} blocks .* are {needed}"):
        Race.of(range(m), budget=needed - 1, first_test=first_test)
    Race.of(range(m), budget=needed, first_test=first_test)


def test_fewer_deterministic_instances_need_a_smaller_budget():
    with pytest.raises(BudgetError, match=r"4 candidates x 2 blocks .* are 8"):
        Race.of(range(4), ["a", "b"], deterministic=True, budget=7)
    Race.of(range(4), ["a", "b"], deterministic=True, budget=8)
    with pytest.raises(BudgetError, match="are 20"):
        Race(range(4), ["a", "b"], budget=8)


@pytest.mark.parametrize(("seconds", "blocks"), [(30.0, 10), (29.9, 9), (2.0, 1), (0.001, 1)])
def test_seconds_are_counted_as_recorded(racing, seconds, blocks):
    race = Race.of(
        [1, 2, 3], budget=Budget(seconds=seconds), decider=racing.Scripted(), first_test=1
    )
    result = racing.play(race, lambda cell: Outcome("ok", cell.config, seconds=1.0))
    assert len(result.blocks) == blocks
    assert result.seconds == 3.0 * blocks
    assert result.ended == Ended.BUDGET


def test_a_block_is_begun_if_it_fits_at_the_mean_time_so_far(racing):
    def evaluate(cell):
        return Outcome("ok", cell.config, seconds=3.0 if cell.block == 0 else 1.0)

    # used so far and expected by then: 6 -> 12 s, 8 -> 12 s, 10 -> 13.3 s, 12 -> 15 s
    for seconds, blocks in ((11.9, 1), (12.0, 3), (13.3, 3), (13.4, 4)):
        race = Race.of(
            [1, 2], budget=Budget(seconds=seconds), decider=racing.Scripted(), first_test=1
        )
        assert len(racing.play(race, evaluate).blocks) == blocks


@pytest.mark.parametrize(
    ("budget", "ended", "warns"),
    [
        (Budget(seconds=4.0), Ended.BUDGET, True),  # too early to say that all are equal
        (Budget(evaluations=100, seconds=4.0), Ended.BUDGET, True),
        (Budget(seconds=40.0), Ended.ALL_EQUAL, False),
        (Budget(evaluations=10, seconds=100.0), Ended.ALL_EQUAL, False),
    ],
)
def test_seconds_that_do_not_reach_the_first_test_are_told(racing, budget, ended, warns):
    race = Race([1, 2], budget=budget, decider="f-race")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = racing.play(race, lambda cell: Outcome("ok", 1.0, seconds=1.0))
    assert (result.ended, result.best) == (ended, None)
    what, more = "the budget", "a larger budget"
    if budget.evaluations is None:
        what, more = "the time for evaluations (4 s)", "more time"
    text = (
        f"{what} ended after 2 usable blocks, before the first test (5): no candidate can be called "
        f"the best, and result.guess is the one to take nevertheless; give {more}, or fewer "
        "candidates"
    )
    assert [str(w.message) for w in caught] == warns * [text]
    assert (result.guess is None) == (ended is Ended.ALL_EQUAL)


def test_evaluations_that_failing_blocks_have_used_up_are_not_blamed_on_the_seconds(racing):
    race = Race([1, 2], budget=Budget(evaluations=10, seconds=1e6), decider="f-race")
    with pytest.warns(RacerWarning) as caught:
        racing.play(race, lambda cell: None if cell.block == 0 else cell.config)
    assert [("set aside" in str(w.message)) for w in caught] == [True]


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (100.5, r"give a whole number of evaluations, or racer.Budget"),
        ((10, 20), "a race has one budget"),
        (0, "budget of 0 evaluations"),
        (-5, "budget of -5 evaluations"),
    ],
)
def test_a_budget_that_is_none_is_refused(budget, message):
    with pytest.raises(BudgetError, match=message):
        Race([1, 2], budget=budget)


def test_an_empty_budget_is_refused():
    with pytest.raises(BudgetError, match="give evaluations=, seconds=, wall=, spend="):
        Budget()


def test_whole_numbers_of_any_kind_mean_evaluations():
    assert Budget.of(7) == Budget(evaluations=7)
    assert Budget.of(np.int64(7)) == Budget(evaluations=7)
    assert type(Budget.of(np.int64(7)).evaluations) is int
    both = Budget(evaluations=3, seconds=Fraction(1, 2))
    assert Budget.of(both) is both


@pytest.mark.parametrize("spend", [0.0, -1.0, float("nan"), float("inf"), "5", True])
def test_a_budget_of_money_is_a_finite_number_above_0(spend):
    with pytest.raises(BudgetError, match="money: give a finite number > 0"):
        Budget(spend=spend)
    assert Budget(spend=Fraction(1, 2)).spend == 0.5
    assert str(Budget(evaluations=7, spend=2.5)) == "7 evaluations and 2.5 in money"


def test_more_money_is_a_larger_budget_and_another_limit_is_none():
    assert Budget(spend=3.0).is_larger(Budget(spend=2.0))
    assert Budget(evaluations=9, spend=2.0).is_larger(Budget(evaluations=8, spend=2.0))
    assert Budget(evaluations=9).is_larger(Budget(evaluations=9, spend=2.0))
    assert not Budget(evaluations=9, spend=2.0).is_larger(Budget(evaluations=8))
    assert not Budget(spend=1.0).is_larger(Budget(spend=2.0))


def test_what_is_left_is_that_of_the_nearest_limit_at_the_price_so_far():
    budget = Budget(evaluations=100, seconds=50.0, spend=8.0)
    assert budget.left(evaluations=10, seconds=1.0, spent=2.0) == 30
    assert budget.left(evaluations=10, seconds=25.0, spent=2.0) == 10
    assert budget.left(evaluations=95, seconds=1.0, spent=0.0) == 5
    assert Budget(spend=8.0).left(evaluations=0, seconds=0.0, spent=0.0) is None
    assert Budget(spend=8.0).left(evaluations=5, seconds=0.0, spent=0.0) is None
    assert budget.share(evaluations=10, seconds=5.0, spent=2.0) == 0.25
    assert budget.share(evaluations=10, seconds=5.0, spent=9.0) == 1.0
