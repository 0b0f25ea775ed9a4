"""The engine on laws whose moments are known."""

import numpy as np
import pytest
from scipy import stats

from racer.errors import RacerWarning
from racer.stats._sampling import engine, sample
from racer.stats._sampling.chains import Sampler, effective_size, r_hat
from racer.stats._sampling.engine import choose, importance
from racer.stats._sampling.model import Laplace, find_mode
from racer.stats._sampling.summary import highest_density


class Normal:
    def __init__(self, mean, covariance):
        self.mean, self.precision = np.asarray(mean, float), np.linalg.inv(covariance)
        self.start = np.zeros(len(self.mean))

    def log_density(self, points):
        away = points - self.mean
        return -0.5 * np.einsum("ki,ij,kj->k", away, self.precision, away)

    def gradient(self, points):
        return -(points - self.mean) @ self.precision


class Gumbel:
    """Independent, skewed: mean Euler's constant, variance pi^2 / 6."""

    start = np.full(3, 2.0)

    def log_density(self, points):
        return -(points + np.exp(-points)).sum(axis=1)

    def gradient(self, points):
        return np.exp(-points) - 1.0


class Banana:
    """y ~ N(0, 1), x ~ N(1.5 y^2, 0.7^2): nothing normal fits it."""

    start = np.zeros(2)

    def log_density(self, points):
        x, y = points.T
        return -0.5 * y**2 - 0.5 * ((x - 1.5 * y**2) / 0.7) ** 2

    def gradient(self, points):
        x, y = points.T
        gap = (x - 1.5 * y**2) / 0.49
        return np.stack([-gap, -y + 3 * y * gap], axis=1)


class TwoPeaks(Normal):
    """Chains stay on the peak where they began."""

    def __init__(self):
        super().__init__([0.0], [[1.0]])

    def log_density(self, points):
        x = points[:, 0]
        return np.logaddexp(-0.5 * ((x - 2) / 0.05) ** 2, -0.5 * ((x + 2) / 0.05) ** 2)

    def gradient(self, points):
        x = points[:, :1]
        return -(x - 2 * np.where(x < 0, -1, 1)) / 0.05**2


COVARIANCE = np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.2], [0.0, 0.2, 0.01 + 0.05]])


def test_mode_of_a_normal_law_is_found_in_one_step():
    laplace = find_mode(Normal([1.0, -2.0, 3.0], COVARIANCE))
    np.testing.assert_allclose(laplace.mode, [1.0, -2.0, 3.0], atol=1e-6)
    np.testing.assert_allclose(laplace.factor @ laplace.factor.T, COVARIANCE, rtol=1e-5, atol=1e-8)


def test_mode_from_far_away():
    model = Gumbel()
    model.start = np.array([-6.0, 0.0, 30.0])
    np.testing.assert_allclose(find_mode(model).mode, 0.0, atol=1e-4)


@pytest.mark.parametrize("model", [Normal([1.0, -2.0, 3.0], COVARIANCE), Gumbel()])
def test_importance_and_chains_agree(model):
    rng = np.random.default_rng(3)
    share, laplace = choose(model, rng)
    weighted = importance(model, laplace, share, 20_000, rng)
    chains = Sampler(model, laplace, rng).run(1250)
    assert r_hat(chains).max() < 1.01
    flat = chains.reshape(-1, chains.shape[2])
    normal = isinstance(model, Normal)
    mean = model.mean if normal else np.full(3, np.euler_gamma)
    sd = np.sqrt(np.diag(COVARIANCE)) if normal else np.full(3, np.pi / np.sqrt(6))
    for draws in (weighted.draws, flat):
        np.testing.assert_allclose((draws.mean(axis=0) - mean) / sd, 0.0, atol=0.04)
        np.testing.assert_allclose(draws.std(axis=0) / sd, 1.0, atol=0.04)


@pytest.mark.filterwarnings("ignore::racer.errors.RacerWarning")  # slow to meet in the tails
def test_what_is_far_from_normal_is_left_to_chains():
    posterior, _ = sample([Banana()], 2000, 1)
    assert posterior.method == "hmc"
    assert posterior.r_hat < 1.05
    np.testing.assert_allclose(posterior.draws.mean(axis=0), [1.5, 0.0], atol=0.3)
    np.testing.assert_allclose(posterior.draws[:, 1].std(), 1.0, atol=0.1)


def test_the_coordinates_that_suit_best_are_taken():
    good = Normal([0.0, 0.0], np.eye(2))
    posterior, model = sample([Banana(), good], 500, 1)
    assert model is good
    assert posterior.method == "importance"
    assert posterior.converged


def test_same_seed_same_draws():
    first, second, third = (sample([Gumbel()], 300, seed)[0].draws for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, second)
    assert (first != third).any()


def test_same_seed_same_chains():
    laplace = find_mode(Gumbel())
    first, second = (Sampler(Gumbel(), laplace, np.random.default_rng(1)).run(20) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_chains_that_do_not_meet_are_told_of(monkeypatch):
    laplace = Laplace(np.zeros(1), np.ones((1, 1)))
    monkeypatch.setattr(engine, "choose", lambda *_: (0.0, laplace))
    monkeypatch.setattr(Sampler, "_whiten", lambda *_: None)
    monkeypatch.setattr(engine, "_ROUNDS", 2)
    with pytest.warns(RacerWarning, match=r"R-hat .*more draws"):
        posterior, _ = sample([TwoPeaks()], 400, 2)
    assert posterior.r_hat > 1.5
    assert not posterior.converged


class TestDiagnostics:
    def test_independent_draws(self):
        draws = np.random.default_rng(1).standard_cauchy((8, 500, 3))
        assert r_hat(draws).max() < 1.01
        assert effective_size(draws) == pytest.approx(4000, rel=0.15)

    def test_chains_apart_and_chains_of_unequal_width(self):
        draws = np.random.default_rng(1).normal(size=(4, 500, 2))
        draws[0, :, 0] += 1.0
        draws[0, :, 1] *= 3.0
        assert (r_hat(draws) > 1.05).all()

    @pytest.mark.parametrize("phi", [0.5, 0.9, -0.5])
    def test_autoregression(self, phi):
        """Effective size n (1 - phi) / (1 + phi)."""
        noise = np.random.default_rng(2).normal(size=(8, 4000))
        draws = np.empty_like(noise)
        draws[:, 0] = noise[:, 0] / np.sqrt(1 - phi**2)
        for t in range(1, 4000):
            draws[:, t] = phi * draws[:, t - 1] + noise[:, t]
        expected = draws.size * (1 - phi) / (1 + phi)
        assert effective_size(draws[:, :, None])[0] == pytest.approx(expected, rel=0.15)

    def test_stuck_chains(self):
        still = np.ones((4, 100, 1))
        assert r_hat(still)[0] == 1.0
        still[0] = 2.0
        assert r_hat(still)[0] > 1000


def test_highest_density():
    draws = np.random.default_rng(4).exponential(size=(100_000, 2))
    low, high = highest_density(draws, 0.89)
    np.testing.assert_allclose(low, 0.0, atol=0.01)
    np.testing.assert_allclose(high, stats.expon.ppf(0.89), atol=0.05)
    assert highest_density(draws[:5, :1], 1.0)[1] == draws[:5, 0].max()
