"""Blocks in one scale: what candidates differ by in one is comparable with the others."""

import numpy as np
import pytest

from racer.model.scales import in_one_scale


def world(scales, seed=0, m=40, noise=0.05):
    """Return costs of a race: candidates go as blocks come, so that later ones are alike."""
    rng = np.random.default_rng(seed)
    quality = rng.random(m)
    table = np.array(scales)[:, None] * (quality + noise * rng.normal(size=(len(scales), m)))
    order = np.argsort(quality)
    for block in range(5, len(scales)):
        table[block, order[max(m - 3 * (block - 4), 4) :]] = np.nan
    return quality, table


def ratio(one, other):
    """Return the factor between the scales of two tables, block by block."""
    return np.nanstd(one, axis=1) / np.nanstd(other, axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_blocks_of_near_equals_are_left_as_they_are(seed):
    _, costs = world([1.0] * 16, seed)
    np.testing.assert_allclose(np.ptp(ratio(in_one_scale(costs), costs)), 0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_scales_that_differ_a_thousandfold_are_found(seed):
    scales = 10.0 ** np.random.default_rng(seed).uniform(-1.5, 1.5, 16)
    _, costs = world(scales, seed)
    _, alike = world([1.0] * 16, seed)
    logs = np.log(ratio(in_one_scale(costs), alike))
    assert np.std(logs[:8]) < 0.1
    assert np.std(logs) < 0.5  # the last have four candidates, which hardly differ


@pytest.mark.parametrize("factor", [1e-300, 1e-9, 1e290])
def test_the_unit_of_the_costs_changes_nothing(factor):
    _, costs = world([1.0, 30.0] * 8)
    plain, other = in_one_scale(costs), in_one_scale(costs * factor)
    np.testing.assert_allclose(other / np.nanstd(other), plain / np.nanstd(plain), rtol=1e-9)


def test_blocks_that_cannot_be_compared_stay():
    apart = np.array([[0.0, 1.0, 3.0, np.nan, np.nan], [np.nan, np.nan, 5.0, 9.0, np.inf]])
    found = in_one_scale(apart)
    assert np.isposinf(found[1, 4])
    assert found[0, 2] - found[0, 0] == pytest.approx(0.75 * (found[1, 3] - found[1, 2]))
    tied = np.ones((3, 4))
    np.testing.assert_array_equal(in_one_scale(tied), tied)


def test_a_block_a_googol_times_as_large_is_no_trouble():
    _, costs = world([1.0] * 7 + [1e200])
    found = in_one_scale(costs)
    assert np.isfinite(found[~np.isnan(costs)]).all()
    assert 0.5 < np.nanstd(found[7]) / np.nanstd(found[6]) < 2.0
