"""The Bayesian correlated t-test against its formula, with SciPy's t."""

import numpy as np
import pytest
from scipy import stats

from racer import ScoresError, SettingError
from racer.stats import correlated_t_test

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(10, 1)) + RNG.normal([0.0, 0.3, 0.8], 0.5, size=(10, 3))


@pytest.mark.parametrize(("correlation", "rope"), [(0.0, 0.0), (0.1, 0.05), (0.5, 0.3)])
def test_differences_are_t_around_their_mean_wider_by_the_correlation(correlation, rope):
    result = correlated_t_test(SCORES, correlation=correlation, rope=rope)
    n = len(SCORES)
    for i, j in ((0, 1), (2, 0), (1, 2)):
        gap = SCORES[:, i] - SCORES[:, j]
        scale = gap.std(ddof=1) * np.sqrt(1 / n + correlation / (1 - correlation))
        posterior = stats.t(n - 1, gap.mean(), scale)
        assert result.better[i, j] == pytest.approx(posterior.cdf(-rope))
        assert result.equivalent[i, j] == pytest.approx(posterior.cdf(rope) - posterior.cdf(-rope))
    assert np.allclose(result.better + result.better.T + result.equivalent, 1.0)


def test_without_correlation_it_is_the_paired_t_test():
    result = correlated_t_test(SCORES, correlation=0.0)
    found = stats.ttest_rel(SCORES[:, 0], SCORES[:, 2], alternative="less").pvalue
    assert result.better[0, 2] == pytest.approx(1.0 - found)


def test_of_two_the_probability_of_being_best_is_that_of_being_better():
    result = correlated_t_test(SCORES[:, :2], correlation=0.1, draws=20_000)
    assert result.best.sum() == pytest.approx(1.0)
    assert result.best[0] == pytest.approx(result.better[0, 1], abs=4 * 0.5 / np.sqrt(20_000))


def test_larger_may_be_better_and_gaps_are_left_out():
    gaps = np.vstack([SCORES, [np.nan, 1.0, 1.0]])
    one = correlated_t_test(gaps, correlation=0.1, rope=0.1)
    other = correlated_t_test(-gaps, correlation=0.1, rope=0.1, maximize=True)
    assert np.array_equal(one.better, other.better)
    assert np.array_equal(one.best, other.best)
    assert np.array_equal(one.means, -other.means)
    assert (one.n_blocks, one.n_dropped) == (10, 1)


def test_differences_without_spread_are_what_they_are():
    same = correlated_t_test([[1.0, 1.0, 2.0]] * 4, correlation=0.1, rope=0.5)
    assert same.equivalent[0, 1] == 1.0
    assert same.better[0, 2] == 1.0
    assert same.better[2, 0] == same.equivalent[0, 2] == 0.0
    assert same.best.tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("unit", [2.0**1020, 2.0**600, 2.0**-600, 2.0**-1000])
def test_the_unit_does_not_matter_where_squares_overflow(unit):
    scores = np.random.default_rng(0).normal(size=(10, 3)) + np.array([0.0, 0.3, 0.5])
    usual = correlated_t_test(scores, correlation=0.1, rope=0.2)
    found = correlated_t_test(scores * unit, correlation=0.1, rope=0.2 * unit)
    assert np.array_equal(found.better, usual.better)
    assert np.array_equal(found.equivalent, usual.equivalent)
    assert np.array_equal(found.best, usual.best)
    assert found.means == pytest.approx(usual.means * unit, rel=1e-12)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"correlation": 1.0}, "correlation=1.0"),
        ({"correlation": -0.1}, "correlation=-0.1"),
        ({"correlation": 0.1, "rope": -1.0}, "rope=-1.0"),
        ({"correlation": 0.1, "rope": np.inf}, "rope=inf"),
        ({"correlation": 0.1, "draws": 5}, "draws=5"),
    ],
)
def test_settings_are_checked(settings, says):
    with pytest.raises(SettingError, match=says):
        correlated_t_test(SCORES, **settings)


def test_scores_are_checked():
    with pytest.raises(ScoresError, match="at least 2 needed"):
        correlated_t_test(SCORES[:1], correlation=0.1)
    with pytest.raises(ScoresError, match="infinite"):
        correlated_t_test([[1.0, np.inf], [1.0, 2.0]], correlation=0.1)
