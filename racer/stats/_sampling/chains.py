"""Chains: Hamiltonian Monte Carlo in coordinates whitened at the mode, and whether chains have met.

R-hat and effective sample size follow Vehtari et al. (2021).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.stats._sampling.model import Laplace, in_parts, log_density, on_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.stats._sampling.model import Model

CHAINS = 16
_WARM_UP = 120
_ACCEPT = 0.8
_DIVERGED = 1000.0
_SMALL, _OFTEN = 0.25, 0.2
_PER_COORDINATE = 30  # points needed to see a covariance


class Sampler:
    """Chains of quarter turns, the step tuned by dual averaging (Hoffman and Gelman 2014, 3.2)."""

    def __init__(self, model: Model, laplace: Laplace, rng: np.random.Generator) -> None:
        self._model, self._laplace, self._rng = model, laplace, rng
        self._z = rng.standard_normal((CHAINS, len(laplace.mode)))
        self._value = log_density(model, laplace.at(self._z))
        self._step = 1.0 / max(len(laplace.mode), 1) ** 0.25
        self.divergences = 0  # trajectories of the last run that broke off
        seen = self._warm_up()
        if _PER_COORDINATE * len(laplace.mode) <= len(seen):
            self._whiten(seen)
            self._warm_up()

    def run(self, n: int) -> NDArray[np.float64]:
        """Return the next n draws of each chain, shape (CHAINS, n, d)."""
        self.divergences = 0
        draws = np.empty((CHAINS, n, self._z.shape[1]))
        for k in range(n):
            # a shorter step now and then, for regions that the tuned step cannot enter
            self._move(self._step * (_SMALL if self._rng.random() < _OFTEN else 1.0))
            draws[:, k] = self._laplace.at(self._z)
        return draws

    def _whiten(self, seen: NDArray[np.float64]) -> None:
        """Whiten by the moments of the draws so far, in place of the mode's."""
        points = self._laplace.at(self._z)
        self._laplace = Laplace(
            seen.mean(axis=0), np.linalg.cholesky(np.atleast_2d(np.cov(seen.T)))
        ).rounded()
        whitened = np.linalg.solve(self._laplace.factor, (points - self._laplace.mode).T).T
        self._z = on_grid(np.asarray(whitened, np.float64))

    def _warm_up(self) -> NDArray[np.float64]:
        """Tune the step; return the points of the second half."""
        centre, error, average = np.log(2.0 * self._step), 0.0, 0.0
        log_step, seen = np.log(self._step), []
        for t in range(1, _WARM_UP + 1):
            accepted = self._move(float(np.exp(log_step)))
            error += (_ACCEPT - accepted - error) / (t + 10.0)
            log_step = centre - np.sqrt(t) / 0.05 * error
            average += t**-0.75 * (log_step - average)
            seen.append(self._laplace.at(self._z))
        self._step = float(np.exp(average))
        return np.concatenate(seen[_WARM_UP // 2 :])

    def _gradient(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        gradient = in_parts(self._model.gradient, self._laplace.at(z)) @ self._laplace.factor
        return np.asarray(gradient)

    def _move(self, step: float) -> float:
        """Make one move with each chain; return the mean probability of acceptance."""
        # random lengths: a fixed one may return each trajectory to its start (Neal 2011)
        step *= self._rng.uniform(0.85, 1.15)
        length = np.pi / 2.0 * self._rng.uniform(0.6, 1.4)
        leaps = min(max(round(length / step), 1), 64)
        start = self._rng.standard_normal(self._z.shape)
        z, momentum = self._z, start + step / 2.0 * self._gradient(self._z)
        with np.errstate(all="ignore"):
            for leap in range(leaps):
                z = z + step * momentum
                momentum = momentum + (step if leap < leaps - 1 else step / 2.0) * self._gradient(z)
            z = on_grid(z)
            value = log_density(self._model, self._laplace.at(z))
            gain = value - self._value - ((momentum**2).sum(axis=1) - (start**2).sum(axis=1)) / 2.0
        gain[np.isnan(gain)] = -np.inf
        self.divergences += int((gain < -_DIVERGED).sum())
        chance = np.exp(np.minimum(gain, 0.0))
        taken = self._rng.random(len(z)) < chance
        self._z = np.where(taken[:, None], z, self._z)
        self._value = np.where(taken, value, self._value)
        return float(on_grid(chance.mean()))


def _halves(chains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Split each chain in two: (m, n, d) to (2 m, n // 2, d)."""
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, -half:]])


def _normal_scores(chains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace draws by the normal quantiles of their ranks among all chains (their eq. 14)."""
    from scipy.special import ndtri  # noqa: PLC0415
    from scipy.stats import rankdata  # noqa: PLC0415

    flat = chains.reshape(-1, chains.shape[2])
    ranks = rankdata(flat, axis=0)
    return np.asarray(ndtri((ranks - 0.375) / (len(flat) + 0.25))).reshape(chains.shape)


def _split_r_hat(chains: NDArray[np.float64]) -> NDArray[np.float64]:
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    between = chains.mean(axis=1).var(axis=0, ddof=1)
    ratio = np.ones(chains.shape[2])
    moves = within > 0.0
    ratio[moves] = np.sqrt((n - 1) / n + between[moves] / within[moves])
    ratio[~moves & (between > 0.0)] = np.inf
    return ratio


def r_hat(chains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank-normalised split R-hat, larger of bulk and folded, of chains (m, n, d)."""
    split = _halves(chains)
    folded = np.abs(split - np.median(split, axis=(0, 1)))
    return np.maximum(_split_r_hat(_normal_scores(split)), _split_r_hat(_normal_scores(folded)))


def effective_size(chains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rank-normalised effective number of draws (bulk ESS), by their eq. 10 to 13."""
    split = _normal_scores(_halves(chains))
    m, n, d = split.shape
    centred = split - split.mean(axis=1, keepdims=True)
    # padded to 2 n, so that no lag wraps around
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    total = within * (n - 1) / n + split.mean(axis=1).var(axis=0, ddof=1)
    total = np.where(total > 0.0, total, 1.0)
    rho = 1.0 - (within - covariance) / total
    pairs = rho[: n - n % 2].reshape(-1, 2, d).sum(axis=1)
    # Geyer (1992): pairs of lags up to the first that is not positive, made nonincreasing
    pairs[np.cumsum(pairs <= 0.0, axis=0) > 0] = 0.0
    pairs = np.minimum.accumulate(pairs, axis=0)
    # Stan's bound: antithetic chains count as at most m n log10(m n) draws
    time = np.maximum(2.0 * pairs.sum(axis=0) - 1.0, 1.0 / np.log10(m * n))
    return np.asarray(m * n / time)
