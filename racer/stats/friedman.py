"""The Friedman test, as chi-square and as F, and the Bayesian one, which has a credible region."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import scipy  # its parts are imported when they are used

from racer._checks import as_floats, check_draws, check_fraction, check_strength, choice
from racer.errors import SettingError
from racer.seeding import check_seed, rng_for
from racer.stats._validation import complete_blocks, frozen
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class RankSums(NamedTuple):
    """Sufficient statistics of n blocks of m candidates for tests of the Friedman family."""

    n: int
    deviation: NDArray[np.float64]  # R_i - n(m+1)/2, per candidate
    within: float  # sum of (r_ij - (m+1)/2)^2 over all cells: A - n m (m+1)^2 / 4

    @classmethod
    def of(cls, ranks: NDArray[np.float64]) -> RankSums:
        """Return the sums of centred ranks (n, m)."""
        return cls(len(ranks), ranks.sum(axis=0), float(np.vdot(ranks, ranks)))

    @property
    def m(self) -> int:
        """Number of candidates."""
        return len(self.deviation)

    @property
    def spread(self) -> float:
        """Sum over candidates of (R_i - n(m+1)/2)^2."""
        return float(self.deviation @ self.deviation)

    @property
    def mean_ranks(self) -> NDArray[np.float64]:
        """R_i / n."""
        return np.asarray(self.deviation / self.n + (self.m + 1) / 2.0)


def chi_square(r: RankSums) -> float:
    """Return Friedman's Q, tie-corrected: (m-1) sum(R_i - n(m+1)/2)^2 / (A - n m (m+1)^2 / 4)."""
    return (r.m - 1) * r.spread / r.within if r.within > 0.0 else 0.0


def iman_davenport(statistic: float, n: int, m: int) -> tuple[float, float]:
    """Return F_F = (n-1) Q / (n(m-1) - Q) of a Friedman statistic Q (1980), and its p-value.

    When all are alike, every block has the same order of them with probability 1/m!^(n-1): the
    p-value, an approximation, is at least that.
    """
    if n < 2 or statistic <= 0.0:
        return 0.0, 1.0
    left = n * (m - 1) - statistic
    least = least_p_value(n, m)
    if left <= 1e-12 * n * (m - 1):  # every block ranks the candidates alike
        return np.inf, least
    f = (n - 1) * statistic / left
    return f, max(least, float(scipy.special.fdtrc(*iman_davenport_df(n, m), f)))


def least_p_value(n: int, m: int) -> float:
    """Return the probability that n blocks have the same order of m candidates that are alike."""
    return math.exp(-(n - 1) * math.lgamma(m + 1))


def iman_davenport_df(n: int, m: int) -> tuple[int, int]:
    """Return the degrees of freedom of Iman and Davenport's F."""
    return m - 1, (m - 1) * (n - 1)


def friedman(r: RankSums) -> tuple[float, float]:
    """Return Friedman's statistic and its chi-square p-value."""
    statistic = chi_square(r)
    return statistic, float(scipy.special.chdtrc(r.m - 1, statistic))


@dataclass(frozen=True, eq=False)
class FriedmanResult:
    """Result of `friedman_test`.

    Attributes
    ----------
    statistic, p_value : float
        Tie-corrected chi-square with m - 1 degrees of freedom.
    f_statistic, f_p_value : float
        Iman and Davenport's F, with m - 1 and (m - 1)(n - 1) degrees of freedom: the better
        calibrated of the two. Infinite when two or more blocks all rank alike; the p-value is
        at least the probability of that, 1/m!^(n-1).
    mean_ranks : ndarray, shape (m,)
    n_blocks : int
        Complete blocks, on which all of this rests.
    n_dropped : int
        Blocks left out because of NaN.

    Examples
    --------
    >>> from racer.stats import friedman_test
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> result = friedman_test(scores)
    >>> round(result.p_value, 4), result.n_blocks
    (0.0119, 7)
    >>> result.mean_ranks.round(2)
    array([1.14, 2.14, 2.71])
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    mean_ranks: NDArray[np.float64]
    n_blocks: int
    n_dropped: int


def centred(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks (n x m) measured from (m+1)/2, the rank of a candidate like all others."""
    return np.asarray(ranks - (ranks.shape[1] + 1) / 2.0)


def rank_sums(scores: ArrayLike, *, maximize: bool, min_blocks: int) -> tuple[RankSums, int]:
    """Return the rank sums of the complete blocks, and how many blocks were left out."""
    blocks = complete_blocks(scores, maximize=maximize, min_blocks=min_blocks)
    return RankSums.of(centred(ranks_of(blocks.costs))), blocks.dropped


def friedman_test(scores: ArrayLike, *, maximize: bool = False) -> FriedmanResult:
    """Test whether all candidates perform alike, from their ranks within blocks.

    The hypothesis is that within a block every order of the candidates is equally likely. Ties
    share average ranks and the statistic is corrected for them; blocks with NaN are left out
    and counted. If every block ties throughout, the statistic is 0 and the p-value 1.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better.
    maximize : bool
        Larger is better.

    Returns
    -------
    FriedmanResult

    Raises
    ------
    ScoresError
        Fewer than two candidates, no complete block, or values that are not numbers.

    References
    ----------
    Friedman (1937); Iman and Davenport (1980); Conover (1999), section 5.8, for ties; Benavoli
    et al. (ICML 2015), section 2, whose sum over n in the statistic must run over the m
    candidates. Demsar (JMLR 2006) prints 9.28 and F_F 3.69 for his Table 6: without the
    correction for ties, and from scores with more digits than printed (one tie fewer).

    Examples
    --------
    >>> result = friedman_test([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    >>> round(result.statistic, 3), round(result.p_value, 4)
    (4.5, 0.1054)
    >>> round(result.f_statistic, 3), round(result.f_p_value, 4)
    (3.857, 0.0837)
    """
    r, dropped = rank_sums(scores, maximize=maximize, min_blocks=1)
    statistic, p_value = friedman(r)
    f, f_p_value = iman_davenport(statistic, r.n, r.m)
    return FriedmanResult(statistic, p_value, f, f_p_value, frozen(r.mean_ranks), r.n, dropped)


Gate = Literal["bayesian", "iman-davenport", "monte-carlo"]
Region = Literal["ellipse", "monte-carlo"]
ROUNDING = 1e-9
_CELLS = 1 << 20  # weights at a time


class GateResult(NamedTuple):
    """Which omnibus test was used, its statistic, and the tail probability beyond it."""

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
    gate : {"bayesian", "iman-davenport", "monte-carlo"}
        Which test decided: with ``region="ellipse"`` the second where there are fewer blocks than
        candidates, or where the posterior covariance is singular.
    f_statistic : float
        Of that test; of "monte-carlo" the squared Mahalanobis distance between the point and the
        posterior mean. It exceeds `threshold` where rejected; with very few blocks, of which no
        p-value is small, also elsewhere.
    threshold : float
        The F quantile at `confidence`, or the quantile of the distances of the draws.
    tail_probability : float
        Posterior probability outside the credible region that just contains the point (for
        "iman-davenport" the p-value); rejected when below 1 - confidence.
    posterior_mean : ndarray, shape (m,)
        Posterior means of the expected ranks, (s R0 + R 1) / (s + n) (eq. 16).
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
    posterior_mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    confidence: float
    strength: float
    n_blocks: int
    n_dropped: int


def posterior_moments(
    r: RankSums, gram: NDArray[np.float64], strength: float, prior: NDArray[np.float64] | float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and covariance of expected ranks about (m+1)/2, exact under Dirichlet weights.

    With a0 = s + n and the prior atom r_0 of weight a_0 = s: mu = sum_j a_j r_j / a0 (eq. 16),
    Sigma = (sum_j a_j r_j r_j' / a0 - mu mu') / (a0 + 1) (eq. 17).
    """
    total = strength + r.n
    mean = (r.deviation + strength * prior) / total
    second = (gram + strength * np.outer(prior, prior)) / total
    return mean, (second - np.outer(mean, mean)) / (total + 1.0)


def _mahalanobis(mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> float | None:
    """Return mu' Sigma^-1 mu without the last coordinate; None where Sigma is singular."""
    try:
        # ranks sum to a constant: the last one is determined, and the full matrix is singular
        factor = np.linalg.cholesky(covariance[:-1, :-1])
    except np.linalg.LinAlgError:
        return None
    diagonal = factor.diagonal()
    if diagonal.min() <= 1e-6 * diagonal.max():
        return None
    whitened = np.linalg.solve(factor, mean[:-1])
    return float(whitened @ whitened)


def ellipse_test(distance: float, n: int, m: int) -> GateResult:
    """Return the F of eq. 19 of a squared Mahalanobis distance, and the probability beyond it."""
    f = distance * (n - m + 1) / ((n - 1) * (m - 1))
    return GateResult("bayesian", f, float(scipy.special.fdtrc(m - 1, n - m + 1, f)))


def gate_test(
    r: RankSums,
    gram: NDArray[np.float64],
    strength: float,
    prior: NDArray[np.float64] | float = 0.0,
) -> GateResult:
    """Test by the Bayesian gate from m blocks on if possible, else by Iman and Davenport's F."""
    if r.n >= r.m:
        distance = _mahalanobis(*posterior_moments(r, gram, strength, prior))
        if distance is not None:
            return ellipse_test(distance, r.n, r.m)
    return GateResult("iman-davenport", *iman_davenport(chi_square(r), r.n, r.m))


def spanned(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return an orthonormal basis of the range of a covariance, and a whitened basis."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > ROUNDING * max(values[-1], ROUNDING)
    return vectors[:, kept], vectors[:, kept] / np.sqrt(values[kept])


def monte_carlo_test(
    ranks: NDArray[np.float64],
    strength: float,
    prior: NDArray[np.float64],
    draws: int,
    rng: np.random.Generator,
) -> tuple[GateResult, NDArray[np.float64]]:
    """Return how many draws are as far from the mean as "all equal", and their distances.

    Of w0 R0 + R w (eq. 15), centred ranks (n, m); squared Mahalanobis distances. "All equal" is
    infinitely far if no weights lead there.
    """
    n, m = ranks.shape
    mean, covariance = posterior_moments(RankSums.of(ranks), ranks.T @ ranks, strength, prior)
    within, whitened = spanned(covariance)
    # outside the span of the draws, no weights reach "all equal"
    is_off = np.abs(mean - within @ (mean @ within)).max() > ROUNDING * m
    distance = np.inf if is_off else float(((mean @ whitened) ** 2).sum())
    atoms = (np.vstack([prior, ranks]) - mean) @ whitened
    found = np.empty(draws)
    for start in range(0, draws, step := max(1, _CELLS // (n + 1))):
        part = found[start : start + step]
        weights = rng.standard_exponential((len(part), n + 1))
        weights[:, 0] = rng.standard_gamma(strength, len(part))
        drawn = weights @ atoms / weights.sum(axis=1, keepdims=True)
        part[:] = (drawn**2).sum(axis=1)
    farther = float((found >= distance * (1.0 - ROUNDING)).mean())
    return GateResult("monte-carlo", distance, farther), found


def _prior_ranks(ranks: ArrayLike | None, m: int) -> NDArray[np.float64]:
    """Return prior ranks, centred; all equal by default."""
    if ranks is None:
        return np.zeros(m)
    given = as_floats(ranks, "prior_ranks", 1)
    most = np.cumsum(np.arange(m, 0, -1.0))  # of the largest 1, 2, .. ranks together
    if len(given) != m or not (
        np.isfinite(given).all()
        and abs(given.sum() - most[-1]) <= ROUNDING * most[-1]
        and (np.cumsum(np.sort(given)[::-1]) <= most * (1.0 + ROUNDING)).all()
    ):
        raise SettingError(
            f"prior_ranks={ranks!r}: give {m} expected ranks, means of orders of {m} candidates "
            f"from 1, the best, to {m}; their sum is {most[-1]:g}"
        )
    return given - (m + 1) / 2.0


def bayesian_friedman_test(
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    strength: float = 1.0,
    prior_ranks: ArrayLike | None = None,
    region: Region = "ellipse",
    draws: int = 100_000,
    seed: int = 0,
    maximize: bool = False,
) -> BayesianFriedmanResult:
    """Test whether all candidates have the same mean rank, by a credible region.

    The posterior of the vector of expected ranks w0 R0 + R w, (w0, w) ~ Dirichlet(s, 1, .., 1),
    comes from a Dirichlet process with a prior atom, by default "all equal". It is taken as
    elliptical (eq. 19) or sampled; the hypothesis that all equal (m+1)/2 is rejected when that
    point lies outside the region of the given probability. Ties share average ranks; blocks with
    NaN are left out and counted.

    The ellipse needs n >= m blocks. With fewer, and where the covariance is singular (two
    identical candidates), Iman and Davenport's F decides instead, as `gate` shows.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better.
    confidence : float in (0, 1)
        1 - gamma of the paper.
    strength : float >= 0
        Weight s of the prior atom. 0 is the Bayesian bootstrap: its mean ranks are the
        classical ones, but it rejects true hypotheses more often.
    prior_ranks : array_like, shape (m,), optional
        Ranks R0 of the prior atom, by default (m+1)/2 for each. For any base measure, its expected
        ranks give the posterior mean (eq. 20); the covariance assumes an atom there.
    region : {"ellipse", "monte-carlo"}
        "monte-carlo", as the paper suggests for few blocks: the share of draws that are at least as
        far from the posterior mean as "all equal", by Mahalanobis' distance. It needs no number of
        blocks, but up to about 30 it rejects true hypotheses far too often (12 to 82 % at 0.95).
    draws : int >= 100
        Of the region "monte-carlo".
    seed : int >= 0
        Same seed, same answer.
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
        confidence, strength, prior_ranks, region, draws or seed out of range.

    References
    ----------
    Benavoli et al. (ICML 2015), section 5.2, eq. 14-20. The "p-value of 10^-9" of its Example 1 is
    9.1e-9 by the mean ranks printed there.

    Examples
    --------
    >>> result = bayesian_friedman_test([[0, 1, 2]] * 20 + [[0, 2, 1]] * 10)
    >>> result.rejected, result.gate
    (True, 'bayesian')
    >>> result.posterior_mean.round(3).tolist()
    [1.032, 2.323, 2.645]
    """
    check_fraction(confidence, "confidence")
    check_strength(strength)
    choice(region, "region", get_args(Region))
    check_draws(draws)
    check_seed(seed)
    blocks = complete_blocks(scores, maximize=maximize)
    ranks = centred(ranks_of(blocks.costs))
    n, m = ranks.shape
    prior = _prior_ranks(prior_ranks, m)
    r, gram = RankSums.of(ranks), ranks.T @ ranks
    mean, covariance = posterior_moments(r, gram, strength, prior)
    if region == "monte-carlo":
        rng = rng_for(seed, "region")
        result, drawn = monte_carlo_test(ranks, strength, prior, draws, rng)
        threshold = float(np.quantile(drawn, confidence))
    else:
        result = gate_test(r, gram, strength, prior)
        d2 = n - m + 1 if result.gate == "bayesian" else (m - 1) * (n - 1)
        threshold = float(scipy.special.fdtri(m - 1, d2, confidence)) if d2 > 0 else np.inf
    return BayesianFriedmanResult(
        rejected=result.tail_probability < 1.0 - confidence,
        gate=result.gate,
        f_statistic=result.f_statistic,
        threshold=threshold,
        tail_probability=result.tail_probability,
        posterior_mean=frozen(mean + (m + 1) / 2.0),
        covariance=frozen(covariance),
        confidence=confidence,
        strength=strength,
        n_blocks=n,
        n_dropped=blocks.dropped,
    )
