"""The order of the candidates that does not depend on how they were given."""

import numpy as np

from racer.deciders import Blocks
from racer.deciders.parts.ranking import Order, RunningRanks

COSTS = np.array([[3.0, 1, 1, 2], [1, 2, 2, 3], [2.0, 1, 1, 3]])


def order_of(costs):
    ranks = RunningRanks(costs.shape[1])
    ranks.update(Blocks(np.arange(costs.shape[1]), costs))
    return Order.sorted_from(ranks)


def test_only_copies_are_alike():
    order = order_of(COSTS)
    assert order.places.tolist() == [1, 2, 0, 3]
    assert order.alike.tolist() == [0, 0, 1, 2]


def test_equal_mean_ranks_are_told_apart_by_the_first_block():
    order = order_of(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert order.places.tolist() == [0, 1]
    assert order.alike.tolist() == [0, 1]
    assert order_of(np.array([[2.0, 1.0], [1.0, 2.0]])).places.tolist() == [1, 0]


def test_shares_are_means_over_those_alike():
    order = order_of(COSTS)
    found = order.averaged(np.array([0.5, 0.3, 0.15, 0.05]))
    np.testing.assert_allclose(found, [0.15, 0.4, 0.4, 0.05])
