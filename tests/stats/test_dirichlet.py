"""Running sums over blocks: the same truth values as from scratch, however they came about."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from racer.stats import dirichlet, joint_comparisons
from racer.stats.dirichlet import PairSums, better_minus_worse, gamma_weights
from racer.stats.joint import running_joint

LAW = settings(max_examples=80, deadline=None, derandomize=True)
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


@st.composite
def histories(draw):
    """Costs of 4 to 6 candidates, and what a race asks: blocks added, who is left, which pairs."""
    m = draw(st.integers(4, 6))
    looks, left, n = [], list(range(m)), 0
    for _ in range(draw(st.integers(2, 9))):
        n += draw(st.integers(0, 25)) if n else draw(st.integers(1, 25))
        if len(left) > 2 and draw(st.booleans()):
            gone = draw(st.sampled_from(left))
            left = [c for c in left if c != gone]
        duels = list(permutations(range(len(left)), 2))
        asked = draw(st.lists(st.sampled_from(duels), max_size=6, unique_by=frozenset))
        looks.append((n, list(left), asked))
    return m, draw(st.integers(0, 10**6)), looks


@LAW
@given(histories())
def test_any_history_gives_the_sums_from_scratch(history):
    m, seed, looks = history
    costs = np.random.default_rng(seed).integers(0, 4, size=(250, m)).astype(float)
    sums, left = PairSums(m, DRAWS, seed), list(range(m))
    for n, now, asked in looks:
        if now != left:
            sums.keep(np.array([left.index(c) for c in now], dtype=np.intp))
            left = now
        check(sums, costs[:n, left], asked, seed=seed)


def test_pairs_not_asked_for_are_forgotten_and_found_again():
    costs = np.random.default_rng(1).random((70, 4))
    everyone, one = list(combinations(range(4), 2)), [(2, 1)]
    sums = PairSums(4, DRAWS, seed=1)
    check(sums, costs[:5], everyone, seed=1)
    assert len(sums._sums) == 6
    for n in range(6, 50):
        check(sums, costs[:n], one, seed=1)
    assert len(sums._sums) == 1
    check(sums, costs[:50], everyone, seed=1)
    check(sums, costs[:70], everyone, seed=1)
    assert len(sums._sums) == 6


def test_forgetting_everything():
    costs = np.random.default_rng(2).random((90, 3))
    sums = PairSums(3, DRAWS, seed=2)
    check(sums, costs[:2], [(0, 1), (1, 2)], seed=2)
    for n in (30, 40, 80):
        check(sums, costs[:n], [], seed=2)
    assert len(sums._sums) == 0
    check(sums, costs, [(1, 0), (2, 0)], seed=2)


def test_a_consumer_that_stops_early_spoils_nothing():
    """With 13 candidates there are 78 pairs, more than are summed at a time."""
    costs = np.random.default_rng(4).random((40, 13))
    pairs = list(combinations(range(13), 2))
    sums = PairSums(13, DRAWS, seed=4)
    for n in (3, 10, 20):
        for _, _holds in zip(range(n), sums.hold(costs[:n], *positions(pairs)), strict=False):
            pass
    check(sums, costs, pairs, seed=4)


def test_both_directions_of_a_pair():
    costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    sums = PairSums(3, DRAWS, seed=5)
    forth, back = sums.hold(costs, *positions([(0, 1), (1, 0)]))
    assert (forth != back).all()


def test_ties_hold_in_neither_direction():
    sums = PairSums(2, DRAWS, seed=6)
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
    sums = PairSums(4, DRAWS, seed=8)
    for n in looks:
        joint = running_joint(sums.hold(costs[:n], *positions(pairs)), DRAWS)
    assert joint == [s.joint for s in whole.statements]


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

    def test_divided_by_their_sum_are_dirichlet(self):
        """The first of n weights is Beta(1, n - 1)."""
        gammas = np.stack([gamma_weights(4, block, 50_000) for block in range(6)]).astype(float)
        share = gammas[0] / gammas.sum(axis=0)
        assert stats.kstest(share, stats.beta(1, 5).cdf).pvalue > 1e-4


def test_better_minus_worse():
    costs = np.array([[1.0, 2.0, 2.0], [np.inf, np.inf, 0.0]])
    signs = better_minus_worse(costs, *positions([(0, 1), (1, 0), (1, 2)]))
    assert signs.tolist() == [[1.0, -1.0, 0.0], [0.0, 0.0, -1.0]]


def test_pairs_beyond_those_held_have_the_same_sums(monkeypatch):
    costs = np.random.default_rng(9).integers(0, 4, size=(30, 20)).astype(float)
    better, worse = np.array(list(permutations(range(20), 2))).T
    held = list(PairSums(20, DRAWS, seed=9)._leads(costs, better, worse))
    monkeypatch.setattr(dirichlet, "_HELD", 150)
    sums = PairSums(20, DRAWS, seed=9)
    anew = list(sums._leads(costs, better, worse))
    assert 0 < len(sums._sums) <= 150
    for some, same in zip(held, anew, strict=True):
        np.testing.assert_allclose(some, same, rtol=1e-4, atol=1e-3)
