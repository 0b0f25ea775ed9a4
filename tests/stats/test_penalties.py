"""Penalties: the same large cost for each run that did not do its job."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from racer.stats import best_posterior
from racer.stats.penalties import Largest, penalty

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


@settings(max_examples=300, deadline=None, derandomize=True)
@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=CELLS))
def test_block_by_block_it_is_the_same(costs):
    largest = Largest()
    for block, row in enumerate(costs):
        largest.add(np.arange(len(row)), row)
        assert largest.is_penalty == (penalty(costs[: block + 1]) is not None)


# -- P(best) with a penalty


def worlds(n, shares, typical, seed=0, price=500.0):
    """Return log-normal costs (n, m), a share of each candidate's cells penalised."""
    rng = np.random.default_rng(seed)
    costs = np.exp(np.log(typical) + 0.5 * rng.normal(size=(n, len(shares))))
    return np.where(rng.random(costs.shape) < shares, price, costs)


def test_who_is_quick_and_often_penalised_is_not_the_best():
    costs = worlds(40, [0.15, 0.15, 0.0, 0.0], [0.2, 0.3, 2.0, 4.0])
    assert best_posterior(costs).probability_best[:2].sum() > 0.9  # outliers are pulled in
    found = best_posterior(costs, penalty=500.0).probability_best
    assert found[2] > 0.8
    mirrored = best_posterior(-costs, penalty=-500.0, maximize=True).probability_best
    np.testing.assert_array_equal(found, mirrored)
    scaled = best_posterior(8.0 * costs, penalty=4000.0).probability_best
    np.testing.assert_array_equal(found, scaled)


def test_a_penalty_that_all_get_alike_leaves_the_typical_cost_to_decide():
    costs = worlds(60, [0.05] * 3, [1.0, 3.0, 3.0], price=50.0)
    assert best_posterior(costs, penalty=50.0).probability_best[0] > 0.9


def test_a_block_that_is_too_hard_for_all_says_nothing():
    costs = worlds(20, [0.1, 0.0, 0.0], [1.0, 1.1, 2.0])
    found = best_posterior(costs, penalty=500.0).probability_best
    hard = np.vstack([costs, np.full((5, 3), 500.0)])
    np.testing.assert_allclose(
        best_posterior(hard, penalty=500.0).probability_best, found, atol=1e-12
    )
    hard[-1, 1:] = np.nan  # but that of a candidate's own does
    assert best_posterior(hard, penalty=500.0).probability_best[0] < found[0]


def test_what_is_known_completely_is_known():
    costs = worlds(30, [0.03, 0.07, 0.1, 0.03], [1.0, 1.1, 1.2, 1.3], seed=3)
    best = costs.mean(axis=0).argmin()
    found = best_posterior(costs, penalty=500.0, n_blocks=30)
    assert found.probability_best[best] == 1.0


def test_a_penalty_is_a_number(costs):
    for wrong in (np.nan, np.inf, "ten"):
        with pytest.raises(ValueError, match="penalty="):
            best_posterior(costs, penalty=wrong)
    with pytest.raises(ValueError, match="ratios"):
        best_posterior(costs, penalty=100.0, ratios=True)


# -- failures of alike candidates


def failing(*shares, n=20, seed=0):
    costs = np.random.default_rng(seed).normal(size=(n, len(shares)))
    for candidate, share in enumerate(shares):
        costs[: round(share * n), candidate] = np.inf
    return costs


def test_a_lucky_one_among_those_that_fail_is_not_the_best():
    costs = failing(0.1, 0.2, 0.0, 0.1, 0.15, 0.0, 0.0, 0.0)
    costs[:, 2] -= 2.0  # never failed, the least cost, and alike to those that fail
    alike = np.kron(np.eye(2), np.ones((4, 4)))[None]
    own = best_posterior(costs).probability_best
    found = best_posterior(costs, covariances=alike).probability_best
    assert own[2] > 0.5 > 0.2 > found[2]


def test_who_fails_alone_among_alike_ones_is_worse():
    costs = failing(0.5, 0.0, 0.0, 0.0)
    costs[:, 0] -= 1.0
    assert best_posterior(costs, covariances=np.ones((1, 4, 4))).probability_best[0] < 0.01


def test_kernels_of_nothing_are_none():
    costs = failing(0.2, 0.0, 0.1)
    with np.errstate(all="raise"):
        found = best_posterior(costs, covariances=np.zeros((1, 3, 3)))
    assert found.probability_best.sum() == pytest.approx(1.0)
