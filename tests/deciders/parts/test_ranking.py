"""The order of the candidates that does not depend on how they were given."""

import numpy as np
import pytest
from scipy import stats

from racer.deciders import Blocks
from racer.deciders.parts import rank_tests, ranking
from racer.deciders.parts.ranking import RunningRanks, first_by_ranks


def first_of(costs):
    ranks = RunningRanks(costs.shape[1])
    ranks.update(Blocks(np.arange(costs.shape[1]), costs))
    return first_by_ranks(ranks)


def test_equal_mean_ranks_are_told_apart_by_the_first_block():
    assert first_of(np.array([[3.0, 1, 1, 2], [1, 2, 2, 3], [2.0, 1, 1, 3]])) == 1
    assert first_of(np.array([[1.0, 2.0], [2.0, 1.0]])) == 0
    assert first_of(np.array([[2.0, 1.0], [1.0, 2.0]])) == 1


@pytest.mark.parametrize("kept", [70, 3, 2])
def test_many_candidates_have_the_ranks_and_wins_of_few(kept, monkeypatch):
    m, rng = 80, np.random.default_rng(kept)
    costs = rng.integers(0, 40, size=(9, m)).astype(float)
    costs[rng.random(costs.shape) < 0.1] = np.inf
    stay = np.sort(rng.choice(m, kept, replace=False))
    found = []
    for few, many in ((m, m), (0, 1)):
        monkeypatch.setattr(ranking, "_FEW", few)
        monkeypatch.setattr(ranking, "_MANY", many)
        monkeypatch.setattr(ranking, "_CELLS", 7 * m)
        monkeypatch.setattr(rank_tests, "_CELLS", few * m + 300)
        ranks = RunningRanks(m)
        ranks.update(Blocks(np.arange(m), costs[:4]))
        before = ranks.wins.copy()
        ranks.update(Blocks(stay, costs[4:, stay]))
        clear = rank_tests.clear_pairs(ranks.wins, 9, "sign", 0.4)
        found.append([before, ranks.ranks, ranks.wins, *clear, ranks.means])
        wins = (costs[:, stay, None] < costs[:, None, stay]).sum(axis=0)
        assert (ranks.wins == wins).all()
    assert ranks.wins.dtype == np.int16
    for of_few, of_many in zip(*found, strict=True):
        assert np.array_equal(of_few, of_many)
    assert len(clear[0]) or kept == 2


def test_wins_grow_beyond_two_bytes(monkeypatch):
    monkeypatch.setattr(ranking, "_MANY", 1)
    ranks = RunningRanks(2)
    ranks.update(Blocks(np.arange(2), np.tile([1.0, 2.0], (40, 1))))
    assert ranks.wins.dtype == np.int16
    ranks.update(Blocks(np.arange(2), np.tile([1.0, 2.0], (40_000, 1))))
    assert ranks.wins[0, 1] == 40_040


@pytest.mark.parametrize("level", [0.05, 0.0625, 0.01])
def test_the_least_wins_are_those_whose_tail_is_below_the_level(level):
    """Also where the tail, of all wins, is the level itself."""
    for n in range(1, 40):
        won = np.arange(n + 1)
        sign = stats.binom.sf(won - 1, n, 0.5) < level
        bayesian = stats.beta.cdf(0.5, np.maximum(won, 1e-9), np.maximum(n - won, 1e-9)) < level
        for test, clear in (("sign", sign), ("bayesian-sign", bayesian & sign[-1])):
            found = [
                bool(len(rank_tests.clear_pairs(np.array([[0, w], [n - w, 0]]), n, test, level)[0]))
                for w in won[won * 2 >= n]
            ]
            assert found == clear[won * 2 >= n].tolist()
