"""n_jobs and arrival order never change the result."""

import pytest
from playing import ONE_NUMBER, eliminated, short

import racer


@pytest.fixture(scope="module")
def race_with():
    def evaluate(config, instance, seed):
        import numpy as np

        rng = np.random.default_rng([seed, config])
        if config and rng.random() < 0.1:
            raise ValueError("sometimes")
        return config + instance + rng.normal()

    def race(decider, n_jobs):
        result = racer.race(
            range(6), evaluate, [0.0, 5.0, 1.0], decider=decider, budget=60, seed=9, n_jobs=n_jobs
        )
        return {
            "scores": repr(result.known.values(len(result.configs)).tolist()),
            "failures": result.known.failures,
            "dropped": eliminated(result),
            "best": (result.best_index, result.best, result.survivors),
            "ended": (result.ended, result.evaluations),
            "probability_best": result.probability_best,
        }

    return race


@pytest.mark.parametrize("decider", ONE_NUMBER, ids=short)
def test_the_number_of_jobs_changes_nothing(race_with, decider):
    alone = race_with(decider, 1)
    assert alone["dropped"]
    assert alone["failures"]
    assert race_with(decider, 3) == alone
