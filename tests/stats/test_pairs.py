"""Many pairs at once: the same numbers as of each pair by itself."""

import numpy as np
import pytest
from scipy.stats import studentized_range

from racer.stats import pairs, rank_biserial, signed_rank_test
from racer.stats.pairs import pair_ranks
from racer.stats.posthoc import range_tail


def tables():
    rng = np.random.default_rng(4)
    for kind in range(40):
        n = int(rng.integers(1, 30))
        costs = rng.normal(size=(n, 5)) if kind % 2 else rng.integers(0, 6, size=(n, 5)) * 0.1
        if kind % 4 == 1:
            costs[rng.random(costs.shape) < 0.2] = np.nan
        if kind % 5 == 2:
            costs[rng.random(costs.shape) < 0.2] = np.inf
        if kind % 7 == 3:
            costs = costs * 1e307
        yield costs + (1e-12 * rng.random(costs.shape) if kind % 3 == 1 else 0.0)


def test_sums_effects_and_p_values_are_those_of_each_pair(monkeypatch):
    monkeypatch.setattr(pairs, "_CELLS", 70)  # some pairs at a time
    apart = 0
    for costs in tables():
        i, j = np.triu_indices(5, 1)
        found = pair_ranks(costs, i, j, test=True)
        effects = found.effect_sizes()
        for k, (one, other) in enumerate(zip(i, j, strict=True)):
            x, y = costs[:, one], costs[:, other]
            if np.isnan(x + y).all() and not np.isinf(x).any() and not np.isinf(y).any():
                assert np.isnan([effects[k], found.better[k], found.p_values[k]]).all()
                apart += 1
                continue
            test = signed_rank_test(x, y)
            assert found.better[k] == test.rank_sum_better
            assert found.worse[k] == test.rank_sum_worse
            assert found.p_values[k] == test.p_value
            assert effects[k] == rank_biserial(x, y)
    assert apart


def test_more_than_200_differences_are_approximated_alike():
    costs = np.random.default_rng(5).normal(size=(230, 3)) + np.array([0.0, 0.0, 0.3])
    found = pair_ranks(costs, np.array([0, 0]), np.array([1, 2]), test=True)
    tests = [signed_rank_test(costs[:, 0], costs[:, k]) for k in (1, 2)]
    assert found.p_values.tolist() == [test.p_value for test in tests]
    assert {test.method for test in tests} == {"normal"}


def test_turned_pairs_have_their_sums_exchanged():
    costs = np.random.default_rng(6).normal(size=(9, 3))
    there = pair_ranks(costs, np.array([0, 1]), np.array([1, 2]))
    back = pair_ranks(costs, np.array([1, 1]), np.array([0, 2]))
    turned = there.turned(np.array([True, False]))
    assert turned.better.tolist() == back.better.tolist()
    assert turned.effect_sizes().tolist() == back.effect_sizes().tolist()


@pytest.mark.parametrize("m", [2, 10, 400])
def test_the_range_of_normals_is_that_of_scipy(m):
    q = np.array([[0.0, 0.7, 2.0], [3.3, 4.5, 7.0]])
    expected = studentized_range.sf(q, m, np.inf)
    np.testing.assert_allclose(range_tail(q, m), expected, rtol=0, atol=1e-11)
    assert range_tail(np.array([12.0]), 2)[0] == pytest.approx(2.15e-17, rel=0.01)
