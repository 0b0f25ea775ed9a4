"""P(best) of costs that differ by factors, as run times do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from racer import ScoresError
from racer.stats import best_posterior

NAN = math.nan
PENALTY = 100.0


def times(rng, n, median, spread=0.5, hangs=0.0):
    """Return penalised times (n, m): instances of different hardness, runs with a spread."""
    size = (n, len(median))
    logs = np.log(median) + rng.normal(size=(n, 1)) + spread * rng.normal(size=size)
    return np.where((np.exp(logs) >= 10.0) | (rng.random(size) < hangs), PENALTY, np.exp(logs))


def test_who_left_early_is_not_the_best_for_the_noise_of_the_slow():
    """In seconds the slow ones' noise makes all uncertain, most of all who was seen least."""
    for seed in range(20):
        costs = times(np.random.default_rng(seed), 20, [0.05, 0.06, 0.3, 3.0, 9.0])
        costs[6:, 2:] = NAN
        found = best_posterior(costs, ratios=True)
        assert found.best in (0, 1)
        assert found.probability_best[2:].sum() < 0.02


def test_on_these_blocks_the_smallest_mean_is_the_best_for_certain():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        costs = times(rng, 12, [0.4] * 6, rng.uniform(0.3, 1.4, 6), rng.choice([0.0, 0.1], 6))
        found = best_posterior(costs, ratios=True, n_blocks=12)
        assert found.probability_best[costs.mean(axis=0).argmin()] == pytest.approx(1.0)
        costs[4:, [1, 3]] = NAN
        known = [0, 2, 4, 5]
        found = best_posterior(costs, ratios=True, n_blocks=12, among=known)
        assert found.best == known[costs[:, known].mean(axis=0).argmin()]


def test_who_is_mostly_faster_but_has_a_slow_tail_is_not_the_best():
    """Of many blocks the means decide; the logarithms of these favour the first."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        costs = times(rng, 800, [0.2, 0.25, 0.3, 0.3], np.array([1.4, 0.3, 0.3, 1.0]))
        assert np.log(costs).mean(axis=0).argmin() == 0
        found = best_posterior(costs, ratios=True)
        assert found.best == costs.mean(axis=0).argmin() == 1


def test_neither_the_unit_nor_the_order_matters_nor_by_block():
    rng = np.random.default_rng(3)
    costs = times(rng, 15, [0.2, 0.3, 0.25, 0.8], hangs=0.05)
    costs[5:, 3] = NAN
    found = best_posterior(costs, ratios=True).probability_best
    for unit in (1e-9, 1e3, 1e200):
        again = best_posterior(unit * costs, ratios=True).probability_best
        np.testing.assert_allclose(again, found, atol=1e-6)
    order = [2, 0, 3, 1]
    turned = best_posterior(costs[::-1, order], ratios=True, by_block=False).probability_best
    np.testing.assert_allclose(turned, found[order], atol=0.01)


@pytest.mark.thorough
def test_it_is_right_as_often_as_it_says():
    rng = np.random.default_rng(5)
    said, true = [], []
    for _ in range(150):
        speeds = np.exp(0.4 * rng.normal(size=6) - 1.0)
        costs = times(rng, 15, speeds)
        costs[6:, costs[:6].mean(axis=0).argsort()[3:]] = NAN
        found = best_posterior(costs, ratios=True).probability_best
        said.append(found.max())
        true.append(found.argmax() == speeds.argmin())
    assert abs(np.mean(said) - np.mean(true)) < 0.08


def test_a_time_of_zero_is_the_shortest():
    costs = times(np.random.default_rng(1), 10, [0.2, 0.4, 0.8])
    costs[:, 0] = 0.0
    found = best_posterior(costs, ratios=True)
    assert found.best == 0
    assert found.probability_best[0] > 0.99
    assert best_posterior(np.zeros((4, 3)), ratios=True).probability_best == pytest.approx(1 / 3)


def test_a_negative_cost_is_refused():
    with pytest.raises(ScoresError, match="negative"):
        best_posterior([[1.0, -1.0]], ratios=True)


def test_time_outs_of_others_do_not_hide_the_smallest_mean():
    """They make what a block usually comes to large, beside which the fast are all alike."""
    fast = [[0.08, 0.15, 0.44, 0.03, 0.08, 0.15, 0.05], [0.03, 0.1, 0.69, 0.02, 0.05, 0.12, 0.02]]
    slow = [[0.04, 100.0, 1.12, 0.03, 0.02, 0.03, 0.02], [100.0, 0.07, 0.64, 0.02, 0.06, 0.1, 0.05]]
    costs = np.array([*fast, *slow]).T
    for factor in (1.0, 0.9, 0.8, 0.7):
        some = costs * [factor, 1.0, 1.0, 1.0]
        found = best_posterior(some, ratios=True, n_blocks=7)
        assert found.probability_best[some.mean(axis=0).argmin()] == pytest.approx(1.0)


@pytest.mark.parametrize("short", [1e-2, 1e-4, 1e-6, 1e-9, 0.0])
def test_one_that_gets_faster_stays_the_best(short):
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(20, 1)) + 0.4 * rng.normal(size=(20, 4))
    costs = np.exp(noise + np.array([0.0, 0.4, 0.5, 1.0]))
    before = best_posterior(costs, ratios=True).probability_best[0]
    costs[7, 0] = short
    assert best_posterior(costs, ratios=True).probability_best[0] > 0.98 * before > 0.9
