"""The signed-rank race against `racer.stats.bayesian_signed_rank_test`, pair by pair."""

import numpy as np
import pytest

from racer.deciders import Setting, SignedRankRace
from racer.deciders.parts.walsh import WalshSums
from racer.stats import bayesian_signed_rank_test

INF = np.inf


def tables(n=16, m=4):
    rng = np.random.default_rng(8)
    plain = rng.normal(size=(n, m)) + 0.3 * np.arange(m)
    failed = np.where(rng.random((n, m)) < 0.2, INF, plain)
    rounding = 0.1 * rng.integers(1, 9, size=(n, m))  # 0.3 - 0.2 and 0.2 - 0.1 tie
    return {
        "plain": plain,
        "tied": plain.round(0),
        "failed": failed,
        "rounding": rounding,
        "huge": 1e308 * np.sign(plain).cumsum(axis=1).clip(-1, 1),
    }


TABLES = tables()


@pytest.mark.parametrize("ignorance", [0.0, 0.56, 3.0])
@pytest.mark.parametrize("costs", TABLES.values(), ids=TABLES)
def test_bounds_are_those_of_the_statistics(costs, ignorance):
    m = costs.shape[1]
    found = WalshSums(m, 20_000, ignorance, 1).probabilities(1, costs)
    for other in range(m):
        if other != 1:
            expected = bayesian_signed_rank_test(
                costs[:, 1], costs[:, other], ignorance=ignorance, draws=50_000
            )
            assert found.lower[other] == pytest.approx(expected.lower, abs=0.012)
            assert found.upper[other] == pytest.approx(expected.upper, abs=0.012)


@pytest.mark.parametrize("costs", TABLES.values(), ids=TABLES)
def test_block_by_block_is_all_at_once(costs):
    """In any order of being asked, with gaps, and after others are gone."""
    at_once, steps = (WalshSums(4, 500, 0.56, 9) for _ in range(2))
    for n, place in ((3, 0), (5, 2), (11, 0), (12, 3)):
        steps.probabilities(place, costs[:n])
    kept = np.array([0, 2, 3])
    steps.keep(kept)
    for place, old in enumerate(kept.tolist()):
        found, expected = (
            steps.probabilities(place, costs[:, kept]),
            at_once.probabilities(old, costs),
        )
        np.testing.assert_array_equal(found.lower, expected.lower[kept])
        np.testing.assert_array_equal(found.upper, expected.upper[kept])


def test_an_indeterminate_pair_is_kept(table):
    """Six blocks of six are sure for the Bayesian bootstrap; a prior of weight 1 may differ."""
    costs = np.array([[1.0, 2.0]] * 6)
    sure = table.decide(SignedRankRace(ignorance=0.0, draws=20_000), costs)
    open_ = table.decide(SignedRankRace(ignorance=1.0, draws=20_000), costs)
    assert [d.candidate for d in sure.dropped] == [1]
    assert sure.evidence["indeterminate"] == 0
    assert open_.dropped == ()
    assert open_.evidence["indeterminate"] == 1


def test_at_one_weight_of_the_prior_the_end_is_known_exactly(table):
    """All of n blocks for the leader: P(w0 < 1 - sqrt(1/2)), w0 ~ Beta(s, n)."""
    for n in (10, 14):
        costs = np.array([[1.0, 2.0]] * n)
        (drop,) = table.decide(SignedRankRace(ignorance=1.0, draws=50_000), costs).dropped
        assert drop.probability == pytest.approx(1.0 - 0.5 ** (n / 2.0), abs=0.004)
        assert (drop.reason, drop.measure, drop.against) == ("inferior", "posterior", 0)


@pytest.mark.parametrize("seed", range(5))
def test_no_indeterminate_pair_is_dropped(table, seed):
    """Whoever goes, goes whatever the prior: its lower probability is above confidence."""
    rng = np.random.default_rng(seed)
    costs = rng.normal(size=(20, 8)) + 0.25 * rng.permutation(8)
    verdict = table.decide(SignedRankRace(gate=False), costs)
    leader = verdict.best
    sums = WalshSums(8, 1000, SignedRankRace().ignorance, 0)
    assert verdict.dropped
    for drop in verdict.dropped:
        assert drop.against == leader
        assert drop.probability > 0.95
        assert sums.probabilities(leader, costs).lower[drop.candidate] > 0.93


def test_doubts_of_a_look_add_up(table):
    """Ten others whose doubts are near 1 % each: not all of them can go at 95 %."""
    rng = np.random.default_rng(1)
    costs = np.column_stack([np.zeros(14), rng.normal(0.75, 1.0, size=(14, 10))])
    verdict = table.decide(SignedRankRace(gate=False, draws=5000), costs)
    doubts = np.array([1.0 - d.probability for d in verdict.dropped])
    assert len(doubts) > 1
    assert doubts.sum() < 0.05
    assert (np.diff(doubts) >= 0.0).all()
    every = WalshSums(11, 5000, SignedRankRace().ignorance, 3).probabilities(0, costs)
    assert (every.lower[1:] > 0.95).sum() > len(doubts)


def test_a_doubt_is_never_nought(table):
    """With 100 draws, forty sure statements have doubts of 1/101 each: at 95 % five... or none.

    All forty tie, so that they go together or not at all.
    """
    costs = np.column_stack([np.zeros(40), np.ones((40, 40))])
    assert table.decide(SignedRankRace(draws=100), costs).dropped == ()
    assert len(table.decide(SignedRankRace(draws=1000), costs).dropped) == 40


def test_failing_is_worse_than_any_cost(table):
    costs = np.array([[1.0, 0.0]] * 10 + [[1.0, INF]] * 4)
    assert table.decide(SignedRankRace(), costs).best == 1
    bounds = WalshSums(2, 5000, 0.0, 1).probabilities(0, costs)
    ranked = WalshSums(2, 5000, 0.0, 1).probabilities(0, np.where(np.isinf(costs), 9.0, costs))
    assert bounds.lower[1] == ranked.lower[1]


def test_rounding_does_not_break_ties(table):
    costs = np.array([[0.3, 0.2], [0.1, 0.2]] * 12)
    bounds = WalshSums(2, 2000, 0.0, 1).probabilities(0, costs)
    exact = WalshSums(2, 2000, 0.0, 1).probabilities(0, np.array([[3.0, 2.0], [1.0, 2.0]] * 12))
    assert bounds.lower[1] == exact.lower[1]
    assert SignedRankRace().start(Setting(2, np.random.default_rng(1))) is not None
    assert table.decide(SignedRankRace(), costs).best is None


def test_sizes_count(table):
    """More wins, but small ones against large losses: ranks prefer one, sizes do not."""
    costs = np.array([[0.0, 0.1]] * 24 + [[50.0, 0.0]] * 12)
    decider = SignedRankRace(gate=False, ignorance=0.0)
    verdict = table.decide(decider, costs)
    assert verdict.best == 0
    assert verdict.dropped == ()
    small = np.where(costs == 50.0, 0.1, costs)
    assert [d.candidate for d in table.decide(decider, small).dropped] == [1]
