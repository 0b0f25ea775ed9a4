"""Have the chains met? R-hat and effective sample size (Vehtari et al. 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    total = within * (n - 1) / n + split.mean(axis=1).var(axis=0, ddof=1)
    total = np.where(total > 0.0, total, 1.0)
    rho = 1.0 - (within - covariance) / total
    pairs = rho[: n - n % 2].reshape(-1, 2, d).sum(axis=1)
    pairs[np.cumsum(pairs <= 0.0, axis=0) > 0] = 0.0
    pairs = np.minimum.accumulate(pairs, axis=0)
    time = np.maximum(2.0 * pairs.sum(axis=0) - 1.0, 1.0 / np.log10(m * n))
    return np.asarray(m * n / time)
