"""The test of equal mean ranks by sign flips of whole blocks."""

import itertools

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.stats import rankdata
from sklearn.covariance import ledoit_wolf

from racer.seeding import rng_for
from racer.stats import sign_flip_test, sign_flips
from racer.stats.friedman import centred
from racer.stats.sign_flips import rotation_test, within_contrasts

TIES = np.array([[1.0, 1.0, 2.0, 3.0], [2.0, 1.0, 3.0, 3.0], [1.0, 2.0, 2.0, 4.0]])


def by_hand(ranks):
    """Return the statistic, in m - 1 directions, with the shrunk covariance of scikit-learn."""
    moment, _ = ledoit_wolf(ranks, assume_centered=True)
    total = ranks.sum(axis=0)
    return total @ np.linalg.solve(moment, total)


@pytest.mark.parametrize(("n", "m"), [(6, 4), (9, 20), (40, 7)])
def test_the_statistic_is_that_of_a_shrunk_covariance(n, m):
    costs = np.random.default_rng(n).normal(size=(n, m)) + 0.3 * np.arange(m)
    across = null_space(np.ones((1, m)))
    ranks = (rankdata(costs, axis=1) - (m + 1) / 2) @ across
    assert sign_flip_test(costs).statistic == pytest.approx(by_hand(ranks))


@pytest.mark.parametrize("n", [2, 5, 8])
def test_few_blocks_are_flipped_in_all_ways(n):
    costs = np.array([0.0, 0.4, 0.8]) + np.random.default_rng(n).normal(size=(n, 3))
    ranks = (rankdata(costs, axis=1) - 2.0) @ null_space(np.ones((1, 3)))
    inverse = np.linalg.inv(ledoit_wolf(ranks, assume_centered=True)[0] + 1e-9 * np.eye(2))
    statistics = []
    for signs in itertools.product((1.0, -1.0), repeat=n):
        total = np.array(signs) @ ranks
        statistics.append(total @ inverse @ total)
    expected = np.mean(np.array(statistics) >= statistics[0] * (1.0 - 1e-6))
    assert sign_flip_test(costs).p_value == pytest.approx(expected)


def test_one_block_says_nothing():
    assert sign_flip_test([[1.0, 2.0, 3.0]]).p_value == 1.0


def test_the_p_value_of_many_blocks_goes_on_below_one_in_so_many_flips():
    rng = np.random.default_rng(0)
    clear = rng.normal(size=(40, 5)) + np.arange(5)
    result = sign_flip_test(clear, flips=100)
    assert 0.5**39 <= result.p_value < 1e-4
    assert sign_flip_test(clear[:, ::-1], flips=100).p_value == pytest.approx(result.p_value)
    assert 0.05 < sign_flip_test(rng.normal(size=(40, 5))).p_value < 1.0


def test_nothing_but_ties_has_p_value_one():
    result = sign_flip_test(np.ones((9, 4)))
    assert (result.statistic, result.p_value) == (0.0, 1.0)


def test_blocks_that_all_rank_alike_are_as_clear_as_so_few_can_be():
    assert sign_flip_test([[1.0, 2.0, 3.0]] * 7).p_value == 0.5**6
    assert sign_flip_test([[1.0, 1.0, 3.0]] * 7).p_value == 0.5**6


def test_scores_may_be_large_where_they_are_good_and_unknown():
    costs = np.vstack([np.tile(TIES, (4, 1)), [np.nan, 1.0, 2.0, 3.0]])
    result = sign_flip_test(costs)
    assert (result.n_blocks, result.n_dropped) == (12, 1)
    other = sign_flip_test(-costs, maximize=True)
    assert (other.p_value, other.mean_ranks.tolist()) == (
        result.p_value,
        result.mean_ranks.tolist(),
    )


@pytest.mark.parametrize("flips", [100, 101])
def test_the_signs_of_a_block_are_drawn_as_ever(flips):
    drawn = 2 * rng_for(7, "flips", 3).integers(0, 2, flips) - 1
    assert sign_flips.flips_of(3, flips, 7).tolist() == [1, *drawn[1:]]


def test_flips_that_are_not_kept_are_drawn_again(monkeypatch):
    ranks = centred(rankdata(np.random.default_rng(1).normal(size=(50, 4)), axis=1))
    kept = sign_flips.signs(np.arange(50)[::-1], 200, seed=1)
    monkeypatch.setattr(sign_flips, "_CELLS", 3_000)
    drawn = sign_flips.signs(np.arange(50)[::-1], 200, seed=1)
    assert isinstance(drawn, sign_flips.Flips)
    np.testing.assert_array_equal(drawn @ ranks, kept @ ranks)
    assert sign_flips.flip_test(ranks, drawn) == sign_flips.flip_test(ranks, kept)


@pytest.mark.parametrize("seed", range(20))
def test_fewer_blocks_than_candidates_need_only_a_system_of_the_blocks(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 30)), int(rng.integers(31, 60))
    ranks = centred(rankdata(rng.normal(size=(n, m)) + rng.normal(size=m) / 9, axis=1))
    signs = np.stack([sign_flips.flips_of(block, 200, seed) for block in range(n)], axis=1)
    of_candidates = sign_flips.flip_test(ranks, signs)
    monkeypatch.setattr(sign_flips, "_MANY", 30)
    monkeypatch.setattr(sign_flips, "_shrunk", None)  # is not made
    of_blocks = sign_flips.flip_test(ranks, signs)
    assert of_blocks.statistic == pytest.approx(of_candidates.statistic, rel=1e-8)
    assert of_blocks.p_value == pytest.approx(of_candidates.p_value, rel=1e-6)
    assert of_blocks.largest == of_candidates.largest


def repeated(rng, n_instances, seeds, m, ahead=0.0):
    """Return centred ranks and instances; expected ranks are equal on average, but for the first."""
    mixed = rng.normal(size=(n_instances, m))
    mixed[n_instances // 2 :] = -mixed[: n_instances // 2]
    instances = np.tile(np.arange(n_instances), seeds)
    costs = mixed[instances] + rng.normal(size=(len(instances), m))
    costs[:, 0] -= ahead
    return rankdata(costs, axis=1) - (m + 1) / 2, instances


def test_the_mean_over_instances_and_contrasts_within_them_have_one_covariance():
    instances = np.array([3, 0, 3, 1, 0, 3, 1])
    basis = within_contrasts(np.eye(7), instances)
    assert basis.shape == (7 - 3 + 1, 7)
    assert np.allclose(basis @ basis.T, np.eye(5))
    mean = np.mean([np.eye(7)[instances == i].mean(axis=0) for i in (0, 1, 3)], axis=0)
    assert np.allclose(basis[0] / np.linalg.norm(basis[0]), mean / np.linalg.norm(mean))
    assert np.allclose(basis[1:] @ (instances[:, None] == [0, 1, 3]), 0.0)


@pytest.mark.thorough
@pytest.mark.parametrize(("n_instances", "seeds", "m"), [(4, 2, 3), (6, 4, 8)])
def test_rotations_keep_the_level_on_given_instances_and_find_a_difference(n_instances, seeds, m):
    races, rejected = 200, {0.0: 0, 1.5: 0}
    for seed, ahead in itertools.product(range(races), rejected):
        rng = np.random.default_rng(seed)
        ranks, instances = repeated(rng, n_instances, seeds, m, ahead)
        turns = rng.normal(size=(99, len(ranks) - n_instances + 1))
        rejected[ahead] += rotation_test(ranks, instances, turns).p_value <= 0.05
    assert 4 <= rejected[0.0] <= 15  # 12 were found
    assert rejected[1.5] >= 3 * rejected[0.0]


def test_rotations_of_ties_and_of_equal_seeds():
    instances, turns = np.tile(np.arange(3), 4), np.random.default_rng(0).normal(size=(99, 10))
    tied = rotation_test(np.zeros((12, 3)), instances, turns)
    assert (tied.statistic, tied.p_value) == (0.0, 1.0)
    certain = np.tile([[-1.0, 0.0, 1.0], [0.0, -1.0, 1.0], [-1.0, 0.0, 1.0]], (4, 1))
    assert rotation_test(certain, instances, turns).p_value < 0.01
