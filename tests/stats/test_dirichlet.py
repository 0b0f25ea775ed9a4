"""Sums over blocks: the truth values that they have in double precision."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from racer.stats import joint_comparisons
from racer.stats.dirichlet import PairSums, gamma_weights
from racer.stats.joint import running_joint

DRAWS = 150


def positions(pairs):
    better, worse = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return better, worse


def check(sums, costs, pairs, *, seed, draws=DRAWS):
    """Compare with sums from scratch in double precision, but for those that float32 rounds."""
    better, worse = positions(pairs)
    held = list(sums.hold(costs, better, worse))
    assert len(held) == len(pairs)
    gammas = np.stack([gamma_weights(seed, b, draws) for b in range(len(costs))]).astype(float)
    for (i, j), holds in zip(pairs, held, strict=True):
        sign = np.sign(costs[:, j] - costs[:, i])
        total = sign @ gammas
        assert holds.shape == (draws,)
        assert holds.dtype == bool
        clear = np.abs(total) > 1e-5 * (np.abs(sign) @ gammas)
        np.testing.assert_array_equal(holds[clear], total[clear] > 0)
        if not sign.any():
            assert not holds.any()


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_sums_do_not_depend_on_what_was_asked_before(strength):
    costs = np.random.default_rng(1).integers(0, 4, size=(70, 5)).astype(float)
    pairs = positions(list(permutations(range(5), 2)))
    sums = PairSums(DRAWS, seed=1)
    for n in (1, 20, 33):
        check(sums, costs[:n, 1:], [(0, 2), (3, 1)], seed=1)  # without one who has left since
    anew = PairSums(DRAWS, seed=1).hold(costs, *pairs, strength)
    for holds, same in zip(sums.hold(costs, *pairs, strength), anew, strict=True):
        np.testing.assert_array_equal(holds, same)


def test_a_consumer_that_stops_early_spoils_nothing():
    """With 13 candidates there are 78 pairs, more than are summed at a time."""
    costs = np.random.default_rng(4).random((40, 13))
    pairs = list(combinations(range(13), 2))
    sums = PairSums(DRAWS, seed=4)
    for n in (3, 10, 20):
        for _, _holds in zip(range(n), sums.hold(costs[:n], *positions(pairs)), strict=False):
            pass
    check(sums, costs, pairs, seed=4)


def test_weights_that_are_not_kept_are_drawn_again():
    """276 pairs are more than are summed at a time, and 400 rows more than are drawn."""
    costs = np.random.default_rng(3).random((400, 24))
    check(PairSums(DRAWS, seed=3, kept=50), costs, list(combinations(range(24), 2)), seed=3)


def test_ties_hold_in_neither_direction():
    sums = PairSums(DRAWS, seed=6)
    for n in (1, 2, 30):
        forth, back = sums.hold(np.ones((n, 2)), *positions([(0, 1), (1, 0)]))
        assert not forth.any()
        assert not back.any()


@pytest.mark.parametrize("looks", [[30], [1, 2, 30], list(range(1, 31))])
def test_a_race_gives_what_the_table_gives(looks):
    """The same seed: the draws of a block do not depend on when it came."""
    costs = np.random.default_rng(8).normal(size=(30, 4)) + 0.4 * np.arange(4)
    whole = joint_comparisons(costs, draws=DRAWS, seed=8)
    pairs = [(s.better, s.worse) for s in whole.statements]
    sums = PairSums(DRAWS, seed=8)
    for n in looks:
        joint = running_joint(sums.hold(costs[:n], *positions(pairs)), DRAWS)
    capped = [min(s.probability, p) for s, p in zip(whole.statements, joint, strict=True)]
    assert capped == [s.joint for s in whole.statements]


class TestGammaWeights:
    def test_a_function_of_seed_and_block(self):
        first = gamma_weights(1, 5, 1000)
        np.testing.assert_array_equal(first, gamma_weights(1, 5, 1000))
        for other in (gamma_weights(1, 6, 1000), gamma_weights(2, 5, 1000)):
            assert (first != other).any()
            assert abs(np.corrcoef(first, other)[0, 1]) < 4 / np.sqrt(1000)

    def test_are_exponential(self):
        weights = gamma_weights(3, 0, 100_000)
        assert weights.dtype == np.float32
        assert stats.kstest(weights.astype(float), "expon").pvalue > 1e-4
