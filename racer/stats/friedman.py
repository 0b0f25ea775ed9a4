"""The Friedman test, as chi-square and as F."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.stats._validation import complete_blocks, frozen
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class RankSums(NamedTuple):
    """All that the Friedman family needs to know of n blocks of m candidates."""

    n: int
    deviation: NDArray[np.float64]  # R_i - n(m+1)/2, per candidate
    within: float  # sum of (r_ij - (m+1)/2)^2 over all cells: A - n m (m+1)^2 / 4

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
    """Friedman's Q, tie-corrected: (m-1) sum(R_i - n(m+1)/2)^2 / (A - n m (m+1)^2 / 4)."""
    return (r.m - 1) * r.spread / r.within if r.within > 0.0 else 0.0


def iman_davenport(statistic: float, n: int, m: int) -> tuple[float, float]:
    """Return F_F = (n-1) Q / (n(m-1) - Q) of a Friedman statistic Q (1980), and its p-value.

    When all are alike, every block has the same order of them with probability 1/m!^(n-1): the
    p-value, an approximation, is at least that.
    """
    from scipy.special import fdtrc  # noqa: PLC0415

    if n < 2 or statistic <= 0.0:
        return 0.0, 1.0
    left = n * (m - 1) - statistic
    least = math.exp(-(n - 1) * math.lgamma(m + 1))
    if left <= 1e-12 * n * (m - 1):  # every block ranks the candidates alike
        return np.inf, least
    f = (n - 1) * statistic / left
    return f, max(least, float(fdtrc(*iman_davenport_df(n, m), f)))


def iman_davenport_df(n: int, m: int) -> tuple[int, int]:
    """Return the degrees of freedom of Iman and Davenport's F."""
    return m - 1, (m - 1) * (n - 1)


def friedman(r: RankSums) -> tuple[float, float]:
    """Return Friedman's statistic and its chi-square p-value."""
    from scipy.special import chdtrc  # noqa: PLC0415

    statistic = chi_square(r)
    return statistic, float(chdtrc(r.m - 1, statistic))


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
    """Ranks (n x m) measured from (m+1)/2, the rank of a candidate like all others."""
    return np.asarray(ranks - (ranks.shape[1] + 1) / 2.0)


def rank_sums(scores: ArrayLike, *, maximize: bool, min_blocks: int) -> tuple[RankSums, int]:
    """Return the rank sums of the complete blocks, and how many blocks were left out."""
    blocks = complete_blocks(scores, maximize=maximize, min_blocks=min_blocks)
    ranks = centred(ranks_of(blocks.costs))
    return RankSums(len(ranks), ranks.sum(axis=0), float((ranks**2).sum())), blocks.dropped


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
