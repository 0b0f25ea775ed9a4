"""The Wilcoxon signed-rank test, for two candidates on the same blocks, and its Bayesian form.

In the latter, with the differences sorted, cumulative sums of the weights give theta =
sum_ij w_i w_j H(Z_i + Z_j) in n steps instead of n^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from racer._checks import check_draws, check_strength, choice
from racer._numerics import shown_probability
from racer.seeding import check_seed, rng_for
from racer.stats._validation import (
    ALTERNATIVES,
    Alternative,
    PosteriorOfPair,
    frozen,
    p_value_of,
    paired,
)
from racer.stats.correlated_t import check_rope
from racer.stats.dirichlet import fraction_above_zero
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

Zeros = Literal["drop", "rank"]
_EXACT = 200  # differences up to which the distribution is counted out
ROUNDING = 4.0 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class SignedRankResult:
    """Result of `signed_rank_test`.

    Attributes
    ----------
    p_value : float
        P-value of the alternative asked for.
    rank_sum_better, rank_sum_worse : float
        Sums of the ranks of the differences in favour of x, and of y (Wilcoxon's T+ and T-).
    n_better, n_worse, n_ties : int
        Blocks in which x is better than, worse than, and equal to y.
    n_dropped : int
        Blocks left out because x or y is NaN.
    alternative : str
        The alternative hypothesis.
    method : {"exact", "normal"}
        How the p-value was computed.

    Examples
    --------
    >>> from racer.stats import signed_rank_test
    >>> result = signed_rank_test([1, 2, 1, 1], [2, 3, 4, 0])
    >>> result.p_value, result.method
    (0.5, 'exact')
    """

    p_value: float
    rank_sum_better: float
    rank_sum_worse: float
    n_better: int
    n_worse: int
    n_ties: int
    n_dropped: int
    alternative: Alternative
    method: Literal["exact", "normal"]


def differences(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Z = cost of y - cost of x, positive where x is better; equal infinities tie."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(x == y, 0.0, y - x)


def signed_levels(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the levels of differences between costs (k, n), with their signs.

    A level is the place of |Z| among the sizes of its row that differ beyond rounding; 0 for a tie,
    and where a cost is NaN.
    """
    z, known = differences(x, y), ~(np.isnan(x) | np.isnan(y))
    slack = ROUNDING * np.maximum(np.abs(x), np.abs(y))
    slack = np.where(np.isfinite(slack), slack, 0.0)
    order = np.argsort(np.where(known, np.abs(z), -1.0), axis=1, kind="stable")
    z = np.where(known, z, 0.0)
    size, slack = (np.take_along_axis(values, order, axis=1) for values in (np.abs(z), slack))
    before = np.pad(slack[:, :-1], ((0, 0), (1, 0)))
    with np.errstate(invalid="ignore"):  # inf - inf: one level
        new = np.diff(size, axis=1, prepend=0.0) > slack + before
    levels = np.empty(z.shape, dtype=np.int64)
    np.put_along_axis(levels, order, np.cumsum(new, axis=1), axis=1)
    return np.asarray(np.sign(z).astype(np.int64) * levels)


@lru_cache(maxsize=256)
def _null_tails(doubled: tuple[int, ...]) -> NDArray[np.float64]:
    """Return P(T >= t / 2), t = 0, 1, .., where fair coins choose the ranks summed in T."""
    # doubled ranks are whole despite ties; one convolution per coin counts all 2^n choices
    law = np.zeros(sum(doubled) + 1)
    law[0] = 1.0
    for rank in doubled:
        law *= 0.5
        law[rank:] += law[: len(law) - rank].copy()
    return np.asarray(np.cumsum(law[::-1])[::-1])


def _normal_tail(statistic: float, ranks: NDArray[np.float64]) -> float:
    """Return P(T >= statistic), approximately, with continuity correction."""
    from scipy.special import ndtr  # noqa: PLC0415

    z = (statistic - 0.5 - ranks.sum() / 2.0) / (np.sqrt((ranks**2).sum()) / 2.0)
    return float(ndtr(-z))


def upper_tail(statistic: float, ranks: NDArray[np.float64]) -> float:
    """Return P(T >= statistic) for the sum T of the ranks that fair coins choose."""
    if len(ranks) == 0:
        return 1.0
    if len(ranks) > _EXACT:
        return _normal_tail(statistic, ranks)
    doubled = tuple(sorted((2 * ranks).astype(int).tolist()))
    return float(_null_tails(doubled)[int(2 * statistic)])


class RankSums(NamedTuple):
    """T+ and T- of k pairs, (k,), and the ranks of their differences, (k, n), 0 of ties."""

    better: NDArray[np.float64]
    worse: NDArray[np.float64]
    ranks: NDArray[np.float64]


def rank_sums(levels: NDArray[np.int64], zeros: Zeros = "drop") -> RankSums:
    """Return the sums of ranks by signed levels (k, n); ties are dropped before or after."""
    ranks, ties = ranks_of(np.abs(levels)), levels == 0
    if zeros == "drop":
        ranks -= ties.sum(axis=1, keepdims=True)
    ranks[ties] = 0.0
    better, worse = (np.where(side, ranks, 0.0).sum(axis=1) for side in (levels > 0, levels < 0))
    return RankSums(better, worse, ranks)


def rank_biserial(x: ArrayLike, y: ArrayLike, *, maximize: bool = False) -> float:
    """Return the matched-pairs rank-biserial correlation, an effect size.

    (T+ - T-) / (T+ + T-), with T+ and T- the sums of the ranks of the differences in favour of x
    and of y: the share of the evidence for x less that for y, from -1 to 1. It goes with
    `signed_rank_test`, of whose differences it uses signs and ranks; blocks that tie are left
    out, and pairs with NaN deleted.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Scores of two candidates on the same n blocks; smaller is better.
    maximize : bool
        Larger is better.

    Returns
    -------
    float
        Positive where x is better; 0 when all blocks tie.

    Raises
    ------
    ScoresError
        Different lengths, no pair without NaN, or values that are not numbers.

    References
    ----------
    Kerby: The simple difference formula (Comprehensive Psychology 2014); King, Rosopa, Minium:
    Statistical Reasoning in the Behavioral Sciences (2011).

    Examples
    --------
    Ranks 2, 3 and 4 of the differences are in favour of x, rank 1 is against it:

    >>> rank_biserial([2, 0, 0, 0], [1, 2, 3, 4])
    0.8
    """
    pair = paired(x, y, maximize=maximize)
    sums = rank_sums(signed_levels(pair.x[None], pair.y[None]))
    better, worse = float(sums.better[0]), float(sums.worse[0])
    return (better - worse) / (better + worse) if better + worse else 0.0


def signed_rank_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    zeros: Zeros = "drop",
    maximize: bool = False,
) -> SignedRankResult:
    """Test whether x is better than y by the ranks of the differences (Wilcoxon).

    The hypothesis is that the differences are symmetric about zero. Equal differences share the
    average of their ranks, whether equal exactly or up to rounding. Up to 200 differences the
    p-value is exact given the ranks, ties included: all choices of signs are counted; beyond,
    the normal approximation with the variance of these ranks is used. Pairs with NaN are
    deleted (`n_dropped`).

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Scores of two candidates on the same n blocks; smaller is better.
    alternative : {"two-sided", "better", "worse"}
        "better": the differences are in favour of x.
    zeros : {"drop", "rank"}
        Treatment of ties: they are left out before ranking (Wilcoxon), or are ranked with
        the others and left out then (Pratt). Giving half of their ranks to either side, as
        Demsar does, adds the same to both sums and leads to Pratt's p-value.
    maximize : bool
        Larger is better.

    Returns
    -------
    SignedRankResult
        With p-value 1 when all blocks tie.

    Raises
    ------
    ScoresError
        Different lengths, no pair without NaN, or values that are not numbers.
    SettingError
        Unknown alternative or zeros.

    References
    ----------
    Wilcoxon (1945); Pratt (JASA 1959); Conover, Practical Nonparametric Statistics (1999),
    section 5.7; Demsar (JMLR 2006), section 3.1.3.

    Examples
    --------
    Among eight differences with ranks 1 to 8 only the smallest is against x, so two of the 256
    choices of signs are as extreme in its favour:

    >>> result = signed_rank_test([2, 0, 0, 0, 0, 0, 0, 0], [1, 2, 3, 4, 5, 6, 7, 8])
    >>> result.rank_sum_better, result.rank_sum_worse, result.p_value * 256
    (35.0, 1.0, 4.0)
    """
    choice(alternative, "alternative", ALTERNATIVES)
    choice(zeros, "zeros", ("drop", "rank"))
    pair = paired(x, y, maximize=maximize)
    levels = signed_levels(pair.x[None], pair.y[None])
    sums = rank_sums(levels, zeros)
    better, worse = float(sums.better[0]), float(sums.worse[0])
    ranks = sums.ranks[sums.ranks > 0.0]
    return SignedRankResult(
        p_value=p_value_of(alternative, better, worse, lambda sum_: upper_tail(sum_, ranks)),
        rank_sum_better=better,
        rank_sum_worse=worse,
        n_better=int((levels > 0).sum()),
        n_worse=int((levels < 0).sum()),
        n_ties=int((levels == 0).sum()),
        n_dropped=pair.dropped,
        alternative=alternative,
        method="exact" if len(ranks) <= _EXACT else "normal",
    )


_CELLS, _ROWS = 1 << 18, 1 << 11  # weights, and their rows, at a time: what fits in the cache
IGNORANCE = (math.sqrt(17.0) - 3.0) / 2.0


@dataclass(frozen=True, eq=False)
class BayesianSignedRankResult(PosteriorOfPair):
    """Result of `bayesian_signed_rank_test`.

    Attributes
    ----------
    probability : float
        Posterior probability that x is better than y: P(theta > 1/2), without rope.
    lower, upper : float
        The least and the greatest `probability` that any prior of weight `ignorance` gives.
    worse, indistinguishable, better : float
        Posterior probabilities that the largest fraction of pairs of differences is in favour of
        y, within the rope, in favour of x; they sum to 1.
    estimate : float
        Posterior mean of theta, exactly (eq. 4): Wilcoxon's T+ over its maximum.
    lower_estimate, upper_estimate : float
        The least and the greatest posterior mean that these priors give (eq. 6 and 7).
    least, most : tuple of three float
        The least and the most that `worse`, `indistinguishable` and `better` are with any of these
        priors.
    theta : ndarray, shape (draws,)
        Draws of theta from its posterior.
    theta_bounds : ndarray, shape (2, draws)
        Draws of theta with the priors of `lower` and of `upper` (eq. 8), outlined by `plot`.
    shares : ndarray, shape (draws, 3), or None
        Draws of the fractions of pairs in favour of y, within the rope, in favour of x; None
        without a rope.
    n_better, n_worse, n_ties : int
        Blocks in which x is better than, worse than, and equal to y.
    n_dropped : int
        Blocks left out because x or y is NaN.
    rope, ignorance : float
        As given.

    Examples
    --------
    >>> from racer.stats import bayesian_signed_rank_test
    >>> result = bayesian_signed_rank_test([1, 2, 1, 1], [2, 3, 4, 0])
    >>> round(result.better, 2), result.n_better
    (0.92, 3)
    """

    probability: float
    lower: float
    upper: float
    worse: float
    indistinguishable: float
    better: float
    estimate: float
    lower_estimate: float
    upper_estimate: float
    least: tuple[float, float, float]
    most: tuple[float, float, float]
    theta: NDArray[np.float64] = field(repr=False)
    theta_bounds: NDArray[np.float64] = field(repr=False)
    shares: NDArray[np.float64] | None = field(repr=False)
    n_better: int
    n_worse: int
    n_ties: int
    n_dropped: int
    rope: float
    ignorance: float

    def _between(self, tail: float) -> tuple[float, float]:
        low, high = np.quantile(self.theta, [tail, 1.0 - tail])
        return float(low), float(high)

    def _drawn(self, x: str, worse: str, better: str, ax: Axes | None) -> Axes:
        from racer.plots import posterior, simplex  # noqa: PLC0415

        if self.shares is None:
            caption = "theta: a pair of differences is in favour of " + x
            bounds = self.theta_bounds
            return posterior(
                self.theta, caption=caption, below=worse, above=better, bounds=bounds, ax=ax
            )
        middle = f"practically equivalent {shown_probability(self.indistinguishable)}"
        return simplex(self.shares, [worse, middle, better], ax=ax)


class _Sums(NamedTuple):
    """For sorted values: the first place whose sum with i is above, and not below, a bound."""

    above: NDArray[np.intp]
    below: NDArray[np.intp]

    def of(
        self, weights: NDArray[np.float32], cumulative: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight of pairs above and of pairs below, each of shape (draws,)."""
        rest = cumulative[self.above]
        above = np.einsum("ij,ij->j", weights, np.subtract(cumulative[-1], rest, out=rest))
        below = np.einsum("ij,ij->j", weights, cumulative[self.below])
        return above.astype(np.float64), below.astype(np.float64)


def _sums(values: NDArray[np.float64] | NDArray[np.int64], bound: float) -> _Sums:
    """Return the places for sums above `bound` and below -`bound`; values sorted."""
    with np.errstate(over="ignore"):
        return _Sums(
            np.searchsorted(values, bound - values, side="right"),
            np.searchsorted(values, -bound - values, side="left"),
        )


def _by_size(levels: NDArray[np.int64], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places by |Z| among sorted levels, the same blocks in turn with x and y swapped.

    Among equal sizes the side with smaller largest sizes comes first; of mirror images, by block.
    """
    balance = levels[order] + levels[order[::-1]]
    first = np.sign(balance[np.flatnonzero(balance)[:1]]).sum()
    blocks = np.lexsort([np.sign(levels) * first, np.abs(levels)])
    return np.asarray(np.argsort(order)[blocks])


def _weights(
    by_size: NDArray[np.intp], draws: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Yield Gamma(1) weights, (n, k), drawn in the order of |Z|, and their sums, (n + 1, k).

    The arrays are used again.
    """
    n = len(by_size)
    step = min(max(_CELLS // n, 16), draws)  # of many rows a line of the cache each
    weights, cumulative = np.empty((n, step), np.float32), np.zeros((n + 1, step), np.float32)
    for start in range(0, draws, step):
        k = min(step, draws - start)
        weights[by_size, :k] = rng.standard_exponential((n, k), dtype=np.float32)
        for row in range(0, n, _ROWS):
            sums = cumulative[row : row + _ROWS + 1, :k]
            sums[1:] = weights[row : row + _ROWS, :k]
            np.cumsum(sums, axis=0, out=sums)
        yield weights[:, :k], cumulative[:, :k]


def _votes(fractions: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return how often each fraction is the largest; ties are within the rope, then worse."""
    largest = np.argmax(fractions[:, [1, 0, 2]], axis=1)
    in_rope, worse, better = (np.bincount(largest, minlength=3) / len(fractions)).tolist()
    return worse, in_rope, better


def bayesian_signed_rank_test(
    x: ArrayLike,
    y: ArrayLike,
    *,
    rope: float = 0.0,
    ignorance: float = IGNORANCE,
    draws: int = 50_000,
    seed: int = 0,
    maximize: bool = False,
) -> BayesianSignedRankResult:
    """Return the posterior probability that x is better than y, by signed ranks of differences.

    Z is the difference in favour of x. theta = P(Z + Z' > 0) + P(Z + Z' = 0)/2 for two draws
    from the law of Z, on which there is a Dirichlet process; theta > 1/2: x is better.
    `probability` is for prior weight 0 (the Bayesian bootstrap). A prior of which only the
    weight is known (IDP) gives a range of probabilities, from `lower` to `upper`, attained
    when its one atom lies beyond all differences, against x and for it (eq. 8). Symmetry of Z,
    as Wilcoxon's test needs it, is not assumed. Ties count one half (section 3.2), and sums
    that are zero up to rounding are ties. Pairs with NaN are deleted (`n_dropped`).

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Scores of two candidates on the same n blocks; smaller is better.
    rope : float >= 0
        x and y are indistinguishable where (Z + Z')/2 lies within -rope to rope. In each draw
        the largest of the three fractions of pairs decides. 0: no such region.
    ignorance : float >= 0
        Weight s of the prior of `lower` and `upper`. (sqrt(17) - 3)/2 halves the range of the
        expectation of theta at the first block (section 3.1).
    draws : int >= 100
        The standard error of a probability p is sqrt(p (1 - p) / draws).
    seed : int >= 0
        Same seed, same answer.
    maximize : bool
        Larger is better.

    Returns
    -------
    BayesianSignedRankResult
        When all blocks tie: probability 1/2, lower 0, upper 1.

    Raises
    ------
    ScoresError
        Different lengths, no pair without NaN, or values that are not numbers.
    SettingError
        rope, ignorance, draws or seed out of range.

    References
    ----------
    Benavoli, Mangili, Corani, Zaffalon, Ruggeri: A Bayesian Wilcoxon signed-rank test based on
    the Dirichlet process (ICML 2014), Theorems 2 to 4, eq. 4 to 9; the rope from Benavoli,
    Corani, Demsar, Zaffalon: Time for a change (JMLR 2017).

    Examples
    --------
    One block in favour of x: the prior atom w0 ~ Beta(s, 1) must be below 1 - sqrt(1/2):

    >>> result = bayesian_signed_rank_test([1.0], [2.0], ignorance=1.0)
    >>> result.probability, round(result.lower, 2), result.upper
    (1.0, 0.29, 1.0)
    >>> result.prefer(l0=1, l1=19)
    'indeterminate'
    """
    rope = check_rope(rope)
    check_strength(ignorance, "ignorance")
    check_draws(draws)
    pair = paired(x, y, maximize=maximize)
    levels = signed_levels(pair.x[None], pair.y[None])[0]
    order = np.argsort(levels, kind="stable")
    by_size = _by_size(levels, order)
    levels, z = levels[order], np.sort(differences(pair.x, pair.y))
    plain = _sums(levels, 0)
    region = _sums(z / 2.0, rope * (1.0 + 1e-9)) if rope > 0.0 else None

    n = len(z)
    rng = rng_for(check_seed(seed), "signed-rank")
    # before the weights, so that the prior's draws do not depend on the number of blocks
    prior = rng.standard_gamma(ignorance, draws)
    lead, total = np.empty(draws), np.empty(draws)
    shares = np.empty((draws, 3)) if region is not None else None
    done = 0
    for weights, cumulative in _weights(by_size, draws, rng):
        part = slice(done, done := done + weights.shape[1])
        above, below = plain.of(weights, cumulative)
        lead[part], total[part] = above - below, cumulative[-1]
        if region is not None and shares is not None:
            above, below = region.of(weights, cumulative)
            within = total[part] ** 2 - above - below
            shares[part] = np.stack([below, within, above], axis=1) / (total[part] ** 2)[:, None]

    # theta - 1/2 has the sign of `lead`, less or plus what the pairs with the prior atom weigh
    if not levels.any():
        lead[:] = 0.0
    atom = prior * (2.0 * total + prior)
    probability, lower, upper = fraction_above_zero(
        np.stack([lead, lead - atom, lead + atom])
    ).tolist()
    bounds = (total**2 + lead) / 2.0 + np.stack([np.zeros(draws), atom])
    worse, in_rope, better = 1.0 - probability, 0.0, probability
    least, most = (1.0 - upper, 0.0, lower), (1.0 - lower, 0.0, upper)
    if shares is not None:
        worse, in_rope, better = _votes(shares)
        weight = (atom / total**2)[:, None]
        against, between, in_favour = (_votes(shares + weight * side) for side in np.eye(3))
        least = (in_favour[0], min(against[1], in_favour[1]), against[2])
        most = (against[0], between[1], in_favour[2])
    n_better, n_worse = int((levels > 0).sum()), int((levels < 0).sum())
    estimate, pairs = _mean(levels), (ignorance + n) * (ignorance + n + 1.0)
    lower_estimate = estimate * n * (n + 1) / pairs
    return BayesianSignedRankResult(
        probability=probability,
        lower=lower,
        upper=upper,
        worse=worse,
        indistinguishable=in_rope,
        better=better,
        estimate=estimate,
        lower_estimate=lower_estimate,
        upper_estimate=lower_estimate + ignorance * (ignorance + 2 * n + 1.0) / pairs,
        least=least,
        most=most,
        theta=frozen(0.5 + lead / (2.0 * total**2)),
        theta_bounds=frozen(bounds / (total + prior) ** 2),
        shares=None if shares is None else frozen(shares),
        n_better=n_better,
        n_worse=n_worse,
        n_ties=n - n_better - n_worse,
        n_dropped=pair.dropped,
        rope=rope,
        ignorance=float(ignorance),
    )


def _mean(levels: NDArray[np.int64]) -> float:
    """Return the posterior mean of theta for s -> 0 (eq. 4), with H in place of I."""
    n, sums = len(levels), _sums(levels, 0)
    lead = int((n - sums.above).sum() - sums.below.sum())
    signs = int(np.sign(levels).sum())
    return 0.5 + (lead + signs) / (2.0 * n * (n + 1))
