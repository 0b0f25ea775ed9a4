"""n_jobs, speed, arrival order and the hash seed of the interpreter never change the result."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from playing import ONE_NUMBER, eliminated

import racer

CODE = """
import json, sys
import numpy as np
import racer

def evaluate(config, instance, seed):
    rng = np.random.default_rng([seed, len(config["name"])])
    if rng.random() < 0.05:
        raise ValueError("sometimes")
    return config["x"] + rng.normal()

pool = [{"x": x / 2, "name": "n" * x, "tags": {"b", "a", "c"}} for x in range(6)]
result = racer.race(pool, evaluate, ["p", "q"], budget=90, seed=7)
print(json.dumps([
    result.best_index, result.survivors, result.evaluations, repr(result.known.values(len(result.configs)).tolist()),
    result.eliminations.values.tolist(), list(result.probability_best.values()),
]))
"""


def test_the_hash_seed_changes_nothing():
    answers = [
        subprocess.run(
            [sys.executable, "-c", CODE],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        ).stdout
        for hash_seed in ("0", "12345")
    ]
    assert answers[0] == answers[1]
    assert json.loads(answers[0])[0] == 0


@pytest.fixture(scope="module")
def race_with():
    def evaluate(config, instance, seed):
        import time

        import numpy as np

        rng = np.random.default_rng([seed, config])
        time.sleep(0.002 * float(rng.random()))
        if config and rng.random() < 0.05:
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


@pytest.mark.parametrize("decider", ONE_NUMBER)
def test_the_number_of_jobs_changes_nothing(race_with, decider):
    alone = race_with(decider, 1)
    assert alone["dropped"]
    assert alone["failures"]
    assert race_with(decider, 3) == alone
