"""The Wilcoxon signed-rank test, for two candidates on the same blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from racer._checks import choice
from racer.stats._pair import ALTERNATIVES, Alternative, p_value_of, paired

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from racer.stats._pair import Pair

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


def differences(pair: Pair) -> NDArray[np.float64]:
    """Return Z = cost of y - cost of x, positive where x is better; equal infinities tie."""
    z = np.zeros(len(pair.x))
    unequal = pair.x != pair.y
    with np.errstate(over="ignore"):
        z[unequal] = pair.y[unequal] - pair.x[unequal]
    return z


def signed_levels(pair: Pair) -> NDArray[np.int64]:
    """Return sign(Z) times the place of |Z| among those distinct but for rounding; 0 for a tie."""
    z = differences(pair)
    finite = np.isfinite(pair.x) & np.isfinite(pair.y)
    slack = np.zeros(len(z))
    slack[finite] = ROUNDING * np.maximum(np.abs(pair.x), np.abs(pair.y))[finite]
    order = np.argsort(np.abs(z), kind="stable")
    size, slack = np.abs(z)[order], slack[order]
    with np.errstate(invalid="ignore"):  # inf - inf: one level
        new = np.diff(size, prepend=0.0) > slack + np.append(0.0, slack[:-1])
    levels = np.empty(len(z), dtype=np.int64)
    levels[order] = np.cumsum(new)
    return np.asarray(np.sign(z).astype(np.int64) * levels)


@lru_cache(maxsize=256)
def _null_tails(doubled: tuple[int, ...]) -> NDArray[np.float64]:
    """P(T >= t / 2) for t = 0, 1, .. when each rank is in T by the toss of a fair coin."""
    law = np.zeros(sum(doubled) + 1)
    law[0] = 1.0
    for rank in doubled:
        law *= 0.5
        law[rank:] += law[: len(law) - rank].copy()
    return np.asarray(np.cumsum(law[::-1])[::-1])


def _normal_tail(statistic: float, ranks: NDArray[np.float64]) -> float:
    """P(T >= statistic), approximately, with continuity correction."""
    from scipy.special import ndtr  # noqa: PLC0415

    z = (statistic - 0.5 - ranks.sum() / 2.0) / (np.sqrt((ranks**2).sum()) / 2.0)
    return float(ndtr(-z))


def _rank_sums(
    pair: Pair, zeros: Zeros
) -> tuple[float, float, NDArray[np.float64], NDArray[np.int64]]:
    """Return T+ and T-, the ranks without ties (dropped before or after), and the signed levels."""
    from scipy.stats import rankdata  # noqa: PLC0415

    levels = signed_levels(pair)
    ranked = levels[levels != 0] if zeros == "drop" else levels
    ranks = np.asarray(rankdata(np.abs(ranked)), dtype=np.float64)
    signs, ranks = np.sign(ranked[ranked != 0]), ranks[ranked != 0]
    return float(ranks[signs > 0].sum()), float(ranks[signs < 0].sum()), ranks, levels


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
    better, worse, *_ = _rank_sums(paired(x, y, maximize=maximize), "drop")
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
    average of their ranks, whether equal exactly or but for rounding. Up to 200 differences the
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
        What blocks that tie do: they are left out before ranking (Wilcoxon), or are ranked with
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
    better, worse, ranks, levels = _rank_sums(pair, zeros)
    exact = len(ranks) <= _EXACT

    def at_least(statistic: float) -> float:
        if len(ranks) == 0:
            return 1.0
        if not exact:
            return _normal_tail(statistic, ranks)
        doubled = tuple(sorted((2 * ranks).astype(int).tolist()))
        return float(_null_tails(doubled)[int(2 * statistic)])

    return SignedRankResult(
        p_value=p_value_of(alternative, better, worse, at_least),
        rank_sum_better=better,
        rank_sum_worse=worse,
        n_better=int((levels > 0).sum()),
        n_worse=int((levels < 0).sum()),
        n_ties=int((levels == 0).sum()),
        n_dropped=pair.dropped,
        alternative=alternative,
        method="exact" if exact else "normal",
    )
