"""The hierarchical model of folds on many data sets."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, stdtr

from racer.errors import ScoresError, SettingError
from racer.stats import Regions, hierarchical_t_test

RHO, ROPE = 0.2, 0.1


def drawn(deltas, sigmas, n=5, rho=RHO, seed=0):
    """Return scores of x and y on folds whose differences have the model's law."""
    rng, q = np.random.default_rng(seed), len(deltas)
    shared = math.sqrt(rho) * rng.normal(size=(q, 1))
    noise = shared + math.sqrt(1.0 - rho) * rng.normal(size=(q, n))
    x = rng.normal(size=(q, n))
    return x, x + np.array(deltas)[:, None] + np.array(sigmas)[:, None] * noise


def quadrature(gaps, rho, rope):
    """Return the three kinds of probabilities, and the shrunk estimates, by sums over a grid.

    Differences (q, n) of few data sets. sigma_i is integrated out by hand, delta_i over a grid
    around delta_0 in units of sigma_0, the rest over a grid of delta_0, log sigma_0 and log nu.
    """
    n = gaps.shape[1]
    means, spread = gaps.mean(axis=1), gaps.std(axis=1, ddof=1)
    within = (n - 1) * spread**2 / (1.0 - rho)
    inflation = (1.0 + (n - 1) * rho) / n
    middle, half = means.mean(), 12.0 * (means.std(ddof=1) + spread.mean())
    bound = np.abs(gaps).max()
    delta0 = middle + half * np.sinh(np.linspace(-4, 4, 121)) / math.sinh(4)
    weight0 = np.cosh(np.linspace(-4, 4, 121)) * (np.abs(delta0) <= bound)
    top = math.log(1000.0 * means.std(ddof=1))
    log_sigma0 = np.linspace(math.log(1e-3 * spread.mean()), top, 75)
    log_nu = np.linspace(math.log(0.02), math.log(300.0), 21)
    nu = np.exp(log_nu)
    inner = np.linspace(-11, 11, 241)
    unit = np.sinh(inner)
    kernel = np.exp(
        gammaln((nu + 1) / 2)
        - gammaln(nu / 2)
        - 0.5 * np.log(nu)
        - (nu + 1) / 2 * np.log1p(unit[:, None] ** 2 / nu)
    )
    kernel *= np.cosh(inner)[:, None]  # (nodes, nu)
    at = delta0[:, None, None] + np.exp(log_sigma0)[:, None] * unit  # (delta0, sigma0, nodes)
    log_posterior, shrunk = 0.0, []
    for mean, square in zip(means, within, strict=True):
        likelihood = (1.0 + (mean - at) ** 2 / inflation / square) ** (-(n - 1) / 2)
        mass = likelihood @ kernel
        log_posterior = log_posterior + np.log(mass)
        shrunk.append((likelihood * at) @ kernel / mass)
    grid = np.linspace(0, 1, 101)
    alpha, beta = 0.5 + 4.5 * grid[:, None, None], 0.05 + 0.1 * grid[:, None]
    prior = np.exp(alpha * np.log(beta * nu) - beta * nu - gammaln(alpha))
    prior = prior.mean(axis=(0, 1))  # of log nu
    posterior = np.exp(log_posterior - log_posterior.max()) * prior
    posterior *= weight0[:, None, None] * np.exp(log_sigma0)[:, None]
    posterior /= posterior.sum()
    d, s = delta0[:, None, None], np.exp(log_sigma0)[:, None]
    shares = [stdtr(nu, (-rope - d) / s), None, stdtr(nu, (d - rope) / s)]
    shares[1] = 1.0 - shares[0] - shares[2]
    largest = np.argmax(shares, axis=0)
    step = np.gradient(delta0)
    smooth = [
        np.clip(0.5 + gap / step, 0, 1)[:, None, None] for gap in (-rope - delta0, delta0 - rope)
    ]
    mean = [smooth[0], 1.0 - smooth[0] - smooth[1], smooth[1]]
    return (
        [float((posterior * share).sum()) for share in shares],
        [float((posterior * one).sum()) for one in mean],
        [float(posterior[largest == k].sum()) for k in range(3)],
        [float((posterior * one).sum()) for one in shrunk],
    )


@pytest.mark.parametrize(
    ("deltas", "sigmas"),
    [
        ([0.2, 0.3, 0.1, 0.25], [0.2, 0.3, 0.2, 0.1]),
        ([0.1, 0.0, 0.1, 0.05, 2.0], [0.1, 0.2, 0.2, 0.1, 0.1]),
    ],
    ids=["alike", "an outlier"],
)
def test_it_agrees_with_sums_over_a_grid(deltas, sigmas):
    x, y = drawn(deltas, sigmas)
    found = hierarchical_t_test(x, y, correlation=RHO, rope=ROPE)
    ahead, mean, largest, shrunk = quadrature(y - x, RHO, ROPE)
    bound = 4.0 * found.error
    assert found.error <= 0.004
    np.testing.assert_allclose(found.next_data_set, ahead, atol=bound)
    np.testing.assert_allclose(found.mean, mean, atol=bound)
    np.testing.assert_allclose(found.largest, largest, atol=bound)
    np.testing.assert_allclose(found.estimates, shrunk, atol=0.005)


def test_data_sets_far_apart_are_not_shrunk():
    x, y = drawn([0.0, 40.0, -60.0, 90.0], [0.3] * 4)
    found = hierarchical_t_test(x, y, correlation=RHO)
    np.testing.assert_allclose(found.estimates, found.means, atol=0.02)
    gaps, n = y - x, 5
    within = gaps.var(axis=1, ddof=1) * (n - 1) / (1.0 - RHO)
    scale = np.sqrt(within * (1.0 + (n - 1) * RHO) / n / (n - 2))  # sigma_i has a flat prior
    np.testing.assert_allclose(stdtr(n - 2, (found.lows - found.means) / scale), 0.025, atol=0.01)
    np.testing.assert_allclose(stdtr(n - 2, (found.highs - found.means) / scale), 0.975, atol=0.01)


def test_estimates_of_noisy_data_sets_are_shrunk_towards_the_others():
    deltas = np.random.default_rng(3).normal(0.2, 0.05, 20)
    x, y = drawn(deltas, [0.4] * 20, seed=4)
    found = hierarchical_t_test(x, y, correlation=RHO)
    assert np.std(found.estimates) < 0.5 * np.std(found.means)
    assert np.mean((found.estimates - deltas) ** 2) < 0.5 * np.mean((found.means - deltas) ** 2)
    assert ((found.lows < deltas) & (deltas < found.highs)).mean() >= 0.9
    np.testing.assert_array_equal(found.to_frame()["estimate"], found.estimates)


def test_units_direction_and_order_of_the_two_change_nothing_else():
    x, y = drawn([0.2, 0.3, -0.1, 0.25], [0.2, 0.3, 0.2, 0.1])
    found = hierarchical_t_test(x, y, correlation=RHO, rope=ROPE)
    larger = hierarchical_t_test(1024 * x, 1024 * y, correlation=RHO, rope=1024 * ROPE)
    assert larger.mean == found.mean
    assert larger.estimate == 1024 * found.estimate
    turned = hierarchical_t_test(-x, -y, correlation=RHO, rope=ROPE, maximize=True)
    assert turned.next_data_set == found.next_data_set
    swapped = hierarchical_t_test(y, x, correlation=RHO, rope=ROPE)
    np.testing.assert_allclose(swapped.mean[::-1], found.mean, atol=0.02)
    assert sum(found.next_data_set) == pytest.approx(1.0)
    assert sum(found.mean) == pytest.approx(1.0)
    assert sum(found.largest) == pytest.approx(1.0)


def test_without_a_rope_the_most_probable_side_is_that_of_the_mean():
    found = hierarchical_t_test(*drawn([0.1, 0.0, 0.1], [0.2, 0.3, 0.2]), correlation=RHO)
    np.testing.assert_allclose(found.largest, found.mean, atol=1e-12)
    assert found.next_data_set.equivalent == pytest.approx(0.0, abs=1e-12)


def test_data_sets_without_two_folds_are_left_out_and_those_without_noise_count():
    x, y = drawn([0.2, 0.3, 0.1, 0.25, 0.2], [0.2, 0.3, 0.2, 0.1, 0.1])
    x[3] = y[3]  # equal on all folds
    x[4, 1:] = np.nan
    y[0, 2] = np.nan
    found = hierarchical_t_test(x, y, correlation=RHO)
    assert found.n_dropped == 1
    assert found.means[3] == 0.0
    assert found.estimates[3] == pytest.approx(0.0, abs=1e-3)
    assert found.means[0] == pytest.approx(np.nanmean((y - x)[0]))


@pytest.mark.parametrize(
    ("gap", "rope", "sure"),
    [
        (0.0, 0.0, Regions(0.5, 0.0, 0.5)),
        (0.0, 0.1, Regions(0.0, 1.0, 0.0)),
        (0.5, 0.1, Regions(0.0, 0.0, 1.0)),
        (-0.5, 0.0, Regions(1.0, 0.0, 0.0)),
    ],
)
def test_the_same_difference_everywhere_has_a_defined_answer(gap, rope, sure):
    x = np.arange(12.0).reshape(3, 4)
    found = hierarchical_t_test(x, x + gap, correlation=0.25, rope=rope)
    assert found.next_data_set == found.mean == found.largest == sure
    assert found.estimates.tolist() == [gap] * 3


def test_bad_input_is_refused():
    x = np.ones((3, 4))
    with pytest.raises(ScoresError, match="1 data set"):
        hierarchical_t_test(x[:1], x[:1], correlation=0.1)
    with pytest.raises(ScoresError, match="shape"):
        hierarchical_t_test(x, x[:2], correlation=0.1)
    with pytest.raises(ScoresError, match="infinite"):
        hierarchical_t_test(x, np.full((3, 4), np.inf), correlation=0.1)
    with pytest.raises(SettingError, match="correlation=1"):
        hierarchical_t_test(x, x, correlation=1.0)
    with pytest.raises(SettingError, match="rope=-1"):
        hierarchical_t_test(x, x, correlation=0.1, rope=-1.0)
