"""What a tuning returns where evaluations fail: on some instances, or by chance."""

import numpy as np
import pytest

from racer import Real, Space, tune

SPACE = Space({f"x{k}": Real(0, 1) for k in range(3)})


def noisy(config, seed):
    rng = np.random.default_rng([seed, *(round(1e9 * x) for x in config.values())])
    cost = sum((x - 0.2 * k - 0.2) ** 2 for k, x in enumerate(config.values()))
    return cost + 0.1 * rng.standard_normal(), rng.random()


def true(config):
    return sum((x - 0.2 * k - 0.2) ** 2 for k, x in enumerate(config.values()))


@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
@pytest.mark.parametrize("budget", [200, pytest.param(700, marks=pytest.mark.thorough)])
def test_a_better_region_that_fails_on_some_instances_is_not_returned(budget):
    space = Space({"x": Real(0, 10)})

    def evaluate(config, instance, seed):
        if config["x"] < 3 and instance % 4 == 0:
            return float("nan")
        rng = np.random.default_rng([seed, round(1e9 * config["x"])])
        return abs(config["x"] - 2) + 0.1 * rng.standard_normal()

    for seed in range(2):
        result = tune(space, evaluate, range(20), budget=budget, seed=seed)
        assert result.best["x"] >= 3
        assert result.verified.failed == 0
        assert result.best_index == result.credible_set[0]
        if result.is_verified:
            assert result.best_index == result.elites[0]


def test_failures_by_chance_hardly_cost_anything():
    def evaluate(config, instance, seed):
        cost, luck = noisy(config, seed)
        return float("nan") if luck < 0.02 else cost

    found = [tune(SPACE, evaluate, range(20), budget=600, seed=s) for s in range(2)]
    assert all(result.is_verified for result in found)
    assert np.mean([true(result.best) for result in found]) < 0.06


def test_without_failures_there_is_no_final_stage():
    result = tune(SPACE, lambda c, i, seed: noisy(c, seed)[0], range(20), budget=200, seed=1)
    assert not result.is_verified
    assert result.verified.failed == 0
