import math

import numpy as np
import pytest
from scipy import stats

from racer.stats import friedman_test


@pytest.mark.parametrize(("n", "m"), [(5, 3), (14, 4), (40, 10), (3, 30)])
@pytest.mark.parametrize("levels", [2, 5, 10**6])
def test_statistic_is_scipys(n, m, levels):
    """Few levels give many ties."""
    scores = np.random.default_rng([n, m, levels]).integers(levels, size=(n, m))
    result = friedman_test(scores)
    expected = stats.friedmanchisquare(*scores.T)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-10)


@pytest.mark.parametrize("levels", [3, 10**6])
def test_f_is_the_analysis_of_variance_of_ranks(levels):
    """Iman and Davenport's F is that of a two-way layout of the ranks."""
    scores = np.random.default_rng(levels).integers(levels, size=(12, 5))
    ranks = stats.rankdata(scores, axis=1)
    n, m = ranks.shape
    between = n * ((ranks.mean(axis=0) - (m + 1) / 2) ** 2).sum()
    residual = ((ranks - ranks.mean(axis=0)) ** 2).sum()
    f = between / (m - 1) / (residual / ((m - 1) * (n - 1)))
    result = friedman_test(scores)
    assert result.f_statistic == pytest.approx(f, rel=1e-10)
    assert result.f_p_value == pytest.approx(stats.f.sf(f, m - 1, (m - 1) * (n - 1)), rel=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7])
@pytest.mark.parametrize("m", [2, 3, 10])
@pytest.mark.parametrize("value", [0.0, 1.5, np.inf])
def test_everything_tied(n, m, value):
    result = friedman_test(np.full((n, m), value))
    assert (result.statistic, result.p_value) == (0.0, 1.0)
    assert (result.f_statistic, result.f_p_value) == (0.0, 1.0)
    assert result.mean_ranks.tolist() == [(m + 1) / 2] * m


@pytest.mark.parametrize("block", [[1, 2], [1, 2, 3], [1, 2, 2, 2], [3, 1, 2, 5, 5, 0, 7]])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_all_blocks_alike(block, n):
    result = friedman_test([block] * n)
    assert result.statistic == pytest.approx(n * (len(block) - 1))
    assert result.f_statistic == np.inf
    by_chance = 1 / math.factorial(len(block)) ** (n - 1)  # that the others rank as the first
    assert result.f_p_value == pytest.approx(by_chance, rel=1e-9)


def test_one_block_proves_nothing():
    """F has no residual degrees of freedom."""
    result = friedman_test([[1, 2, 3]])
    assert result.statistic == pytest.approx(2.0)
    assert (result.f_statistic, result.f_p_value) == (0.0, 1.0)
