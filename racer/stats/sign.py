"""The sign test, for two candidates on the same blocks, and the posterior of its counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from racer._checks import check_epsilon, check_strength, choice
from racer._numerics import shown_probability
from racer.seeding import rng_for
from racer.stats._validation import ALTERNATIVES, Alternative, PosteriorOfPair, p_value_of, paired

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray


class Counts(NamedTuple):
    """Blocks in which x is better than, worse than, and equal to y, and pairs with NaN."""

    better: int
    worse: int
    ties: int
    dropped: int


@dataclass(frozen=True)
class SignResult:
    """Result of `sign_test`.

    Attributes
    ----------
    p_value : float
        P-value of the alternative asked for.
    n_better, n_worse, n_ties : int
        Blocks in which x is better than, worse than, and equal to y.
    n_dropped : int
        Blocks left out because x or y is NaN.
    alternative : str
        The alternative hypothesis.

    Examples
    --------
    >>> from racer.stats import sign_test
    >>> result = sign_test([1, 2, 1, 1], [2, 3, 4, 0])
    >>> result.p_value, result.n_better, result.n_worse
    (0.625, 3, 1)
    """

    p_value: float
    n_better: int
    n_worse: int
    n_ties: int
    n_dropped: int
    alternative: Alternative


def count(x: ArrayLike, y: ArrayLike, *, maximize: bool) -> Counts:
    """Count the blocks."""
    pair = paired(x, y, maximize=maximize)
    better, worse = int((pair.x < pair.y).sum()), int((pair.x > pair.y).sum())
    return Counts(better, worse, len(pair.x) - better - worse, pair.dropped)


def sign_test(
    x: ArrayLike, y: ArrayLike, *, alternative: Alternative = "two-sided", maximize: bool = False
) -> SignResult:
    """Test whether x is better than y as often as worse, by counting blocks.

    The hypothesis is that, given a difference, either direction has probability 1/2; nothing
    is assumed about the distribution of the scores. Blocks that tie are no evidence about the
    direction and are left out (`n_ties`); pairs with NaN are deleted (`n_dropped`).

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Scores of two candidates on the same n blocks; smaller is better.
    alternative : {"two-sided", "better", "worse"}
        "better": x is better than y more often than not.
    maximize : bool
        Larger is better.

    Returns
    -------
    SignResult
        With p-value 1 when all blocks tie.

    Raises
    ------
    ScoresError
        Different lengths, no pair without NaN, or values that are not numbers.
    SettingError
        Unknown alternative.

    References
    ----------
    Conover, Practical Nonparametric Statistics (1999), section 3.4. The counts below are
    from Benavoli et al. (ICML 2015), Table 1.

    Examples
    --------
    20 blocks won and 10 lost give the published 0.0494, 15 and 15 give 0.5722:

    >>> round(sign_test([0] * 20 + [2] * 10, [1] * 30, alternative="better").p_value, 4)
    0.0494
    >>> round(sign_test([0] * 15 + [2] * 15, [1] * 30, alternative="better").p_value, 4)
    0.5722
    """
    choice(alternative, "alternative", ALTERNATIVES)
    counts = count(x, y, maximize=maximize)
    n = counts.better + counts.worse

    def at_least(wins: float) -> float:
        return float(scipy.special.bdtrc(wins - 1, n, 0.5)) if wins > 0 else 1.0

    p_value = p_value_of(alternative, counts.better, counts.worse, at_least)
    return SignResult(p_value, *counts, alternative)


def probability_better(better: float, worse: float) -> float:
    """Return P(theta > 1/2) by won and lost blocks (Benavoli et al. 2015, Theorem 2, eq. 22)."""
    if better == worse:
        return 0.5
    if worse == 0.0:
        return 1.0
    if better == 0.0:
        return 0.0
    return float(scipy.special.betainc(worse, better, 0.5))


@lru_cache(maxsize=1)
def _quadrature() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the quantiles at which to integrate, crowded at both ends, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(128)
    # by cosines: quantile functions are steep at both ends, where nodes are dense
    angle = np.pi * (nodes + 1.0) / 2.0
    return (1.0 - np.cos(angle)) / 2.0, weights * np.sin(angle) * np.pi / 4.0


@lru_cache(maxsize=4096)
def three_way(
    better: float, worse: float, ties: float, epsilon: float
) -> tuple[float, float, float]:
    """Return P(theta <= 1/2 - eps), P(within), P(theta >= 1/2 + eps) for Dirichlet weights.

    theta - 1/2 = v (u - 1/2), u ~ Beta(better, worse) and v ~ Beta(better + worse, ties).
    """
    decided = better + worse
    if decided == 0.0:
        return (0.0, 1.0, 0.0) if epsilon > 0.0 else (0.5, 0.0, 0.5)
    if epsilon == 0.0:
        won = probability_better(better, worse)
        return 1.0 - won, 0.0, won
    if better == 0.0 or worse == 0.0:  # u is 1 or 0, and within means v < 2 epsilon
        within = float(scipy.special.betainc(decided, ties, 2.0 * epsilon)) if ties > 0.0 else 0.0
        return (0.0, within, 1.0 - within) if worse == 0.0 else (1.0 - within, within, 0.0)
    if ties == 0.0:
        v, weights = np.ones(1), np.ones(1)
    else:
        quantiles, weights = _quadrature()
        sure = float(scipy.special.betainc(decided, ties, 2.0 * epsilon))
        v = scipy.special.betaincinv(decided, ties, sure + (1.0 - sure) * quantiles)
        weights = weights * (1.0 - sure)
    half = np.minimum(epsilon / np.maximum(v, epsilon), 0.5)
    low = float(weights @ scipy.special.betainc(better, worse, 0.5 - half))
    high = float(weights @ scipy.special.betainc(worse, better, 0.5 - half))
    return low, max(0.0, 1.0 - low - high), high


def quantile(better: float, worse: float, ties: float, tail: float) -> float:
    """Return the value of theta with probability `tail`, below 1/2, on its lower side."""
    if better == worse == 0.0:
        return 0.5
    if worse == ties == 0.0:
        return 1.0

    def excess(theta: float) -> float:
        low, _, high = three_way(better, worse, ties, abs(theta - 0.5))
        return (low if theta <= 0.5 else 1.0 - high) - tail

    return float(scipy.optimize.brentq(excess, 0.0, 1.0, xtol=1e-9)) if excess(0.0) < 0.0 else 0.0


def probability_indistinguishable(
    better: NDArray[np.int64],
    worse: NDArray[np.int64],
    ties: NDArray[np.int64],
    *,
    epsilon: float,
    strength: float,
) -> NDArray[np.float64]:
    """Return the P(|theta - 1/2| < epsilon) least by the prior (Benavoli et al. 2015, sec. 7)."""
    more, less = np.maximum(better, worse) + strength, np.minimum(better, worse).astype(float)
    within = np.empty(len(more))
    plain = (ties == 0) & (less > 0)
    a, b = more[plain], less[plain]
    high, low = (scipy.special.betainc(a, b, 0.5 + side) for side in (epsilon, -epsilon))
    within[plain] = high - low
    for i in np.flatnonzero(~plain).tolist():
        within[i] = three_way(float(more[i]), float(less[i]), float(ties[i]), epsilon)[1]
    return within


@dataclass(frozen=True)
class BayesianSignResult(PosteriorOfPair):
    """Result of `bayesian_sign_test`.

    Attributes
    ----------
    probability : float
        Posterior probability that x is better than y: P(theta > 1/2), without epsilon.
    worse, indistinguishable, better : float
        Posterior probabilities that x is worse than y (theta <= 1/2 - epsilon), within
        epsilon of it, and better (theta >= 1/2 + epsilon); they sum to 1.
    n_better, n_worse, n_ties, n_dropped : int
        As in `SignResult`.
    epsilon : float
        Half-width of the indistinguishable region.
    lower, upper : float
        The least and the greatest `probability` that any prior of weight `ignorance` gives.
    estimate : float
        Posterior mean of theta.
    strength, ignorance : float
        Prior weights, as given.

    Examples
    --------
    >>> from racer.stats import bayesian_sign_test
    >>> result = bayesian_sign_test([1, 2, 1, 1], [2, 3, 4, 0])
    >>> result.probability, result.lower, result.upper
    (0.875, 0.6875, 0.9375)
    """

    probability: float
    worse: float
    indistinguishable: float
    better: float
    n_better: int
    n_worse: int
    n_ties: int
    n_dropped: int
    epsilon: float
    lower: float
    upper: float
    estimate: float
    strength: float
    ignorance: float

    def _between(self, tail: float) -> tuple[float, float]:
        ties = self.n_ties + self.strength
        low = quantile(self.n_better, self.n_worse, ties, tail)
        return low, 1.0 - quantile(self.n_worse, self.n_better, ties, tail)

    def _drawn(self, x: str, worse: str, better: str, ax: Axes | None) -> Axes:  # noqa: ARG002
        from racer.plots import simplex  # noqa: PLC0415

        weights = (self.n_worse, self.n_ties + self.strength, self.n_better)
        gammas = rng_for(0, "simplex").standard_gamma(weights, (4000, 3))
        within = shown_probability(self.indistinguishable)
        corners = [worse, f"ties (between the lines: indistinguishable {within})", better]
        shares = gammas / gammas.sum(axis=1, keepdims=True)
        return simplex(shares, corners, band=self.epsilon, ax=ax)


def bayesian_sign_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    epsilon: float = 0.05,
    strength: float = 0.0,
    ignorance: float = 1.0,
    maximize: bool = False,
) -> BayesianSignResult:
    """Return the probability that x is worse than, indistinguishable from, better than y.

    theta = P(x better) + P(tie)/2 under a Dirichlet process whose prior atom is a tie. With n_b
    blocks won and n_w lost, P(theta > 1/2) = P(Beta(n_b, n_w) > 1/2), exactly and for any prior
    strength (Benavoli et al. 2015, Theorem 2, eq. 22). Ties count one half, which leaves that
    probability alone but draws theta towards 1/2, so they make "indistinguishable" likelier.
    Pairs with NaN are deleted (`n_dropped`).

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Scores of two candidates on the same n blocks; smaller is better.
    epsilon : float in [0, 0.5)
        x and y are indistinguishable when 1/2 - epsilon < theta < 1/2 + epsilon.
    strength : float >= 0
        Weight s of the prior's tie in the three-way probabilities. 0 is the paper's choice: the
        same Beta for the region.
    ignorance : float >= 0
        Weight s of an otherwise unknown prior (IDP): `lower` puts it where x
        loses, P(Beta(n_b, n_w + s) > 1/2), `upper` where it wins, P(Beta(n_b + s, n_w) > 1/2).
        1 halves the range of theta's expectation at the first block.
    maximize : bool
        Larger is better.

    Returns
    -------
    BayesianSignResult
        When all blocks tie, probability 1/2 and indistinguishable 1. Without a won (lost) block
        the probability of being better is its limit 0 (1). `lower` and `upper` are then 0 and 1
        when all blocks tie.

    Raises
    ------
    ScoresError
        Different lengths, no pair without NaN, or values that are not numbers.
    SettingError
        epsilon, strength or ignorance out of range.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon: A Bayesian nonparametric procedure for comparing
    algorithms (ICML 2015), sections 5.1, 6, 7 and 7.1; `lower`, `upper` and `prefer` from
    Benavoli et al.: A Bayesian Wilcoxon signed-rank test (ICML 2014), section 3.

    Examples
    --------
    The paper's Table 1: 20 against 10 blocks leave 0.0307, 15 against 15 leave 0.5:

    >>> result = bayesian_sign_test([0] * 20 + [2] * 10, [1] * 30)
    >>> round(1 - result.probability, 4)
    0.0307
    >>> round(result.worse + result.indistinguishable + result.better, 12)
    1.0
    """
    counts = count(x, y, maximize=maximize)
    better, worse = float(counts.better), float(counts.worse)
    ties = counts.ties + check_strength(strength)
    check_strength(ignorance, "ignorance")
    parts = three_way(better, worse, ties, check_epsilon(epsilon))
    return BayesianSignResult(
        probability_better(better, worse),
        *parts,
        *counts,
        float(epsilon),
        lower=probability_better(better, worse + ignorance),
        upper=probability_better(better + ignorance, worse),
        estimate=(better + ties / 2.0) / (better + worse + ties),
        strength=float(strength),
        ignorance=float(ignorance),
    )
