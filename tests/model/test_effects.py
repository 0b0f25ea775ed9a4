"""Costs freed of what the blocks cost everyone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from racer.model import effects as module
from racer.model.effects import effects, unit_near

LAWS = settings(max_examples=30, deadline=None, derandomize=True)


def world(seed=0, blocks=12, m=9, missing=0.3):
    """Return qualities and costs: blocks of any level and scale, some cells unknown."""
    rng = np.random.default_rng(seed)
    quality = rng.permutation(np.linspace(-2, 2, m))
    costs = quality + 0.1 * rng.normal(size=(blocks, m))
    costs = costs * np.exp(rng.normal(size=(blocks, 1))) + 1e3 * rng.normal(size=(blocks, 1))
    unknown = rng.random(costs.shape) < missing
    unknown[:3] = False
    return quality, np.where(unknown, np.nan, costs)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_qualities_is_recovered_from_blocks_of_any_level_and_scale(seed):
    quality, costs = world(seed)
    places, truth = (a.argsort().argsort() for a in (effects(costs).value, quality))
    assert np.abs(places - truth).max() <= 1  # blocks' scales are guessed from few candidates


def test_a_candidate_on_hard_blocks_is_not_worse_for_it():
    costs = np.array([[0.0, 1.0, np.nan], [0.1, 1.1, np.nan], [100.0, np.nan, 99.0]])
    value = effects(costs).value
    assert value[2] < value[0] < value[1]


def test_the_variance_falls_with_the_number_of_blocks():
    _, costs = world()
    costs[4:, 0] = np.nan
    found = effects(costs)
    assert found.variance[0] / found.variance[1:].min() == pytest.approx(
        (~np.isnan(costs[:, 1:])).sum(axis=0).max() / 4
    )


def test_a_mean_over_all_blocks_there_are_has_no_error():
    _, costs = world(missing=0.0)
    costs[6:, 0] = np.nan
    known, few = effects(costs), effects(costs, len(costs))
    np.testing.assert_array_equal(few.value, known.value)
    assert few.variance[0] == pytest.approx(known.variance[0] / 2)  # half of the blocks
    assert (few.variance[1:] < 1e-8 * known.variance[1:]).all()
    assert (few.variance > 0).all()


def test_a_penalty_is_no_outlier():
    _, costs = world(missing=0.0)
    costs = (costs - costs.min(axis=1, keepdims=True)) / np.ptp(costs, axis=1, keepdims=True)
    costs[2, 0] = costs[7, 3] = 40.0
    costs[9, 0] = 40.0
    found, without = effects(costs).value, effects(np.where(costs < 40.0, costs, np.nan)).value
    spread = np.median(np.abs(costs[0] - np.median(costs[0]))) * 1.4826
    apart = np.delete(found - without, [0, 3]).mean()
    assert found[3] - without[3] - apart == pytest.approx(40.0 / spread / 12, rel=0.2)
    assert found[0] - without[0] - apart == pytest.approx(80.0 / spread / 12, rel=0.2)
    costs[costs == 40.0] = 1e6
    assert effects(costs).value[0] - without[0] < 100.0 / 4  # within bounds, beside two of twelve
    costs[2, 0] = 2e6
    assert effects(costs).value[0] - without[0] < 10.0 / 4  # outliers are


def test_the_largest_costs_do_not_overflow():
    costs = 1e308 * np.random.default_rng(0).uniform(0.9, 1.7, (12, 4))
    with np.errstate(over="raise"):
        assert np.isfinite(effects(costs).value).all()


def test_failures_are_worst():
    quality, costs = world()
    worst = int(quality.argmax())
    costs[:, 3] = np.where(np.isnan(costs[:, 3]), np.nan, np.inf)
    value = effects(costs).value
    assert value.argmax() == 3 != worst
    assert np.isfinite(value).all()


def test_who_only_failed_where_everyone_did_is_worst_too():
    _, costs = world()
    costs[:, 3] = np.nan  # all its blocks are left out
    value = effects(costs).value
    assert value.argmax() == 3


def test_scale_and_level_of_blocks_change_nothing():
    _, costs = world(missing=0.0)
    plain = effects(costs)
    other = effects(costs * 1e200 - 1e150)
    np.testing.assert_allclose(plain.value, other.value, rtol=1e-6, atol=1e-9)


def test_in_one_unit_the_means_of_complete_blocks_are_in_order():
    rng = np.random.default_rng(0)
    costs = rng.normal(size=(6, 1)) + rng.normal(size=(6, 40)) * np.array([[1, 1, 1, 5, 5, 5]]).T
    order = costs.mean(axis=0).argsort().tolist()
    assert effects(costs, 6, by_block=False).value.argsort().tolist() == order
    assert effects(costs, 6).value.argsort().tolist() != order


def test_constant_costs_say_nothing():
    found = effects(np.full((4, 3), 7.0))
    assert found.value.tolist() == [0.0, 0.0, 0.0]
    assert (found.variance > 0).all()


finite = st.floats(allow_nan=False, allow_infinity=False)


@LAWS
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        elements=finite | st.just(np.inf) | st.just(np.nan),
    )
)
def test_any_costs_give_finite_effects(costs):
    costs = costs[np.isfinite(costs).any(axis=1)]
    if not len(costs):
        costs = np.ones((1, costs.shape[1]))
    found = effects(costs)
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.variance).all()
    assert (found.variance > 0).all()


@LAWS
@given(
    arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2),
        elements=st.one_of(st.just(np.nan), st.floats(-1e6, 1e6)),
    )
)
def test_medians_are_those_of_numpy(rows):
    rows = rows[~np.isnan(rows).all(axis=1)]
    np.testing.assert_array_equal(module._median(rows), np.nanmedian(rows, axis=1))


def test_the_unit_of_costs_is_near_the_usual_range_of_a_block():
    costs = 1e3 + np.array([[0.0, 3.0, np.inf], [5.0, np.nan, 7.5], [0.0, 1e11, 1.0], [np.inf] * 3])
    assert unit_near(costs) == 2.0
    assert unit_near(costs * 2.0**-40) == 2.0**-39
    one_ulp = np.array([[0.3, 0.1 + 0.2], [0.1 + 0.2, 0.3]])  # rounding is no range
    assert unit_near(one_ulp) == 0.25
    assert unit_near(one_ulp[:, :1] * 2.0**40) == 2.0**38
    assert unit_near(np.zeros((2, 2))) == 1.0
    assert unit_near(np.full((2, 2), np.inf)) == 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [2.0**-30, 2.0**10, 2.0**1018])
def test_the_unit_of_costs_that_mostly_tie_does_not_matter(unit):
    costs = np.zeros((6, 9))
    costs[0, 2], costs[3, 5], costs[4, 2] = 1.0, 40.0, 40.0
    costs[:, 6:8] = 40.0
    plain, found = effects(costs), effects(costs * unit)
    np.testing.assert_allclose(found.value, plain.value, rtol=1e-12)
    np.testing.assert_allclose(found.variance, plain.variance, rtol=1e-12)
