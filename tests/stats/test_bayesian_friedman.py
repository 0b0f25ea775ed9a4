import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from racer.errors import ScoresError, SettingError
from racer.stats import bayesian_friedman_test, friedman_test, idp_friedman_test
from racer.stats.friedman import least_p_value

LAW = settings(max_examples=25, deadline=None, derandomize=True)
TIED = arrays(
    np.float64,
    st.tuples(st.integers(1, 10), st.integers(2, 5)),
    elements=st.integers(0, 3).map(float),
)
STRENGTH = st.sampled_from([0.0, 0.5, 1.0, 10.0])


def noisy(seed, n, m, levels=10**6):
    return np.random.default_rng([seed, n, m]).integers(levels, size=(n, m)).astype(float)


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
    np.testing.assert_allclose(result.posterior_mean, mean, rtol=1e-12)
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
    assert result.posterior_mean[twins[0]] == result.posterior_mean[twins[1]]


@pytest.mark.parametrize("shape", [(1, 2), (3, 3), (20, 4), (2, 10)])
@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_everything_tied(shape, strength):
    result = bayesian_friedman_test(np.ones(shape), strength=strength)
    assert not result.rejected
    assert (result.f_statistic, result.tail_probability) == (0.0, 1.0)
    assert result.posterior_mean.tolist() == [(shape[1] + 1) / 2] * shape[1]
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
    assert result.posterior_mean.sum() == pytest.approx(m * (m + 1) / 2)
    np.testing.assert_allclose(result.covariance.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_array_equal(result.covariance, result.covariance.T)
    assert (np.diag(result.covariance) >= 0.0).all()


@pytest.mark.parametrize("prior", [[1, 2, 3, 4], [3.5, 1, 3.5, 2]])
def test_a_prior_atom_is_a_block_of_its_weight(prior):
    """Two blocks more with these ranks, eq. 16 and 17: the same sums, but for a0 + 1."""
    scores = noisy(7, 12, 4)
    found = bayesian_friedman_test(scores, strength=2.0, prior_ranks=prior)
    more = bayesian_friedman_test(np.vstack([scores, prior, prior]), strength=0.0)
    np.testing.assert_allclose(found.posterior_mean, more.posterior_mean, rtol=1e-12)
    np.testing.assert_allclose(found.covariance, more.covariance, atol=1e-12)
    mean = (2.0 * np.array(prior) + stats.rankdata(scores, axis=1).sum(axis=0)) / 14.0
    np.testing.assert_allclose(found.posterior_mean, mean, rtol=1e-12)


@pytest.mark.parametrize("prior", [[1, 2], [0, 3, 3], [1, 1, 4], [1, np.nan, 3], [1, 2, 4]])
def test_prior_ranks_must_be_means_of_orders(prior):
    with pytest.raises(SettingError, match=r"prior_ranks=.*give 3 expected ranks"):
        bayesian_friedman_test(noisy(8, 5, 3), prior_ranks=prior)


@pytest.mark.parametrize(("n", "m", "levels"), [(8, 3, 3), (3, 5, 10**6), (1, 3, 10**6)])
def test_the_region_by_draws_against_own_draws(n, m, levels):
    scores = noisy(9, n, m, levels)
    found = bayesian_friedman_test(scores, region="monte-carlo", seed=3)
    ranks = np.vstack([np.full(m, (m + 1) / 2), stats.rankdata(scores, axis=1)])
    drawn = np.random.default_rng(0).dirichlet(np.ones(n + 1), size=100_000) @ ranks
    inverse = np.linalg.pinv(np.cov(drawn.T), hermitian=True, rtol=1e-8)
    off = drawn - drawn.mean(axis=0)
    distances = np.einsum("ki,ij,kj->k", off, inverse, off)
    point = ranks[0] - drawn.mean(axis=0)
    tail = (distances >= point @ inverse @ point).mean()
    assert found.tail_probability == pytest.approx(tail, abs=0.01)
    assert found.f_statistic == pytest.approx(point @ inverse @ point, rel=0.02)
    assert found.threshold == pytest.approx(np.quantile(distances, 0.95), rel=0.02)
    assert (found.gate, found.rejected) == ("monte-carlo", tail < 0.05)


def test_the_region_by_draws_at_its_limits():
    assert bayesian_friedman_test(np.ones((4, 3)), region="monte-carlo").tail_probability == 1.0
    alike = bayesian_friedman_test([[1, 2, 3]] * 6, region="monte-carlo", strength=0.0)
    assert (alike.f_statistic, alike.tail_probability) == (np.inf, 0.0)
    with pytest.raises(SettingError, match="region='box': choose"):
        bayesian_friedman_test(np.ones((4, 3)), region="box")
    many = noisy(10, 200, 4)
    drawn = bayesian_friedman_test(many, region="monte-carlo").tail_probability
    assert drawn == pytest.approx(bayesian_friedman_test(many).tail_probability, abs=0.03)


def every_order(m):
    """Ranks of all orders of m candidates, with ties."""
    return {tuple(stats.rankdata(p)) for p in itertools.product(range(m), repeat=m)}


@pytest.mark.parametrize(("n", "m", "levels"), [(4, 3, 10**6), (9, 3, 3), (20, 4, 10**6)])
@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0])
def test_idp_against_each_prior_order(n, m, levels, strength):
    scores = noisy(11, n, m, levels) - np.arange(m) * levels / 5
    found = idp_friedman_test(scores, strength=strength)
    tails = [
        bayesian_friedman_test(scores, strength=strength, prior_ranks=order).tail_probability
        for order in every_order(m)
    ]
    assert (found.lower, found.upper) == pytest.approx((min(tails), max(tails)), rel=1e-6)
    rejected = {tail < 0.05 for tail in tails}
    words = {True: "different", False: "no difference"}
    assert found.decision == (words[rejected.pop()] if len(rejected) == 1 else "indeterminate")


def test_idp_of_alike_and_of_identical_candidates():
    assert idp_friedman_test(np.ones((5, 3))).decision == "no difference"
    sure = idp_friedman_test([[0, 1, 2]] * 40)
    assert (sure.decision, sure.lower) == ("different", 0.0)
    twins = noisy(12, 20, 3)
    twins[:, 2] = twins[:, 1]
    ranks = stats.rankdata(twins, axis=1)
    tails = []
    for order in every_order(3):  # a pseudo-inverse has no singular case
        atoms, weights = np.vstack([order, ranks]) - 2.0, np.ones(21)
        mean, second = weights @ atoms / 21, atoms.T @ atoms / 21
        q = mean @ np.linalg.pinv(second, hermitian=True, rtol=1e-9) @ mean
        tails.append(stats.f.sf(22 * q / (1 - q) * 18 / (19 * 2), 2, 18))
    found = idp_friedman_test(twins)
    assert (found.lower, found.upper) == pytest.approx((min(tails), max(tails)), rel=1e-6)


@pytest.mark.parametrize(("n", "m"), [(20, 8), (3, 4)])
def test_idp_refuses_too_many_candidates_and_too_few_blocks(n, m):
    with pytest.raises(ScoresError, match=r"7 candidates at most.*as many blocks as candidates"):
        idp_friedman_test(noisy(13, n, m))
