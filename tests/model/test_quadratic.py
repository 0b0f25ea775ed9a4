"""A quadratic near a point: which candidates are near its minimum."""

import numpy as np
import pytest

from racer.model.effects import Effects
from racer.model.quadratic import is_near, upper_bounds

AT = np.array([0.55, 0.45, 0.5])
CENTRE = np.full(3, 0.5)


def around(m, seed=0):
    return CENTRE + np.random.default_rng(seed).normal(0.0, 0.08, (m, 3))


def measured(costs, sd, seed=1):
    noise = np.random.default_rng(seed).normal(0.0, sd, len(costs))
    return Effects(costs + noise, np.full(len(costs), sd**2))


def test_what_it_puts_first_is_nearer_to_the_minimum_than_the_candidates_with_the_least_costs():
    vectors = around(400)
    apart = ((vectors - AT) ** 2).sum(axis=1)
    known = measured(100.0 * apart, 1.0)
    bounds = upper_bounds(vectors, known, CENTRE, 0.12)
    assert bounds is not None
    best, lucky = bounds.argsort()[:8], known.value.argsort()[:8]
    assert apart[best].mean() < 0.3 * apart[lucky].mean()
    assert apart[best].mean() < 3.0 * np.sort(apart)[:8].mean()


def test_bounds_are_as_far_above_the_mean_as_its_standard_deviation():
    vectors, sd = around(400), 0.5
    costs = 40.0 * ((vectors - AT) ** 2).sum(axis=1)
    found = [upper_bounds(vectors, measured(costs, sd, s), CENTRE, 0.4) for s in range(200)]
    off = np.array(found) - costs  # so wide that all weigh about the same
    assert off.mean() == pytest.approx(off.std(axis=0).mean(), rel=0.1)


def test_it_is_none_where_no_quadratic_fits():
    vectors = around(400)
    waves = np.cos(60.0 * vectors).sum(axis=1)
    assert upper_bounds(vectors, measured(waves, 0.1), CENTRE, 0.12) is None
    assert upper_bounds(vectors, measured(waves, 10.0), CENTRE, 0.12) is not None


def test_a_parameter_that_is_the_same_in_all_does_no_harm():
    vectors = around(400)
    vectors[:, 2] = 0.5
    costs = ((vectors - AT) ** 2).sum(axis=1)
    bounds = upper_bounds(vectors, Effects(costs, np.full(400, 1e-12)), CENTRE, 0.12)
    assert bounds is not None
    assert bounds.argmin() == costs.argmin()


def test_few_that_are_near_are_none():
    vectors = np.concatenate([around(20), np.zeros((30, 3)), around(1, seed=5)])
    near = is_near(vectors, CENTRE, 0.12)
    assert near.sum() >= 20
    assert not near[20:50].any()
    assert not is_near(vectors[:19], CENTRE, 0.12).any()  # of ten coefficients
