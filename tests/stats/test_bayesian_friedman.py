import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from racer.stats import bayesian_friedman_test, friedman_test
from racer.stats.friedman import least_p_value

LAW = settings(max_examples=60, deadline=None, derandomize=True)
TIED = arrays(
    np.float64,
    st.tuples(st.integers(1, 10), st.integers(2, 5)),
    elements=st.integers(0, 3).map(float),
)
STRENGTH = st.sampled_from([0.0, 0.5, 1.0, 10.0])


def noisy(seed, n, m, levels=10**6):
    return np.random.default_rng([seed, n, m]).integers(levels, size=(n, m)).astype(float)


def assert_same(first, second, order=None):
    """Assert equality, the candidates of `first` taken in `order`."""
    order = np.arange(len(first.mean_ranks)) if order is None else np.asarray(order)
    moved = {
        "mean_ranks": first.mean_ranks[order],
        "covariance": first.covariance[np.ix_(order, order)],
    }
    for name, value in (vars(first) | moved).items():
        if isinstance(value, (str, bool, np.bool_)):
            assert getattr(second, name) == value, name
        else:
            np.testing.assert_allclose(
                getattr(second, name), value, rtol=1e-6, atol=1e-12, err_msg=name
            )


@pytest.mark.parametrize(("n", "m", "levels"), [(12, 3, 4), (30, 4, 10**6), (8, 8, 10**6)])
@pytest.mark.parametrize("strength", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_by_the_formulas(n, m, levels, strength, confidence):
    """Eq. 16 to 19, the prior atom as one more block of weight s."""
    scores = noisy(1, n, m, levels)
    ranks = np.vstack([np.full(m, (m + 1) / 2), stats.rankdata(scores, axis=1)])
    weights = np.array([strength, *np.ones(n)])
    total = weights.sum()
    mean = weights @ ranks / total
    covariance = (ranks - mean).T @ np.diag(weights) @ (ranks - mean) / (total * (total + 1))

    result = bayesian_friedman_test(scores, strength=strength, confidence=confidence)
    np.testing.assert_allclose(result.mean_ranks, mean, rtol=1e-12)
    np.testing.assert_allclose(result.covariance, covariance, atol=1e-12)
    assert result.gate == "bayesian"

    distance = mean - (m + 1) / 2
    for drop in range(m):  # whichever coordinate is dropped
        left = np.delete(np.arange(m), drop)
        squared = distance[left] @ np.linalg.solve(covariance[np.ix_(left, left)], distance[left])
        quantile = stats.f.ppf(confidence, m - 1, n - m + 1)
        assert result.rejected == (squared > quantile * (n - 1) * (m - 1) / (n - m + 1))
        f = squared * (n - m + 1) / ((n - 1) * (m - 1))
        assert result.f_statistic == pytest.approx(f, rel=1e-8)
    assert result.threshold == pytest.approx(quantile, rel=1e-10)
    assert result.tail_probability == pytest.approx(stats.f.sf(f, m - 1, n - m + 1), rel=1e-7)
    assert (result.confidence, result.strength) == (confidence, strength)


@pytest.mark.parametrize("strength", [0.7, 3.0])
def test_moments_against_sampled_weights(strength):
    scores, draws = noisy(2, 10, 3, levels=4), 400_000
    ranks = np.vstack([np.full(3, 2.0), stats.rankdata(scores, axis=1)])
    rng = np.random.default_rng(2)
    expected = rng.dirichlet([strength] + [1.0] * 10, size=draws) @ ranks
    result = bayesian_friedman_test(scores, strength=strength)
    centred = expected - expected.mean(axis=0)
    for i in range(3):
        error = 4 * expected[:, i].std() / np.sqrt(draws)
        assert result.mean_ranks[i] == pytest.approx(expected[:, i].mean(), abs=error)
        for j in range(3):
            products = centred[:, i] * centred[:, j]
            error = 4 * products.std() / np.sqrt(draws)
            assert result.covariance[i, j] == pytest.approx(products.mean(), abs=error)


def test_without_a_prior_the_mean_ranks_are_the_classical():
    scores = noisy(3, 9, 4, levels=5)
    result = bayesian_friedman_test(scores, strength=0.0)
    np.testing.assert_allclose(result.mean_ranks, friedman_test(scores).mean_ranks, rtol=1e-12)


def test_a_strong_prior_holds_the_ranks_together():
    result = bayesian_friedman_test([[1, 2, 3], [1, 3, 2]] * 10, strength=1e9)
    np.testing.assert_allclose(result.mean_ranks, [2.0, 2.0, 2.0], atol=1e-6)


@pytest.mark.parametrize(("n", "m"), [(1, 2), (2, 3), (5, 30), (9, 10)])
def test_fewer_blocks_than_candidates(n, m):
    scores = noisy(4, n, m) + 10**6 * np.arange(m) / m
    result, classical = bayesian_friedman_test(scores), friedman_test(scores)
    assert result.gate == "iman-davenport"
    assert result.f_statistic == classical.f_statistic
    assert result.tail_probability == classical.f_p_value
    assert result.rejected == (classical.f_p_value < 0.05)
    if n > 1:
        assert result.threshold == pytest.approx(stats.f.ppf(0.95, m - 1, (m - 1) * (n - 1)))


@pytest.mark.parametrize("twins", [(0, 1), (0, 2), (1, 2), (2, 3), (0, 3)])
def test_identical_candidates(twins):
    """The covariance is singular, whichever coordinate is dropped."""
    scores = noisy(5, 20, 4)
    scores[:, twins[1]] = scores[:, twins[0]]
    result = bayesian_friedman_test(scores)
    assert result.gate == "iman-davenport"
    assert result.f_statistic == friedman_test(scores).f_statistic
    assert result.mean_ranks[twins[0]] == result.mean_ranks[twins[1]]


@pytest.mark.parametrize("shape", [(1, 2), (3, 3), (20, 4), (2, 10)])
@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_everything_tied(shape, strength):
    result = bayesian_friedman_test(np.ones(shape), strength=strength)
    assert not result.rejected
    assert (result.f_statistic, result.tail_probability) == (0.0, 1.0)
    assert result.mean_ranks.tolist() == [(shape[1] + 1) / 2] * shape[1]
    assert (result.covariance == 0.0).all()


@pytest.mark.parametrize("strength", [0.0, 1.0])
@pytest.mark.parametrize("m", [3, 4])
def test_all_blocks_alike(m, strength):
    result = bayesian_friedman_test([list(range(m))] * 10, strength=strength)
    assert result.rejected
    assert result.f_statistic == np.inf
    assert result.tail_probability < 1e-6


def test_a_candidate_always_last_without_a_prior():
    """Its expected rank has no variance, and the others' sum to a constant."""
    scores = noisy(6, 15, 3)
    scores[:, 2] = 1e9
    result = bayesian_friedman_test(scores, strength=0.0)
    assert result.gate == "iman-davenport"
    assert result.rejected


@pytest.mark.thorough
@pytest.mark.parametrize(("n", "m"), [(10, 3), (30, 5), (30, 20)])
def test_a_true_hypothesis_is_rejected_in_one_to_nine_percent(n, m):
    rng = np.random.default_rng([n, m])
    runs = 600
    rejected = sum(bayesian_friedman_test(rng.random((n, m))).rejected for _ in range(runs))
    assert 0.01 < rejected / runs < 0.09


@LAW
@given(TIED, STRENGTH)
def test_always_defined(scores, strength):
    result = bayesian_friedman_test(scores, strength=strength)
    assert isinstance(result.rejected, bool)
    assert result.rejected is (result.tail_probability < 1.0 - result.confidence)
    n, m = scores.shape
    if result.gate == "bayesian" or least_p_value(n, m) < 1.0 - result.confidence:
        assert result.rejected == (result.f_statistic > result.threshold)
    else:
        assert not result.rejected
    assert result.f_statistic >= 0.0
    assert 0.0 <= result.tail_probability <= 1.0
    m = scores.shape[1]
    assert result.mean_ranks.sum() == pytest.approx(m * (m + 1) / 2)
    np.testing.assert_allclose(result.covariance.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_array_equal(result.covariance, result.covariance.T)
    assert (np.diag(result.covariance) >= 0.0).all()


@LAW
@given(TIED, STRENGTH, st.randoms(use_true_random=False))
def test_permuting_candidates_permutes_the_result(scores, strength, random):
    order = list(range(scores.shape[1]))
    random.shuffle(order)
    result = bayesian_friedman_test(scores, strength=strength)
    assert_same(result, bayesian_friedman_test(scores[:, order], strength=strength), order)
