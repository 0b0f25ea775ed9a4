"""The Bayesian Friedman test: whether the point "all mean ranks equal" is credible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from racer._checks import check_draws, check_fraction, check_strength
from racer.seeding import check_seed, rng_for
from racer.stats._validation import complete_blocks, frozen
from racer.stats.friedman import RankSums, centred, chi_square, iman_davenport
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Gate = Literal["bayesian", "iman-davenport"]


class GateResult(NamedTuple):
    """Which omnibus test was used, its F statistic, and the tail probability beyond it."""

    gate: Gate
    f_statistic: float
    tail_probability: float


@dataclass(frozen=True, eq=False)
class BayesianFriedmanResult:
    """Result of `bayesian_friedman_test`.

    Attributes
    ----------
    rejected : bool
        The point "all mean ranks equal" lies outside the credible region.
    gate : {"bayesian", "iman-davenport"}
        Which test decided: the second where there are fewer blocks than candidates, or where
        the posterior covariance is singular.
    f_statistic : float
        Of that test, to be compared with `threshold`.
    threshold : float
        The F quantile at `confidence`.
    tail_probability : float
        Posterior probability outside the credible region that just contains the point (for
        "iman-davenport" the p-value); rejected when below 1 - confidence.
    mean_ranks : ndarray, shape (m,)
        Posterior means of the expected ranks (eq. 16).
    covariance : ndarray, shape (m, m)
        Their posterior covariance (eq. 17); of rank m - 1 at most, as ranks sum to a constant.
    confidence, strength : float
    n_blocks, n_dropped : int
        Complete blocks used, and blocks left out because of NaN.

    Examples
    --------
    >>> from racer.stats import bayesian_friedman_test
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> result = bayesian_friedman_test(scores)
    >>> result.rejected, round(result.tail_probability, 4)
    (True, 0.0074)
    """

    rejected: bool
    gate: Gate
    f_statistic: float
    threshold: float
    tail_probability: float
    mean_ranks: NDArray[np.float64]
    covariance: NDArray[np.float64]
    confidence: float
    strength: float
    n_blocks: int
    n_dropped: int


def posterior_moments(
    n: int, deviation: NDArray[np.float64], gram: NDArray[np.float64], strength: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and covariance of the expected ranks about (m+1)/2, exact under Dirichlet weights.

    With a0 = s + n: mu = sum_j r_j / a0 (eq. 16), Sigma = (sum_j r_j r_j' / a0 - mu mu') / (a0 + 1)
    (eq. 17).
    """
    total = strength + n
    mean = deviation / total
    return mean, (gram / total - np.outer(mean, mean)) / (total + 1.0)


def _mahalanobis(mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> float | None:
    """Return mu' Sigma^-1 mu without the last coordinate; None where Sigma is singular."""
    try:
        factor = np.linalg.cholesky(covariance[:-1, :-1])
    except np.linalg.LinAlgError:
        return None
    diagonal = factor.diagonal()
    if diagonal.min() <= 1e-6 * diagonal.max():
        return None
    whitened = np.linalg.solve(factor, mean[:-1])
    return float(whitened @ whitened)


def gate_test(r: RankSums, gram: NDArray[np.float64], strength: float) -> GateResult:
    """Bayesian from m blocks on where it can be used, else Iman and Davenport's F."""
    from scipy.special import fdtrc  # noqa: PLC0415

    n, m = r.n, r.m
    if n >= m:
        distance = _mahalanobis(*posterior_moments(n, r.deviation, gram, strength))
        if distance is not None:
            f = distance * (n - m + 1) / ((n - 1) * (m - 1))  # eq. 19
            return GateResult("bayesian", f, float(fdtrc(m - 1, n - m + 1, f)))
    return GateResult("iman-davenport", *iman_davenport(chi_square(r), n, m))


@lru_cache(maxsize=1024)
def _f_quantile(d1: int, d2: int, confidence: float) -> float:
    from scipy.special import fdtri  # noqa: PLC0415

    return float(fdtri(d1, d2, confidence)) if d2 > 0 else np.inf


def bayesian_friedman_test(
    scores: ArrayLike, *, confidence: float = 0.95, strength: float = 1.0, maximize: bool = False
) -> BayesianFriedmanResult:
    """Test whether all candidates have the same mean rank, by a credible region.

    The posterior of the vector of expected ranks, under a Dirichlet process whose prior atom
    has all candidates equal, is taken as elliptical; the hypothesis that all equal (m+1)/2 is
    rejected when that point lies outside the region of the given probability. Ties share
    average ranks; blocks with NaN are left out and counted.

    The region needs n >= m blocks. With fewer, and where the covariance is singular (two
    identical candidates), Iman and Davenport's F decides instead, and `gate` says so.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better.
    confidence : float in (0, 1)
        1 - gamma of the paper.
    strength : float >= 0
        Weight s of the prior atom. 0 is the Bayesian bootstrap: its mean ranks are the
        classical ones, but it rejects true hypotheses more often.
    maximize : bool
        Larger is better.

    Returns
    -------
    BayesianFriedmanResult

    Raises
    ------
    ScoresError
        Fewer than two candidates, no complete block, or values that are not numbers.
    SettingError
        confidence or strength out of range.

    References
    ----------
    Benavoli et al. (ICML 2015), section 5.2, eq. 14-19.

    Examples
    --------
    >>> result = bayesian_friedman_test([[0, 1, 2]] * 20 + [[0, 2, 1]] * 10)
    >>> result.rejected, result.gate
    (True, 'bayesian')
    >>> result.mean_ranks.round(3).tolist()
    [1.032, 2.323, 2.645]
    """
    check_fraction(confidence, "confidence")
    check_strength(strength)
    blocks = complete_blocks(scores, maximize=maximize)
    ranks = centred(ranks_of(blocks.costs))
    n, m = ranks.shape
    r, gram = RankSums(n, ranks.sum(axis=0), float((ranks**2).sum())), ranks.T @ ranks
    result = gate_test(r, gram, strength)
    mean, covariance = posterior_moments(n, r.deviation, gram, strength)
    d2 = n - m + 1 if result.gate == "bayesian" else (m - 1) * (n - 1)
    return BayesianFriedmanResult(
        rejected=result.tail_probability < 1.0 - confidence,
        gate=result.gate,
        f_statistic=result.f_statistic,
        threshold=_f_quantile(m - 1, d2, confidence),
        tail_probability=result.tail_probability,
        mean_ranks=frozen(mean + (m + 1) / 2.0),
        covariance=frozen(covariance),
        confidence=confidence,
        strength=strength,
        n_blocks=n,
        n_dropped=blocks.dropped,
    )


def probability_best(
    scores: ArrayLike, *, draws: int = 10_000, seed: int = 0, maximize: bool = False
) -> NDArray[np.float64]:
    """Posterior probability that each candidate has the smallest expected rank.

    The fraction of Dirichlet draws of the block weights (eq. 15); candidates that tie in a draw
    share it. The prior's strength does not matter: its atom has all candidates equal.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better. Blocks with NaN are left
        out.
    draws : int >= 100
    seed : int >= 0
        Same seed, same answer.
    maximize : bool
        Larger is better.

    Returns
    -------
    ndarray, shape (m,)
        Sums to 1.

    Raises
    ------
    ScoresError
        Fewer than two candidates, no complete block, or values that are not numbers.
    SettingError
        draws or seed out of range.

    References
    ----------
    Benavoli et al. (ICML 2015), eq. 15.

    Examples
    --------
    >>> probability_best([[0, 1, 1]] * 8).tolist()
    [1.0, 0.0, 0.0]
    """
    check_draws(draws)
    rng = rng_for(check_seed(seed), "probability-best")
    ranks = centred(ranks_of(complete_blocks(scores, maximize=maximize).costs))
    total = np.zeros((draws, ranks.shape[1]))
    for start in range(0, len(ranks), 256):
        part = ranks[start : start + 256]
        total += rng.standard_exponential((draws, len(part))) @ part
    best = total <= total.min(axis=1, keepdims=True) + 1e-9 * len(ranks)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))
