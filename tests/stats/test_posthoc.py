from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from racer.errors import ScoresError
from racer.stats import (
    bonferroni,
    conover_posthoc,
    hochberg,
    holm,
    mean_rank_posthoc,
    nemenyi_critical_difference,
    shaffer,
)

CORRECTIONS = [None, "bonferroni", "holm", "hochberg", "shaffer"]
both_tests = pytest.mark.parametrize("posthoc", [conover_posthoc, mean_rank_posthoc])


@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("levels", [3, 10**6])
def test_conover_by_the_textbook(levels, m):
    """|R_i - R_j| against t times sqrt(2 (n A - sum R^2) / ((n-1)(m-1)))."""
    scores = np.random.default_rng(levels).integers(levels, size=(11, m))
    ranks = stats.rankdata(scores, axis=1)
    n = len(ranks)
    sums, degrees = ranks.sum(axis=0), (n - 1) * (m - 1)
    scale = np.sqrt(2 * (n * (ranks**2).sum() - (sums**2).sum()) / degrees)
    result = conover_posthoc(scores)
    for i, j in combinations(range(m), 2):
        t = (sums[i] - sums[j]) / scale
        assert result.statistics[i, j] == pytest.approx(t, rel=1e-10)
        assert result.p_values[i, j] == pytest.approx(2 * stats.t.sf(abs(t), degrees), rel=1e-10)


def test_mean_ranks_by_hand():
    """Mean ranks 1.25, 2, 2.75; the standard error is sqrt(3 * 4 / (6 * 4))."""
    result = mean_rank_posthoc([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    z = 0.75 / np.sqrt(0.5)
    np.testing.assert_allclose(result.statistics[0], [0.0, -z, -2 * z], rtol=1e-12)
    np.testing.assert_allclose(
        result.p_values[0], [1.0, 2 * stats.norm.sf(z), 2 * stats.norm.sf(2 * z)], rtol=1e-12
    )


@both_tests
def test_shape_of_the_result(posthoc):
    result = posthoc(np.random.default_rng(0).random((9, 5)))
    np.testing.assert_array_equal(result.p_values, result.p_values.T)
    np.testing.assert_array_equal(result.statistics, -result.statistics.T)
    assert (np.diag(result.p_values) == 1.0).all()
    better = result.mean_ranks[:, None] < result.mean_ranks[None, :]
    np.testing.assert_array_equal(result.statistics < 0, better)
    np.testing.assert_array_equal(result.to_frame().to_numpy(), result.p_values)


@both_tests
@pytest.mark.parametrize("m", [2, 3, 5])
def test_corrections_are_those_of_all_pairs(posthoc, m):
    scores = np.random.default_rng(m).random((9, m)) + np.arange(m) / 3
    upper = np.triu_indices(m, 1)
    raw = posthoc(scores).p_values[upper]
    expected = {
        "bonferroni": bonferroni(raw),
        "holm": holm(raw),
        "hochberg": hochberg(raw),
        "shaffer": shaffer(raw, m),
    }
    for correction, p_values in expected.items():
        result = posthoc(scores, correction=correction)
        assert result.correction == correction
        np.testing.assert_array_equal(result.p_values[upper], p_values)
        np.testing.assert_array_equal(result.p_values, result.p_values.T)
        assert (np.diag(result.p_values) == 1.0).all()


@both_tests
@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("shape", [(2, 2), (5, 3), (3, 8)])
def test_everything_tied(posthoc, correction, shape):
    result = posthoc(np.ones(shape), correction=correction)
    assert (result.p_values == 1.0).all()
    assert (result.statistics == 0.0).all()


@both_tests
def test_identical_candidates_do_not_differ(posthoc):
    result = posthoc([[1, 2, 2], [3, 0, 0], [1, 4, 4], [1, 4, 4]])
    assert result.p_values[1, 2] == 1.0
    assert result.statistics[1, 2] == 0.0
    assert result.p_values[0, 1] == result.p_values[0, 2] < 1.0


@pytest.mark.parametrize("n", [2, 3, 50])
def test_conover_of_blocks_that_rank_alike(n):
    """No spread is left: a difference is as rare as blocks that rank alike; ties are none."""
    result = conover_posthoc([[1, 2, 2, 0]] * n)
    p = 24.0 ** (1 - n)
    expected = [[1, p, p, p], [p, 1, 1, p], [p, 1, 1, p], [p, p, p, 1]]
    np.testing.assert_allclose(result.p_values, expected, rtol=1e-12)
    assert result.statistics[0].tolist() == [0.0, -np.inf, -np.inf, np.inf]


def test_conover_needs_two_blocks():
    with pytest.raises(ScoresError, match=r"1 complete block\(s\) \(1 left out.*at least 2"):
        conover_posthoc([[1, 2], [1, np.nan]])


def test_mean_ranks_of_one_block():
    result = mean_rank_posthoc([[1, 2, 3]])
    assert result.n_blocks == 1
    assert result.p_values[0, 2] == pytest.approx(2 * stats.norm.sf(2 / np.sqrt(2)))


class TestNemenyi:
    def test_two_candidates_is_the_normal_quantile(self):
        """The studentised range of two over sqrt(2) is |z|."""
        z = stats.norm.ppf(0.975)
        assert nemenyi_critical_difference(2, 10) == pytest.approx(z * np.sqrt(0.1), rel=1e-6)

    def test_familywise_error(self):
        """Many blocks of equal candidates: some pair differs by more in a share alpha."""
        rng = np.random.default_rng(7)
        n, m, runs = 60, 4, 4000
        ranks = rng.permuted(np.tile(np.arange(1.0, m + 1), (runs, n, 1)), axis=2)
        spread = np.ptp(ranks.mean(axis=1), axis=1)
        share = (spread > nemenyi_critical_difference(m, n, alpha=0.1)).mean()
        assert share == pytest.approx(0.1, abs=4 * np.sqrt(0.1 * 0.9 / runs))
