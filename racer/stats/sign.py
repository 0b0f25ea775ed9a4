"""The sign test and its Bayesian counterpart, for two candidates on the same blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from racer.errors import ScoresError, SettingError
from racer.stats._validation import as_floats, check_epsilon, check_strength

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["BayesianSignResult", "SignResult", "bayesian_sign_test", "sign_test"]

Alternative = Literal["two-sided", "better", "worse"]


class _Counts(NamedTuple):
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
    """

    p_value: float
    n_better: int
    n_worse: int
    n_ties: int
    n_dropped: int
    alternative: Alternative


@dataclass(frozen=True)
class BayesianSignResult:
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


def _count(x: ArrayLike, y: ArrayLike, *, maximize: bool) -> _Counts:
    first, second = as_floats(x, "x", 1), as_floats(y, "y", 1)
    if len(first) != len(second):
        raise ScoresError(f"x has {len(first)} scores and y {len(second)}: give pairs")
    known = ~(np.isnan(first) | np.isnan(second))
    if not known.any():
        raise ScoresError("x and y have no pair without NaN")
    first, second = first[known], second[known]
    less, greater = int((first < second).sum()), int((first > second).sum())
    better, worse = (greater, less) if maximize else (less, greater)
    return _Counts(better, worse, len(first) - better - worse, int((~known).sum()))


def sign_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    maximize: bool = False,
) -> SignResult:
    """Test whether x is better than y as often as worse, by counting blocks.

    The hypothesis is that, given a difference, either direction has probability 1/2; nothing
    is assumed about the distribution of the scores. Blocks that tie say nothing about the
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
    Conover, Practical Nonparametric Statistics (1999), section 3.4. The counts below are those
    of Benavoli et al. (ICML 2015), Table 1.

    Examples
    --------
    20 blocks won and 10 lost give the published 0.0494, 15 and 15 give 0.5722:

    >>> round(sign_test([0] * 20 + [2] * 10, [1] * 30, alternative="better").p_value, 4)
    0.0494
    >>> round(sign_test([0] * 15 + [2] * 15, [1] * 30, alternative="better").p_value, 4)
    0.5722
    """
    from scipy.special import bdtrc  # noqa: PLC0415

    if alternative not in ("two-sided", "better", "worse"):
        raise SettingError(f"alternative={alternative!r}: choose 'two-sided', 'better' or 'worse'")
    counts = _count(x, y, maximize=maximize)
    n = counts.better + counts.worse

    def at_least(wins: int) -> float:
        return float(bdtrc(wins - 1, n, 0.5)) if wins > 0 else 1.0

    p_value = {
        "better": at_least(counts.better),
        "worse": at_least(counts.worse),
        "two-sided": min(1.0, 2.0 * at_least(max(counts.better, counts.worse))),
    }[alternative]
    return SignResult(
        p_value, counts.better, counts.worse, counts.ties, counts.dropped, alternative
    )


def probability_better(better: float, worse: float) -> float:
    """P(theta > 1/2) given won and lost blocks (Benavoli et al. 2015, Theorem 2, eq. 22)."""
    from scipy.special import betainc  # noqa: PLC0415

    if better == worse:
        return 0.5
    if worse == 0.0:
        return 1.0
    if better == 0.0:
        return 0.0
    return float(betainc(worse, better, 0.5))


@lru_cache(maxsize=4096)
def three_way(
    better: float, worse: float, ties: float, epsilon: float
) -> tuple[float, float, float]:
    """P(theta <= 1/2 - eps), P(within), P(theta >= 1/2 + eps) for Dirichlet weights.

    theta = w_better + w_ties / 2 with (w_ties, w_better, w_worse) ~ Dir(ties, better, worse):
    theta - 1/2 = v (u - 1/2), u ~ Beta(better, worse) and v ~ Beta(better + worse, ties)
    independent, so what is left is one integral over v, done over the quantiles of v.
    """
    from scipy.special import betainc, betaincinv  # noqa: PLC0415

    decided = better + worse
    if decided == 0.0:
        return (0.0, 1.0, 0.0) if epsilon > 0.0 else (0.5, 0.0, 0.5)
    if epsilon == 0.0:
        won = probability_better(better, worse)
        return 1.0 - won, 0.0, won
    if better == 0.0 or worse == 0.0:  # u is 1 or 0, and within means v < 2 epsilon
        within = float(betainc(decided, ties, 2.0 * epsilon)) if ties > 0.0 else 0.0
        return (0.0, within, 1.0 - within) if worse == 0.0 else (1.0 - within, within, 0.0)
    if ties == 0.0:
        v, weights = np.ones(1), np.ones(1)
    else:
        nodes, weights = np.polynomial.legendre.leggauss(128)
        start = float(betainc(decided, ties, 2.0 * epsilon))  # below, theta is within for any u
        angle = np.pi * (nodes + 1.0) / 2.0  # quantiles crowded at both ends, where v bends
        v = betaincinv(decided, ties, start + (1.0 - start) * (1.0 - np.cos(angle)) / 2.0)
        weights = weights * np.sin(angle) * (1.0 - start) * np.pi / 4.0
    half = np.minimum(epsilon / np.maximum(v, epsilon), 0.5)
    low = float(weights @ betainc(better, worse, 0.5 - half))
    high = float(weights @ betainc(worse, better, 0.5 - half))
    return low, max(0.0, 1.0 - low - high), high


def probability_indistinguishable(
    better: NDArray[np.int64],
    worse: NDArray[np.int64],
    ties: NDArray[np.int64],
    *,
    epsilon: float,
    strength: float,
) -> NDArray[np.float64]:
    """Posterior probability of |theta - 1/2| < epsilon, at the least favourable prior atom.

    The prior weight `strength` is put on the side that leads, where it draws theta away from
    1/2 (prior near-ignorance, Benavoli et al. 2015, section 7). A claim of equality thus needs
    enough blocks even where everything seen so far is a tie.
    """
    from scipy.special import betainc  # noqa: PLC0415

    more, less = np.maximum(better, worse) + strength, np.minimum(better, worse).astype(float)
    within = np.empty(len(more))
    plain = (ties == 0) & (less > 0)
    a, b = more[plain], less[plain]
    within[plain] = betainc(a, b, 0.5 + epsilon) - betainc(a, b, 0.5 - epsilon)
    for i in np.flatnonzero(~plain).tolist():
        within[i] = three_way(float(more[i]), float(less[i]), float(ties[i]), epsilon)[1]
    return within


def bayesian_sign_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    epsilon: float = 0.05,
    strength: float = 0.0,
    maximize: bool = False,
) -> BayesianSignResult:
    """Posterior probability that x is worse than, indistinguishable from, better than y.

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
    maximize : bool
        Larger is better.

    Returns
    -------
    BayesianSignResult
        When all blocks tie, probability 1/2 and indistinguishable 1. Without a won (lost) block
        the probability of being better is its limit 0 (1).

    Raises
    ------
    ScoresError
        Different lengths, no pair without NaN, or values that are not numbers.
    SettingError
        epsilon or strength out of range.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon: A Bayesian nonparametric procedure for comparing
    algorithms (ICML 2015), sections 5.1, 6, 7 and 7.1.

    Examples
    --------
    The paper's Table 1: 20 against 10 blocks leave 0.0307, 15 against 15 leave 0.5:

    >>> result = bayesian_sign_test([0] * 20 + [2] * 10, [1] * 30)
    >>> round(1 - result.probability, 4)
    0.0307
    >>> round(result.worse + result.indistinguishable + result.better, 12)
    1.0
    """
    counts = _count(x, y, maximize=maximize)
    ties = counts.ties + check_strength(strength)
    parts = three_way(
        float(counts.better), float(counts.worse), float(ties), check_epsilon(epsilon)
    )
    return BayesianSignResult(
        probability_better(counts.better, counts.worse), *parts, *counts, float(epsilon)
    )
