"""The budgeted race spends its budget to the end, on those that may be the best."""

import math

import numpy as np
import pandas as pd
import pytest
from playing import eliminated, play_table, rising
from scipy import stats

from racer.deciders import BayesianBest, SequentialHalving
from racer.simulate import HeavyTailedWorld, UnequalInstancesWorld, play


def race(costs, **settings):
    """Race over a table of costs, one row per block, and return the result."""
    return play_table(costs, BayesianBest(**settings), budget=900)


def test_what_is_dropped_says_how_probable_it_was_best_and_who_leads():
    gone = pd.DataFrame(map(vars, race(rising())._eliminations))
    assert set(gone["reason"]) == {"unlikely"}
    assert set(gone["measure"]) == {"posterior"}
    assert gone["probability"].between(0.0, 0.5).all()
    assert 0 in set(gone["against"])


def test_the_first_to_go_has_the_least_posterior_probability_of_being_best():
    """Before anyone goes, ranks weigh the same in every block: Benavoli et al. 2015, eq. 15."""
    costs = rising(5)
    gone = pd.DataFrame(map(vars, race(costs)._eliminations))
    first = gone[gone["block"] == gone["block"].min()]
    ranks = stats.rankdata(costs[: first["block"].iloc[0] + 1], axis=1)
    weights = np.random.default_rng(5).standard_exponential((50_000, len(ranks)))
    shares = np.bincount((weights @ ranks).argmin(axis=1), minlength=ranks.shape[1]) / 50_000
    assert set(first["candidate"]) == set(np.argsort(shares)[: len(first)].tolist())
    expected = shares[first["candidate"]]
    error = np.sqrt(expected * (1.0 - expected) / 1000) + 1e-3
    assert (np.abs(first["probability"] - expected) < 4 * error).all()


def test_ranks_ignore_what_keeps_the_order_within_blocks():
    costs = rising()
    bent = np.exp(costs) * np.random.default_rng(3).uniform(1, 1e6, size=(600, 1))
    assert eliminated(race(costs)) == eliminated(race(bent))
    assert eliminated(race(costs, by="mean")) != eliminated(race(bent, by="mean"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("world", "repetitions", "budget"),
    [(HeavyTailedWorld(8, 1.0), 32, 300), (UnequalInstancesWorld(20, 1.0), 12, 800)],
)
def test_it_beats_halving_by_means_where_means_mislead(world, repetitions, budget):
    ours, halving = (
        play(decider, world, repetitions=repetitions, blocks=budget, budget=budget, seed=3)
        for decider in (BayesianBest(), SequentialHalving())
    )
    error = math.hypot(ours.errors["mae"], halving.errors["mae"])
    assert halving.summary["mae"] - ours.summary["mae"] > 2 * error
    assert ours.summary["observations"] == pytest.approx(budget - 0.5, abs=0.5)
