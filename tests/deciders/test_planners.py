"""What holds for the deciders that spend a budget to its end."""

import math

import numpy as np
import pytest
from playing import eliminated, play_table, rising

import racer
from racer import SettingError
from racer.deciders import BayesianBest, BestForBudget, SequentialHalving, Setting

PLANNERS = {
    "halving": SequentialHalving(),
    "halving by ranks": SequentialHalving(by="mean-rank"),
    "bayesian-best": BayesianBest(),
    "bayesian-best by means": BayesianBest(by="mean"),
    "best-for-budget": BestForBudget(),
    "best-for-budget by means": BestForBudget(by="mean"),
    "best-for-budget, robust": BestForBudget(by="robust"),
}
every_planner = pytest.mark.parametrize("decider", PLANNERS.values(), ids=PLANNERS)
shrinking = pytest.mark.parametrize(  # all but halving: to two candidates, a few at each test
    "decider",
    [decider for decider in PLANNERS.values() if not isinstance(decider, SequentialHalving)],
    ids=[name for name in PLANNERS if "halving" not in name],
)


def race(decider, costs, budget=600):
    """Race over a table of costs, one row per block, and return the result."""
    return play_table(costs, decider, budget=budget)


@shrinking
@pytest.mark.parametrize("m", [3, 9, 30])
def test_the_pool_shrinks_as_the_budget_does(decider, m):
    result = race(decider, rising(m))
    assert (result.ended, len(result.survivors)) == (racer.Ended.BUDGET, 2)
    assert 600 - 2 < result.evaluations <= 600
    power = 1 - 1.5 / m if isinstance(decider, BestForBudget) else 1
    used = 0
    for evaluated in result.blocks["evaluated"]:
        used_before, used = used, used + evaluated
        if used_before >= 5 * m:  # tests begin after five blocks
            left = 1.0 - used_before / 600
            assert evaluated == max(2, math.ceil(m ** (left**power) - 1e-9))


@every_planner
def test_the_order_of_candidates_does_not_matter(decider):
    costs, order = rising(), np.random.default_rng(2).permutation(9)
    plain, turned = race(decider, costs), race(decider, costs[:, order])
    assert {(e.block, e.candidate) for e in eliminated(plain)} == {
        (e.block, int(order[e.candidate])) for e in eliminated(turned)
    }


@shrinking
def test_blocks_at_once_are_blocks_one_by_one(table, decider):
    at_once = table.decide(decider, rising()[:50], budget=900)
    stepwise = table.decide(decider, rising()[:50], step=7, budget=900)
    assert (
        [(d.candidate, d.reason, d.against) for d in at_once.dropped]
        == [(d.candidate, d.reason, d.against) for d in stepwise.dropped]
        != []
    )
    assert np.allclose(at_once.standing, stepwise.standing)


@shrinking
def test_those_that_tie_with_one_that_stays_stay(decider):
    """Among equals nobody goes, and nobody is best; those that tie go together."""
    result = race(decider, np.ones((400, 9)))
    assert (result.ended, result.best, eliminated(result)) == (racer.Ended.ALL_EQUAL, None, ())
    costs = rising(4)
    costs = np.column_stack([costs, costs[:, 3], costs[:, 3]])  # the worst, three times
    gone = race(decider, costs).eliminations.groupby("block")["candidate"].agg(set)
    assert {3, 4, 5} in gone.tolist()


@every_planner
@pytest.mark.parametrize("scale", [1e308, 1e-308, 5e-324])
def test_costs_at_the_ends_of_the_floats(decider, scale):
    rng = np.random.default_rng(1)
    costs = scale * rng.choice([-1.0, 0.0, 1.0], size=(400, 4), p=[0.3, 0.3, 0.4])
    result = race(decider, costs)
    assert len(result.survivors) >= 1
    assert all(0.0 <= gone.probability <= 1.0 for gone in result._eliminations)


@every_planner
def test_failures_cost_more_than_the_worst(decider):
    def evaluate(config, instance, seed):
        if config == 0 and instance % 2:
            raise ValueError("odd")
        return config + instance + seed % 7

    assert racer.race([0, 1, 2], evaluate, range(10), budget=90, decider=decider).best == 1


@every_planner
def test_it_needs_a_budget_of_any_kind(decider):
    with pytest.raises(SettingError, match="' needs a budget"):
        decider.start(Setting(2, np.random.default_rng(0)))
    for limits in ({"evaluations": 100, "seconds": 5}, {"seconds": 5}, {"spend": 5}):
        budget = racer.Budget(**limits)
        assert racer.Race([1, 2], budget=budget, decider=decider).ended is None


@pytest.mark.parametrize("name", ["halving", "bayesian-best"])
@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
def test_blocks_that_fail_altogether_are_counted_against_the_budget(name):
    def evaluate(config, instance, seed):
        if instance % 2:
            raise ValueError("odd")
        return config + 0.1 * np.random.default_rng(seed).normal()

    result = racer.race(
        range(16), evaluate, range(10_000), decider=PLANNERS[name], budget=1600, seed=1
    )
    assert len(result.survivors) <= 2  # the last block may be one of those
    assert result.evaluations > 1600 - 16
