"""The best choice for a budget: who leaves when, and by which standing."""

import numpy as np
import pytest
from playing import play_table, rising

from racer.deciders import BestForBudget, SequentialHalving
from racer.deciders.best_for_budget import _median
from racer.simulate import HeavyTailedWorld, NormalWorld, UnequalInstancesWorld, play


def test_what_is_dropped_says_how_often_the_leader_won():
    costs = rising()
    gone = play_table(costs, BestForBudget(), budget=600).eliminations
    assert set(gone["reason"]) == {"outranked"}
    assert set(gone["measure"]) == {"win-share"}
    drop = gone.iloc[0]
    shown = costs[: drop["block"] + 1]
    won = (shown[:, drop["against"]] < shown[:, drop["candidate"]]).mean()
    assert drop["probability"] == pytest.approx(won)


def test_the_residuals_say_whether_the_mean_is_trusted(table):
    rng = np.random.default_rng(4)
    decider = BestForBudget()
    normal = rng.normal(size=(30, 8)) + 9.0 * rng.normal(size=(30, 1)) + 3.0 * np.arange(8)
    assert table.decide(decider, normal, budget=10_000).evidence["standing"] == "mean"
    assert np.allclose(
        np.diff(table.decide(decider, normal, budget=10_000).standing), np.diff(normal.mean(axis=0))
    )
    for tails in (rng.standard_t(2, (30, 8)), np.exp(2 * rng.normal(size=(30, 1))) * normal):
        assert table.decide(decider, tails, budget=10_000).evidence["standing"] == "robust"


def test_a_robust_standing_ignores_what_blocks_are_worth_and_outliers(table):
    costs = rising()[:40]
    decider = BestForBudget(by="robust")
    plain = table.decide(decider, costs, budget=10_000).standing
    assert np.allclose(table.decide(decider, 1e6 * costs - 3.0, budget=10_000).standing, plain)
    wild = costs * np.exp(3 * np.random.default_rng(5).normal(size=(40, 1))) + 7.0
    assert np.corrcoef(table.decide(decider, wild, budget=10_000).standing, plain)[0, 1] > 0.98
    hit = costs.copy()
    hit[3, 0] = 1e9
    assert table.decide(decider, hit, budget=10_000).best == 0
    assert table.decide(BestForBudget(by="mean"), hit, budget=10_000).best != 0


def test_a_robust_standing_counts_what_happens_in_fewer_than_half_of_the_blocks(table):
    """Where most costs are at the median their spread is 0: the mean deviation takes its place."""
    costs = np.tile([0.0, 0.0, 0.0, -1.0, 1.0], (20, 1))
    costs[::4, 1], costs[::4, 2] = 0.5, 1.5
    verdict = table.decide(BestForBudget(by="robust"), costs, budget=10_000)
    assert verdict.standing.argsort(kind="stable").tolist() == [3, 0, 1, 2, 4]
    assert np.diff(np.sort(verdict.standing)).min() > 0.0


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("world", "share"),
    [
        (NormalWorld(10, 1.0), 1.15),
        (HeavyTailedWorld(10, 1.0), 0.75),
        (UnequalInstancesWorld(10, 1.0), 0.75),
    ],
)
def test_its_regret_beside_that_of_halving(world, share):
    ours, halving = (
        play(decider, world, repetitions=12, blocks=300, budget=300, seed=3)
        for decider in ("best-for-budget", SequentialHalving())
    )
    assert ours.summary["regret"] < share * halving.summary["regret"]


@pytest.mark.parametrize("shape", [(4, 3), (5, 3), (1, 1), (3, 2000)], ids=str)
def test_medians_are_those_of_numpy(shape):
    """Of more values than are sorted, too, and of columns with NaN."""
    values = np.random.default_rng(1).normal(size=shape)
    np.testing.assert_array_equal(_median(values), np.median(values, axis=0))
    values[-1, 0] = np.nan
    np.testing.assert_array_equal(_median(values), np.median(values, axis=0))
