"""What failures say of candidates: nothing, if all fail by chance, or the share of each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts are imported when they are used

from racer.stats.smallest import Failing

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RATES = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5])  # means of beta laws of shares that fail
_WEIGHTS = np.array([2.0, 5.0, 10.0, 20.0, 50.0])  # evaluations that such a law counts as
_NEVER = (np.arange(12) + 0.5) / 12.0  # shares of candidates that never fail
_NEGLIGIBLE = 2e-3  # probability that all is chance
_SPREADS = np.array(
    [0.003, 0.01, 0.03, 0.1, 0.3, 1.0]
)  # variances of shares, relative to that of one failure
_OWN = 0.2  # of the variance of a share: what alike candidates do not have alike
_SURE = 1e-9  # variance of a share, relative to that of a failure, at least


def failing_at(
    price: float,
    costs: NDArray[np.float64],
    kernels: NDArray[np.float64] | None,
    *,
    may_be_chance: bool,
) -> Failing | None:
    """Return the model of failures, +inf in costs (n, m), at a price for each; None without any.

    Where candidates are more or less alike, `kernels` (k, m, m), those that are alike fail alike.
    """
    is_failed = costs == np.inf
    if not is_failed.any():
        return None
    failed, ok = is_failed.sum(axis=0), np.isfinite(costs).sum(axis=0)
    found = _by_chance(failed, ok, price) if may_be_chance else None
    kernel = None if kernels is None else kernels.mean(axis=0)
    if kernel is not None and np.trace(kernel) > 0.0:
        own = _by_likeness(failed, failed + ok, kernel, price)
        if found is None or not found.by_chance:
            return own
        by_chance = found.by_chance * _unlike(failed, failed + ok, kernel)
        return own._replace(by_chance=by_chance / max(by_chance + 1.0 - found.by_chance, 1e-300))
    if found is not None:
        return found
    never = float(((failed == 0).sum() + 1.0) / (len(failed) + 2.0))
    by_luck = (1.0 - never) / (failed + ok + 1.0)
    reliable = np.where(failed == 0, never / (never + by_luck), 0.0)
    return Failing(price, reliable, failed + 1.0, ok + 1.0)


def _by_chance(failed: NDArray[np.intp], ok: NDArray[np.intp], price: float) -> Failing:
    """Return the model of failures, (m,) beside what was evaluated, that may be nobody's own.

    Either all candidates fail at one rate, or some never, and each of the others at a rate of its
    own. Those have a beta law; it and the share of those that never fail are averaged over a grid,
    and a candidate's own law has the moments of the average.
    """
    log_beta = scipy.special.betaln
    mean, weight = np.meshgrid(_RATES, _WEIGHTS)
    law = np.stack([mean * weight, (1.0 - mean) * weight]).reshape(2, -1, 1)
    a, b = law[0] + failed, law[1] + ok
    own = (log_beta(a, b) - log_beta(*law))[:, None]  # (laws, shares, m)
    never, sometimes = np.log(_NEVER)[:, None], np.log1p(-_NEVER)[:, None]
    each = np.where(failed == 0, np.logaddexp(never, sometimes + own), sometimes + own)
    fit = each.sum(axis=2, keepdims=True)
    total = scipy.special.logsumexp(fit)
    fails = np.exp(fit - total + sometimes + own - each)  # (laws, shares, m): that it may fail, too
    some = fails.sum(axis=(0, 1))
    parts = fails.sum(axis=1) / some
    rate = (parts * a / (a + b)).sum(axis=0)
    square = (parts * a * (a + 1.0) / ((a + b) * (a + b + 1.0))).sum(axis=0)
    count = rate * (1.0 - rate) / (square - rate**2) - 1.0
    alike = log_beta(failed.sum() + 1.0, ok.sum() + 1.0)
    chance = float(scipy.special.expit(alike - (total - math.log(fit.size))))
    chance = chance if chance > _NEGLIGIBLE else 0.0
    reliable = np.where(failed == 0, np.maximum(1.0 - some, 0.0), 0.0)
    return Failing(price, reliable, rate * count, (1.0 - rate) * count, chance)


def _by_likeness(
    failed: NDArray[np.intp], tried: NDArray[np.intp], kernel: NDArray[np.float64], price: float
) -> Failing:
    """Return the model of failures, (m,) of so many tries, that alike candidates have alike.

    A candidate's share has a beta law before its own evaluations, with the moments of what a
    Gaussian process expects of it by those of the others: with this kernel (m, m), and
    some variances, weighted by their likelihoods. Of a candidate that was never tried, nothing is
    known.
    """
    known = tried > 0
    n, share = tried[known], failed[known] / tried[known]
    rate = (failed.sum() + 0.5) / (tried.sum() + 1.0)
    kernel = kernel[np.ix_(known, known)]
    kernel = (1.0 - _OWN) * kernel / max(np.trace(kernel) / len(n), _SURE) + _OWN * np.eye(len(n))
    root = np.sqrt(n)
    values, vectors = np.linalg.eigh(root[:, None] * kernel * root)
    along = vectors.T @ (np.sqrt(n) * (share - rate))
    inverse = 1.0 / (_SPREADS[:, None] * np.maximum(values, 0.0) + 1.0)  # (spreads, k)
    single = rate * (1.0 - rate)
    fit = 0.5 * (np.log(inverse) - inverse * along**2 / single).sum(axis=1)
    weights = np.exp(fit - fit.max())
    weights /= weights.sum()
    precision = n * (inverse @ vectors.T**2)  # of what others say of it and its own, (spreads, k)
    means = share - np.sqrt(n) * ((inverse * along) @ vectors.T) / precision
    variances = single * np.maximum(1.0 / precision - 1.0 / n, _SURE)
    middle = weights @ means
    variance = weights @ (variances + (means - middle) ** 2)
    least = 0.5 / (tried.sum() + 1.0)
    mean = np.clip(middle, least, 1.0 - least)
    count = np.maximum(mean * (1.0 - mean) / variance - 1.0, 1.0)
    a, b = np.ones(len(tried)), np.ones(len(tried))
    a[known], b[known] = (
        mean * count + failed[known],
        (1.0 - mean) * count + (tried - failed)[known],
    )
    return Failing(price, np.zeros(len(tried)), a, b)


def _unlike(
    failed: NDArray[np.intp], tried: NDArray[np.intp], kernel: NDArray[np.float64]
) -> float:
    """Return how likely it is that alike candidates fail alike no less, if failures are chance.

    In (0, 1]; of failures (m,) among so many tries, and a kernel (m, m): a normal density, of the
    covariance of what fails more than all do with the kernel, relative to its largest.
    """
    known = tried > 0
    rate = failed.sum() / tried.sum()
    apart = (failed - rate * tried)[known] / np.sqrt(rate * (1.0 - rate) * tried[known])
    kernel = kernel[np.ix_(known, known)]
    kernel = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    np.fill_diagonal(kernel, 0.0)
    spread = math.sqrt(2.0 * float((kernel**2).sum()))
    excess = max(float(apart @ kernel @ apart), 0.0)
    return math.exp(-0.5 * (excess / spread) ** 2) if spread > 0.0 else 1.0
