"""The demo's problems and configurations are what they say."""

import os

import numpy as np
import pytest
from processes import python

from racer.cli.demo import configurations, evaluate, problems
from racer.cli.demo.problems import BOUND, FUNCTIONS, Problem


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dimension", [3, 10])
def test_the_minimum_is_zero_at_the_shift_and_nowhere_lower(name, dimension):
    problem = Problem(name, dimension, variant=2)
    rng = np.random.default_rng(1)
    inside = rng.uniform(-BOUND, BOUND, size=(dimension, 5000))
    assert (problem(inside) > 0.0).all()

    from racer.cli.demo.problems import _placement

    shift, rotation = _placement(problem)
    assert (np.abs(shift) < BOUND).all()
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(dimension), atol=1e-12)
    assert problem(shift)[0] == pytest.approx(0.0, abs=1e-12)


def test_variants_differ_and_repeat():
    one, other = Problem("ackley", 5, 0), Problem("ackley", 5, 1)
    x = np.ones((5, 1))
    assert one(x)[0] == Problem("ackley", 5, 0)(x)[0]
    assert one(x)[0] != other(x)[0]


def test_sixty_different_problems():
    assert len(set(problems())) == len(problems()) == 60


def test_configurations_are_different_and_begin_with_the_default():
    pool = configurations(40, seed=5)
    assert pool[0]["popsize"] == 15
    assert len({repr(config) for config in pool}) == 40
    assert configurations(40, seed=5) == pool != configurations(40, seed=6)
    assert len(configurations(1280, seed=1)) == 1280


@pytest.mark.parametrize("seed", [1, 2])
def test_a_run_repeats_and_pays_for_its_budget_only(seed, monkeypatch):
    problem = Problem("rastrigin", 3, 0)
    config = configurations(3, seed=1)[2]
    first = evaluate(config, problem, seed)
    assert evaluate(config, problem, seed) == first
    assert evaluate(config, problem, seed + 10) != first

    monkeypatch.setattr("racer.cli.demo.EVALUATIONS_PER_DIMENSION", 2000)
    assert evaluate(config, problem, seed) <= first


def test_workers_load_no_more_than_the_problems():
    code = "import sys, racer.cli.demo; print(*sorted(sys.modules))"
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    done = python("-c", code, env=plain)
    loaded = set(done.stdout.split())
    assert "racer.cli.demo.problems" in loaded
    assert not loaded & {"racer.cli.commands", "racer.run", "click", "rich", "pandas", "sqlite3"}
