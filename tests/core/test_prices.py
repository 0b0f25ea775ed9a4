"""Prices of evaluations: as given, and as learned from what evaluations have cost."""

import pytest

from racer.core.prices import Prices
from racer.evaluate.outcome import Outcome


def told(*spends):
    return [Outcome("ok", 1.0, spend=spend) for spend in spends]


def test_learned_prices_are_the_most_that_was_seen_of_the_candidate_else_of_any():
    prices = Prices(None, ["a", "b", "c"], None)
    assert prices.total([0, 1, 2], None) == 0.0
    assert prices.settled([0, 1], None, told(2.0, 5.0)) == told(2.0, 5.0)
    prices.settled([0], None, told(1.0))
    assert [prices.of(c, None) for c in range(3)] == [2.0, 5.0, 5.0]
    assert prices.total([0, 2], None) == 7.0
    assert prices.given() is None is prices.n_given


def test_an_outcome_that_does_not_say_what_it_cost_counts_at_its_price():
    given = Prices([1.0, 4.0], ["a", "b"], None)
    assert given.settled([0, 1], None, told(None, None)) == told(1.0, 4.0)
    learned = Prices(None, ["a", "b"], None)
    assert learned.settled([0, 1], None, told(None, 3.0)) == told(3.0, 3.0)


def test_every_attempt_of_a_given_price_is_paid_for():
    prices = Prices((2.0, 3.0), ["a", "b"], None)
    flaky = [Outcome("ok", 1.0, attempts=4), Outcome("failed", None, attempts=2)]
    assert [o.spend for o in prices.settled([0, 1], None, flaky)] == [8.0, 6.0]
    assert [prices.of(0, None), prices.of(1, None)] == [8.0, 6.0]  # it may happen again
    assert [o.spend for o in prices.settled([0], None, told(None))] == [2.0]


def test_given_prices_depend_on_configuration_and_instance():
    prices = Prices(lambda config, instance: config * instance, [1.0, 2.0], [10.0, 30.0])
    assert prices.of(1, 1) == 60.0
    assert prices.given().tolist() == [20.0, 40.0]
    prices.settled([1], 0, told(25.0))  # 5 more than is given
    assert [prices.of(1, 0), prices.of(1, 1), prices.of(0, 1)] == [25.0, 65.0, 30.0]
    assert Prices(lambda config, instance: 1.0 if instance is None else 0.0, [1], None).of(0, None)


def test_given_prices_are_no_less_where_less_was_spent():
    prices = Prices((2.0, 3.0), ["a", "b"], None)
    prices.settled([0, 1], None, told(1.0, 0.0))
    assert [prices.of(0, None), prices.of(1, None)] == [2.0, 3.0]
    assert prices.n_given == 2


@pytest.mark.parametrize("of", [0, 1])
def test_what_was_learned_first_counts_for_all_of_the_block(of):
    """The order of the candidates of a block says nothing."""
    prices = Prices(None, ["a", "b"], None)
    spends = [None, None]
    spends[of] = 4.0
    assert [o.spend for o in prices.settled([0, 1], None, told(*spends))] == [4.0, 4.0]
