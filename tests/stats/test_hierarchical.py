"""The hierarchical model of folds on many data sets."""

import math

import numpy as np
import pytest
from scipy.special import gammaln, stdtr

from racer.errors import ScoresError
from racer.stats import Regions, hierarchical_t_test

RHO, ROPE = 0.2, 0.1


def drawn(deltas, sigmas, n=5, rho=RHO, seed=0):
    """Return scores of x and y on folds whose differences have the model's law."""
    rng, q = np.random.default_rng(seed), len(deltas)
    shared = math.sqrt(rho) * rng.normal(size=(q, 1))
    noise = shared + math.sqrt(1.0 - rho) * rng.normal(size=(q, n))
    x = rng.normal(size=(q, n))
    return x, x + np.array(deltas)[:, None] + np.array(sigmas)[:, None] * noise


def grid_posterior(gaps, rho, rope):
    """Return the three kinds of probabilities, and the shrunk estimates, by sums over a grid.

    In the units of the differences (q, n), as they are. sigma_i is integrated out by hand; delta_i
    over nodes dense around its mean and around delta_0; the rest over a grid of delta_0, log
    sigma_0 and log nu.
    """
    n = (~np.isnan(gaps)).sum(axis=1)
    means, spreads = np.nanmean(gaps, axis=1), np.nanstd(gaps, axis=1, ddof=1)
    within, inflation = (n - 1) * spreads**2 / (1.0 - rho), (1.0 + (n - 1) * rho) / n
    bound, middle = np.nanmax(np.abs(gaps)), np.median(means)
    outwards = np.sinh(np.linspace(0, 7, 41)) / math.sinh(7)
    below, above = middle - (middle + bound) * outwards[:0:-1], middle + (bound - middle) * outwards
    delta0 = np.concatenate([below, above])
    log_sigma0 = np.linspace(math.log(1e-3 * spreads.mean()), math.log(1e3 * means.std(ddof=1)), 45)
    sigma0, nu = np.exp(log_sigma0), np.exp(np.linspace(math.log(0.02), math.log(300.0), 10))
    d, s = delta0[:, None, None], sigma0[:, None]
    unit = np.sinh(np.linspace(-10, 10, 31))
    shape = (len(delta0), len(sigma0), len(unit))
    log_posterior, shrunk = 0.0, []
    for mean, square, factor, folds in zip(means, within, inflation, n, strict=True):
        width = math.sqrt(factor * square / (folds - 1))
        nodes = [np.broadcast_to(at, shape) for at in (d + s * unit, mean + width * unit)]
        nodes = np.sort(np.concatenate(nodes, axis=2), axis=2)
        weights = steps(nodes)
        weights *= (1.0 + (mean - nodes) ** 2 / factor / square) ** (-(folds - 1) / 2)
        far = ((nodes - d) / s) ** 2
        mass, first = np.empty((2, len(delta0), len(sigma0), len(nu)))
        for k, v in enumerate(nu):
            constant = gammaln((v + 1) / 2) - gammaln(v / 2) - 0.5 * math.log(v)
            density = np.log1p(far / v)
            density *= -(v + 1) / 2
            density = np.exp(density, out=density)
            density *= weights
            scale = np.exp(constant) / sigma0
            mass[:, :, k] = scale * density.sum(axis=2)
            first[:, :, k] = scale * np.einsum("dsn,dsn->ds", density, nodes)
        log_posterior = log_posterior + np.log(mass)
        shrunk.append(first / mass)
    middles = (np.arange(100) + 0.5) / 100
    alpha, beta = 0.5 + 4.5 * middles[:, None, None], 0.05 + 0.1 * middles[:, None]
    prior = np.exp(alpha * np.log(beta * nu) - beta * nu - gammaln(alpha))
    prior = prior.mean(axis=(0, 1))  # of log nu
    posterior = np.exp(log_posterior - log_posterior.max()) * prior * s
    posterior *= steps(delta0)[:, None, None]
    posterior /= posterior.sum()
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


def steps(nodes):
    """Return the weights of the trapezoid rule, along the last axis."""
    gaps, weights = np.diff(nodes) / 2, np.zeros(nodes.shape)
    weights[..., 1:] += gaps
    weights[..., :-1] += gaps
    return weights


CASES = {
    "an outlier": {"deltas": [0.1, 0.0, 0.1, 0.05, 2.0], "sigmas": [0.1, 0.2, 0.2, 0.1, 0.1]},
    "two data sets": {"deltas": [0.2, 0.3], "sigmas": [0.2, 0.2], "n": 10},
    "unlike in mean and noise": {
        "deltas": [0.5, -0.8, 0.2, 1.5, -0.1, 0.05],
        "sigmas": [0.05, 0.3, 0.6, 0.1, 0.2, 1.0],
        "n": 10,
        "rho": 0.1,
    },
    "equal, all noise": {"deltas": [0.0] * 5, "sigmas": [1.0] * 5, "n": 10, "rho": 0.1},
    "apart a thousandfold": {"deltas": [3.0, -40.0, 8.0, 0.1], "sigmas": [0.01, 1.0, 0.1, 0.02]},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_agrees_with_sums_over_a_grid(case):
    x, y = drawn(**case, seed=1)
    y[0, :2] = np.nan  # unequal numbers of folds
    rho = case.get("rho", RHO)
    found = hierarchical_t_test(x, y, correlation=rho, rope=ROPE)
    ahead, mean, largest, shrunk = grid_posterior(y - x, rho, ROPE)
    bound = 4.0 * found.error
    assert found.error <= 0.004
    np.testing.assert_allclose(found.next_data_set, ahead, atol=bound)
    np.testing.assert_allclose(found.mean, mean, atol=bound)
    np.testing.assert_allclose(found.largest, largest, atol=bound)
    width = float(np.max(found.highs - found.lows))
    np.testing.assert_allclose(found.estimates, shrunk, atol=0.01 * width)


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


@pytest.fixture(name="in_one_unit", scope="module")
def _in_one_unit():
    x, y = drawn([0.2, 0.3, -0.1, 0.25], [0.2, 0.3, 0.2, 0.1])
    return x, y, hierarchical_t_test(x, y, correlation=RHO, rope=ROPE)


def test_there_is_no_scale_to_choose(in_one_unit):
    """The priors are in units of the data: any other unit gives the same posterior."""
    unit, (x, y, found) = 3e-9, in_one_unit
    other = hierarchical_t_test(unit * x, unit * y, correlation=RHO, rope=unit * ROPE)
    np.testing.assert_allclose(other.next_data_set, found.next_data_set, rtol=1e-9)
    np.testing.assert_allclose(other.largest, found.largest, rtol=1e-9)
    np.testing.assert_allclose(other.estimates, unit * found.estimates, rtol=1e-9)


def test_units_direction_and_order_of_the_two_change_nothing_else(in_one_unit):
    x, y, found = in_one_unit
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
