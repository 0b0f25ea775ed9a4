"""Sequential halving spends what it is given, in equal parts, and keeps the better half."""

import flat
import numpy as np
import pytest

import racer
from racer.deciders import SequentialHalving


def run(m, budget, decider="halving", first_test=1, **settings):
    noise = np.random.default_rng(3).normal(size=(budget, m))
    return flat.race(
        range(m),
        lambda config, instance, seed: config + 0.01 * noise[instance, config],
        range(budget),
        budget=budget,
        decider=decider,
        first_test=first_test,
        seed=1,
        **settings,
    )


def test_sixteen_candidates_in_four_halvings():
    result = run(16, 16 * 40)
    assert result.best == 0
    assert result.ended == racer.Ended.DECIDED
    gone = result.eliminations.groupby("block").size()
    assert gone.tolist() == [8, 4, 2, 1]
    # 640 evaluations in four parts of 160: 10, 20, 40 and 80 blocks
    assert gone.index.tolist() == [9, 29, 69, 149]
    assert result.evaluations == 640
    assert set(result.eliminations["reason"]) == {"halved"}
    assert set(result.eliminations["measure"]) == {"win-share"}
    assert result.eliminations["probability"].between(0.5, 1.0).all()


@pytest.mark.parametrize("m", [2, 3, 5, 7, 30])
@pytest.mark.parametrize("budget", [150, 400, 997])
def test_the_budget_is_spent_to_less_than_a_block_and_one_is_left(m, budget):
    result = run(m, budget)
    assert len(result.survivors) == 1
    assert budget - 3 * m <= result.evaluations <= budget


def test_late_looks_shift_the_parts_that_remain():
    result = run(16, 16 * 20, first_test=7)
    assert result.eliminations["block"].min() == 6
    assert len(result.survivors) == 1
    assert result.evaluations <= 320


def test_by_mean_or_by_mean_rank():
    """One huge cost ruins a mean and not a mean rank."""
    costs = np.tile([1.0, 2.0], (20, 1))
    costs[3, 0] = 1e6

    def best(by):
        return racer.race(
            range(2),
            lambda config, instance, seed: costs[instance, config],
            racer.Instances(range(20), deterministic=True),
            budget=40,
            decider=SequentialHalving(by=by),
        ).best

    assert best("mean") == 1
    assert best("mean-rank") == 0
