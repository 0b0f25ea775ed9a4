"""Failures: penalties, what they say of the best, and what they count in means."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from experiments.reliability.tables import places
from racer.failures import (
    FailedCells,
    Largest,
    impute_by_block,
    impute_failed,
    impute_no_nearer,
    penalty,
)
from racer.stats import best_posterior

CELLS = st.sampled_from([0.0, 1.0, 2.0, 2.5, 9.0, 9.5, 40.0, -3.0, np.inf])


def unsolved(costs, *cells, price=1000.0):
    costs = costs.copy()
    for cell in cells:
        costs[cell] = price
    return costs


@pytest.fixture
def costs():
    return np.random.default_rng(0).uniform(1.0, 90.0, (6, 4))


@pytest.mark.parametrize("shift", [0.0, -5000.0])
@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e200])
def test_a_large_cost_that_several_candidates_share_is_a_penalty(costs, scale, shift):
    costs = scale * (unsolved(costs, (0, 1), (3, 2), (5, 2)) + shift)
    assert penalty(costs) == costs[0, 1]


def test_neither_an_outlier_nor_a_bound_nor_a_copy_is_a_penalty(costs):
    assert penalty(unsolved(costs, (0, 1))) is None
    assert penalty(unsolved(costs, (0, 1), (3, 2), price=150.0)) is None
    assert penalty(unsolved(costs, (0, 1), (0, 2))) is None  # of one block
    assert penalty(unsolved(costs, (0, 1), (2, 1))) is None  # of one candidate
    assert penalty(np.minimum(costs, 60.0)) is None


@pytest.mark.parametrize("law", ["normal", "lognormal", "standard_cauchy"])
def test_noise_has_no_penalties(law):
    rng = np.random.default_rng(1)
    assert not any(penalty(getattr(rng, law)(size=(20, 5))) for _ in range(200))


def test_right_and_wrong_are_none():
    assert penalty(np.random.default_rng(2).integers(0, 2, (20, 5)).astype(float)) is None


def test_what_failed_or_was_not_evaluated_is_left_out(costs):
    costs[4] = [np.inf, np.nan, np.inf, np.nan]
    assert penalty(costs) is None
    assert penalty(unsolved(costs, (0, 1), (3, 2))) == 1000.0
    assert penalty(np.full((3, 3), np.nan)) is None
    assert penalty(np.empty((0, 3))) is None


@settings(max_examples=100, deadline=None, derandomize=True)
@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=CELLS))
def test_block_by_block_it_is_the_same(costs):
    largest = Largest()
    for block, row in enumerate(costs):
        largest.add(np.arange(len(row)), row)
        assert largest.is_penalty == (penalty(costs[: block + 1]) is not None)


def worlds(n, shares, typical, seed=0, price=500.0):
    """Return log-normal costs (n, m), a share of each candidate's cells penalised."""
    rng = np.random.default_rng(seed)
    costs = np.exp(np.log(typical) + 0.5 * rng.normal(size=(n, len(shares))))
    return np.where(rng.random(costs.shape) < shares, price, costs)


def test_who_is_quick_and_often_penalised_is_not_the_best():
    costs = worlds(60, [0.3, 0.3, 0.0, 0.0], [0.2, 0.3, 2.0, 4.0])
    for measure in ("rank", "mean", "log"):
        found = best_posterior(costs, measure=measure).probability_best
        assert found[:2].sum() < 0.01 < 0.75 < found[2]
        scaled = best_posterior(8.0 * costs, measure=measure).probability_best
        np.testing.assert_allclose(found, scaled, atol=1e-6)
    mirrored = best_posterior(-costs, maximize=True)
    assert mirrored.best == 2


@pytest.mark.parametrize(("m", "seed"), [(3, 0), (6, 4), (12, 2)])
def test_solvers_are_compared_alike_however_a_timeout_is_written(m, seed):
    """As in ASlib: failures or ten times the limit, with or without instances that nobody solved.

    One of three fast solvers that failed on three times as many was the best by its penalties, and
    data sets that nobody had solved changed who was.
    """
    found = places(m, seed)
    assert found["place"] <= 2
    assert found["differ"] == 0.0


def test_a_penalty_that_all_get_alike_leaves_the_typical_cost_to_decide():
    costs = worlds(60, [0.05] * 3, [1.0, 3.0, 3.0], price=50.0)
    assert best_posterior(costs).probability_best[0] > 0.8


@pytest.mark.parametrize("n_failed", [1, 2])
def test_a_failure_by_chance_costs_next_to_nothing(n_failed):
    """One of twenty evaluations of the best candidate failed: it had lost half of its probability."""
    chances = []
    for seed in range(6):
        costs = np.random.default_rng(seed).normal(size=(20, 10))
        costs[:, 0] -= 2.0
        costs[np.arange(n_failed) * 7, np.arange(n_failed)] = np.inf
        chances.append(best_posterior(costs).probability_best[0])
    assert np.mean(chances) > 0.7


def test_failures_of_ones_own_decide():
    for seed in range(4):
        costs = np.random.default_rng(seed).normal(size=(20, 10))
        costs[:, 0] -= 2.0
        costs[::4, 0] = np.inf
        assert best_posterior(costs).probability_best[0] < 0.05


def test_failures_on_hard_blocks_are_those_of_the_blocks():
    """All fail on a fifth of the blocks in half of the evaluations: nobody is worse for it."""
    chances = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        costs = rng.normal(size=(30, 8))
        costs[:, 0] -= 2.0
        costs[::5][rng.random((6, 8)) < 0.5] = np.inf
        chances.append(best_posterior(costs).probability_best[0])
    assert np.mean(chances) > 0.7


def test_who_never_succeeded_is_not_the_best_where_another_has():
    costs = np.array([[np.inf, 1.0], [np.inf, np.nan]])
    assert best_posterior(costs).probability_best.tolist() == [0.0, 1.0]


# -- where costs are numbers


def test_a_failure_is_a_range_of_its_block_behind_the_worst():
    failed = FailedCells()
    assert failed.imputed(np.array([1.0, np.inf, 3.0])).tolist() == [1.0, 5.0, 3.0]
    assert failed.imputed(np.array([1.0, np.inf, 2.0])).tolist() == [1.0, 3.0, 2.0]


def test_beside_one_success_the_median_range_of_the_blocks_so_far_counts():
    failed = FailedCells()
    for high in (11.0, 12.0, 19.0):
        failed.imputed(np.array([10.0, high]))
    assert failed.imputed(np.array([np.inf, 100.0])).tolist() == [102.0, 100.0]
    assert failed.imputed(np.array([100.0, np.inf, 100.0])).tolist() == [100.0, 102.0, 100.0]


def test_costs_that_tie_but_for_rounding_have_no_range():
    failed = FailedCells()
    for block in ([10.0, 12.0], [0.1 + 0.2, 0.3], [0.1 + 0.2, 0.3]):
        failed.imputed(np.array(block))
    found = failed.imputed(np.array([0.1 + 0.2, np.inf, 0.3]))
    assert found.tolist() == [0.1 + 0.2, 0.1 + 0.2 + 2.0, 0.3]


def test_before_any_range_is_known_the_size_of_the_costs_counts():
    assert FailedCells().imputed(np.array([4.0, np.inf])).tolist() == [4.0, 8.0]


def test_a_block_without_failures_is_returned_as_it_is():
    costs = np.array([1.0, 2.0])
    assert FailedCells().imputed(costs) is costs


def test_failures_are_one_range_behind_the_worst():
    assert impute_failed(np.array([1.0, np.inf, 4.0, 2.0])).tolist() == [1, 7, 4, 2]
    table = np.array([[1.0, np.inf], [4.0, 2.0]])
    assert impute_failed(table).tolist() == [[1, 7], [4, 2]]
    assert impute_failed(table, ranges=4.0).tolist() == [[1, 16], [4, 2]]


@pytest.mark.parametrize(("value", "behind"), [(3.0, 6.0), (-3.0, 0.0), (0.1, 0.2), (0.0, 1.0)])
def test_failures_are_behind_where_all_costs_are_equal(value, behind):
    assert impute_failed(np.array([value, np.inf, value])).tolist() == [value, behind, value]
    assert impute_failed(np.array([[np.inf], [value]])).tolist() == [[behind], [value]]


def test_beside_failures_something_must_be_known():
    with pytest.raises(ValueError, match="zero-size"):
        impute_failed(np.array([np.inf]))
    assert impute_failed(np.empty((0, 3))).shape == (0, 3)


def test_without_a_range_in_a_block_the_usual_one_of_the_others_counts():
    nan, inf = np.nan, np.inf
    costs = np.array([[2.0, inf, nan], [1.0, 3.0, inf], [5.0, 5.0, inf], [inf, inf, nan]])
    expected = [[2.0, 4.0, nan], [1.0, 3.0, 5.0], [5.0, 5.0, 7.0], [nan, nan, nan]]
    np.testing.assert_array_equal(impute_by_block(costs), expected)
    np.testing.assert_array_equal(impute_by_block(costs[[0]]), [[2.0, 4.0, nan]])  # its size


def test_who_is_far_behind_does_not_come_nearer_by_failing():
    nan, inf = np.nan, np.inf
    costs = np.array([[1.0, 2.0, 9.0], [11.0, 12.0, 15.0], [1.0, 2.0, inf], [nan, nan, 50.0]])
    assert impute_by_block(costs)[2].tolist() == [1.0, 2.0, 3.0]
    assert impute_no_nearer(costs)[2].tolist() == [1.0, 2.0, 9.0]
    before = [[2.0, 1.0], [1.0, inf], [inf, inf], [inf, 3.0]]  # a range behind is worse
    assert impute_no_nearer(np.array(before))[1].tolist() == [1.0, 2.0]
    assert impute_no_nearer(np.array(before))[3].tolist() == [4.0, 3.0]


def test_a_failure_among_near_ties_costs_the_usual_range():
    costs = np.array([[1.0, 3.0, 2.0], [5.0, 5.0 + 1e-6, np.inf], [1.0, 3.0, 1.0]])
    assert impute_by_block(costs)[1, 2] == pytest.approx(5.0, abs=1e-5)
    assert impute_no_nearer(costs)[1, 2] == pytest.approx(7.0, abs=1e-5)


def test_a_column_alone_on_its_blocks_is_imputed_by_block():
    costs = np.array([[np.inf, 3.0], [5.0, np.nan], [np.nan, 4.0]])
    np.testing.assert_array_equal(impute_no_nearer(costs), impute_by_block(costs))


def test_without_failures_the_very_same_array_comes_back():
    costs = np.array([1.0, 2.0])
    assert impute_failed(costs) is costs


def test_no_sum_overflows_aloud():
    assert impute_failed(np.array([-1e308, 1e308, np.inf])).tolist()[2] == np.inf


def test_a_failure_beside_costs_that_tie_but_for_rounding_costs_the_usual_range():
    noisy, plain = 0.1 + 0.2, 0.3
    costs = np.array([[1.0, 3.0, 2.0], [noisy, plain, np.inf], [noisy, plain, plain]])
    assert impute_by_block(costs)[1].tolist() == [noisy, plain, noisy + 2.0]
