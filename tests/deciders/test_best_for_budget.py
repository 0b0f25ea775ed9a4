"""The best choice for a budget: who leaves when, and by which standing."""

import math

import numpy as np
import pytest
from playing import eliminated

import racer
from racer import SettingError
from racer.deciders import BestForBudget, SequentialHalving, Setting
from racer.deciders.best_for_budget import _median
from racer.simulate import HeavyTailedWorld, NormalWorld, UnequalInstancesWorld, play

EVALUATIONS = 600
BY = ("residuals", "mean", "robust")


def race(costs, *, budget=EVALUATIONS, **settings):
    """Race over a table of costs, one row per block, and return the result."""
    running = racer.Race(
        range(costs.shape[1]), decider=BestForBudget(**settings), budget=budget, seed=1
    )
    while cells := running.ask():
        running.tell_block(costs[cells[0].block, list(running.alive)])
    return running.result()


def some_costs(m=9, seed=1):
    return np.random.default_rng(seed).normal(size=(400, m)) + 0.3 * np.arange(m)


@pytest.mark.parametrize("m", [3, 9, 30])
def test_the_pool_shrinks_as_the_budget_does(m):
    result = race(some_costs(m))
    assert (result.ended, len(result.survivors)) == (racer.Ended.BUDGET, 2)
    assert EVALUATIONS - 2 < result.evaluations <= EVALUATIONS
    used = 0
    for evaluated in result.blocks["evaluated"]:
        used_before, used = used, used + evaluated
        if used_before >= 5 * m:  # tests begin after five blocks
            left = 1.0 - used_before / EVALUATIONS
            assert evaluated == max(2, math.ceil(m ** (left ** (1 - 1.5 / m)) - 1e-9))


def test_what_is_dropped_says_how_often_the_leader_won():
    costs = some_costs()
    gone = race(costs).eliminations
    assert set(gone["reason"]) == {"outranked"}
    assert set(gone["measure"]) == {"win-share"}
    drop = gone.iloc[0]
    shown = costs[: drop["block"] + 1]
    won = (shown[:, drop["against"]] < shown[:, drop["candidate"]]).mean()
    assert drop["probability"] == pytest.approx(won)


@pytest.mark.parametrize("by", BY)
def test_the_order_of_candidates_does_not_matter(by):
    costs, order = some_costs(), np.random.default_rng(2).permutation(9)
    plain, turned = race(costs, by=by), race(costs[:, order], by=by)
    assert {(e.block, e.candidate) for e in eliminated(plain)} == {
        (e.block, int(order[e.candidate])) for e in eliminated(turned)
    }


@pytest.mark.parametrize("by", BY)
def test_blocks_at_once_are_blocks_one_by_one(table, by):
    decider = BestForBudget(by=by)
    at_once = table.decide(decider, some_costs()[:50], budget=900)
    stepwise = table.decide(decider, some_costs()[:50], step=7, budget=900)
    assert (
        [(d.candidate, d.reason, d.against) for d in at_once.dropped]
        == [(d.candidate, d.reason, d.against) for d in stepwise.dropped]
        != []
    )
    assert np.allclose(at_once.standing, stepwise.standing)


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
    costs = some_costs()[:40]
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


def test_those_that_tie_with_one_that_stays_stay(table):
    result = race(np.ones((400, 9)))
    assert (result.ended, result.best, eliminated(result)) == (racer.Ended.ALL_EQUAL, None, ())
    costs = some_costs(4)
    costs = np.column_stack([costs, costs[:, 3], costs[:, 3]])  # the worst, three times
    for by in BY:
        gone = race(costs, by=by).eliminations.groupby("block")["candidate"].agg(set)
        assert {3, 4, 5} in gone.tolist()


@pytest.mark.parametrize("scale", [1e308, 1e-308, 5e-324])
@pytest.mark.parametrize("by", BY)
def test_costs_at_the_ends_of_the_floats(scale, by):
    rng = np.random.default_rng(1)
    costs = scale * rng.choice([-1.0, 0.0, 1.0], size=(400, 4), p=[0.3, 0.3, 0.4])
    result = race(costs, by=by)
    assert len(result.survivors) >= 2
    assert result.eliminations["probability"].between(0.0, 1.0).all()


@pytest.mark.parametrize("by", BY)
def test_failures_cost_more_than_the_worst(by):
    def evaluate(config, instance, seed):
        if config == 0 and instance % 2:
            raise ValueError("odd")
        return config + instance + seed % 7

    decider = BestForBudget(by=by)
    assert racer.race([0, 1, 2], evaluate, range(10), budget=90, decider=decider).best == 1


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


def test_it_needs_a_budget_of_any_kind():
    with pytest.raises(SettingError, match="'best-for-budget' needs a budget"):
        BestForBudget().start(Setting(2, np.random.default_rng(0)))
    for limits in ({"evaluations": 100, "seconds": 5}, {"seconds": 5}, {"spend": 5}):
        budget = racer.Budget(**limits)
        assert racer.Race([1, 2], budget=budget, decider="best-for-budget").ended is None


@pytest.mark.parametrize("bad", [{"by": "median"}, {"by": 3}])
def test_bad_settings(bad):
    with pytest.raises(SettingError, match=next(iter(bad))):
        BestForBudget(**bad)


@pytest.mark.parametrize("shape", [(4, 3), (5, 3), (1, 1), (3, 2000)], ids=str)
def test_medians_are_those_of_numpy(shape):
    """Of more values than are sorted, too, and of columns with NaN."""
    values = np.random.default_rng(1).normal(size=shape)
    np.testing.assert_array_equal(_median(values), np.median(values, axis=0))
    values[-1, 0] = np.nan
    np.testing.assert_array_equal(_median(values), np.median(values, axis=0))
