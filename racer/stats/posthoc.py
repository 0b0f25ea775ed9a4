"""Post-hoc comparisons after a Friedman test: Conover, mean ranks, Nemenyi."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts are imported when they are used

from racer._checks import check_fraction, whole
from racer.stats._validation import frozen
from racer.stats.friedman import RankSums, least_p_value, rank_sums
from racer.stats.multiplicity import Correction, adjust

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray


def conover_scale(r: RankSums) -> float:
    """Return the standard error of R_i - R_j: sqrt(2 (nA - sum R_j^2) / ((n-1)(m-1)))."""
    # nA - sum R^2 taken about the mean rank, so that nothing large cancels
    left = r.n * r.within - r.spread
    return float(np.sqrt(max(0.0, 2.0 * left / ((r.n - 1) * (r.m - 1)))))


def conover_p_values(r: RankSums, difference: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return two-sided p-values of differences of rank sums (Conover 1999, section 5.8)."""
    scale = conover_scale(r) if r.n > 1 else np.inf
    if scale <= 1e-9 * r.n:  # no spread left: any difference is certain
        return np.where(difference == 0.0, 1.0, 0.0)
    return np.asarray(2.0 * scipy.special.stdtr((r.n - 1) * (r.m - 1), -np.abs(difference) / scale))


@dataclass(frozen=True, eq=False)
class PosthocResult:
    """Result of a post-hoc comparison of all pairs.

    Attributes
    ----------
    p_values : ndarray, shape (m, m)
        Two-sided, adjusted by `correction`; symmetric, with 1 on the diagonal.
    statistics : ndarray, shape (m, m)
        The studentised difference of row minus column: negative where the row is better.
    mean_ranks : ndarray, shape (m,)
    correction : str or None
    n_blocks, n_dropped : int

    Examples
    --------
    >>> from racer.stats import conover_posthoc
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> result = conover_posthoc(scores)
    >>> result.p_values.round(3)
    array([[1.   , 0.014, 0.001],
           [0.014, 1.   , 0.128],
           [0.001, 0.128, 1.   ]])
    """

    p_values: NDArray[np.float64]
    statistics: NDArray[np.float64]
    mean_ranks: NDArray[np.float64]
    correction: Correction | None
    n_blocks: int
    n_dropped: int

    def to_frame(self) -> pd.DataFrame:
        """Return the p-values as an m x m DataFrame."""
        import pandas as pd  # noqa: PLC0415

        return pd.DataFrame(self.p_values)

    def plot(
        self, names: Sequence[str] | None = None, *, alpha: float = 0.05, ax: Axes | None = None
    ) -> Axes:
        """Draw the mean ranks, with bars over candidates whose p-values exceed alpha.

        Parameters
        ----------
        names : sequence of str, length m, optional
            "0", "1", .. by default.
        alpha : float in (0, 1)
        ax : matplotlib Axes, optional

        Raises
        ------
        MissingExtraError
            Without matplotlib.
        """
        from racer.plots import critical_difference  # noqa: PLC0415

        shown = [str(i) for i in range(len(self.mean_ranks))] if names is None else names
        alike = self.p_values > check_fraction(alpha, "alpha")
        return critical_difference(shown, self.mean_ranks, alike, ax=ax)


def _posthoc(
    r: RankSums,
    dropped: int,
    statistics: NDArray[np.float64],
    p_values: NDArray[np.float64],
    correction: Correction | None,
) -> PosthocResult:
    upper = np.triu_indices(r.m, 1)
    adjusted = np.ones((r.m, r.m))
    adjusted[upper] = adjust(p_values[upper], correction, n_candidates=r.m)
    adjusted.T[upper] = adjusted[upper]
    return PosthocResult(
        frozen(adjusted), frozen(statistics), frozen(r.mean_ranks), correction, r.n, dropped
    )


def conover_posthoc(
    scores: ArrayLike, *, correction: Correction | None = None, maximize: bool = False
) -> PosthocResult:
    """Compare all pairs by Conover's t after a Friedman test.

    The hypothesis per pair is that both candidates have the same expected rank sum. Two
    candidates differ when |R_i - R_j| exceeds t(1 - alpha/2, (n-1)(m-1)) times
    sqrt(2 (nA - sum R_j^2) / ((n-1)(m-1))), A the sum of all squared ranks. Ties and NaN as in
    `friedman_test`. A p-value is at least the probability that all blocks rank alike, 1/m!^(n-1),
    which it is where they do.

    Parameters
    ----------
    scores : array_like, shape (n, m), n >= 2
        Smaller is better.
    correction : {"bonferroni", "holm", "hochberg", "shaffer"}, optional
        Over the m(m-1)/2 pairs.
    maximize : bool
        Larger is better.

    Raises
    ------
    ScoresError
        As `friedman_test`, or fewer than two complete blocks.

    References
    ----------
    Conover (1999), section 5.8; the post-hoc of F-Race (Birattari et al. 2002).

    Examples
    --------
    >>> scores = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]
    >>> conover_posthoc(scores).p_values.round(4).tolist()[0]
    [1.0, 0.2143, 0.0321]
    """
    r, dropped = rank_sums(scores, maximize=maximize, min_blocks=2)
    difference = r.deviation[:, None] - r.deviation[None, :]
    scale = conover_scale(r)
    statistics = np.divide(
        difference,
        scale,
        out=np.where(difference == 0.0, 0.0, np.copysign(np.inf, difference)),
        where=scale > 1e-9 * r.n,
    )
    p_values = np.maximum(conover_p_values(r, difference), least_p_value(r.n, r.m))
    return _posthoc(r, dropped, statistics, p_values, correction)


def mean_rank_posthoc(
    scores: ArrayLike, *, correction: Correction | None = None, maximize: bool = False
) -> PosthocResult:
    """Compare all pairs by the difference of their mean ranks.

    The hypothesis is that all candidates perform alike, for any compared pair: a
    pair's test depends on the other candidates present. Under it,
    z = (mean R_i - mean R_j) / sqrt(m(m+1) / (6n)) is about standard normal. Ties and NaN as in
    `friedman_test`; ties make this test conservative.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        Smaller is better.
    correction : {"bonferroni", "holm", "hochberg", "shaffer"}, optional
        Over the m(m-1)/2 pairs.
    maximize : bool
        Larger is better.

    Raises
    ------
    ScoresError
        As `friedman_test`.

    References
    ----------
    Demsar (JMLR 2006), section 3.2.2; Benavoli et al. (ICML 2015), section 3, which writes rank
    sums where mean ranks are meant.

    Examples
    --------
    >>> scores = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]
    >>> mean_rank_posthoc(scores).p_values.round(4).tolist()[0]
    [1.0, 0.2888, 0.0339]
    """
    r, dropped = rank_sums(scores, maximize=maximize, min_blocks=1)
    z = (r.deviation[:, None] - r.deviation[None, :]) / r.n / mean_rank_scale(r.n, r.m)
    return _posthoc(r, dropped, z, 2.0 * scipy.special.ndtr(-np.abs(z)), correction)


def mean_rank_scale(n: int, m: int) -> float:
    """Return the standard error of a difference of two mean ranks when all candidates are alike."""
    return float(np.sqrt(m * (m + 1) / (6.0 * n)))


def nemenyi_critical_difference(n_candidates: int, n_blocks: int, *, alpha: float = 0.05) -> float:
    """Return the smallest difference of mean ranks that Nemenyi's test calls significant.

    CD = q(alpha, m) sqrt(m(m+1) / (6n)), q the upper quantile of the studentised range with
    infinite degrees of freedom over sqrt(2). All m(m-1)/2 pairs together err with probability
    at most alpha when all candidates perform alike.

    Parameters
    ----------
    n_candidates : int >= 2
    n_blocks : int >= 1
    alpha : float in (0, 1)

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Nemenyi (1963); Demsar (JMLR 2006), section 3.2.2, whose example has a CD of 1.25.

    Examples
    --------
    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    whole(n_candidates, "n_candidates", least=2)
    whole(n_blocks, "n_blocks", least=1)
    check_fraction(alpha, "alpha")
    q = float(scipy.stats.studentized_range.ppf(1.0 - alpha, n_candidates, np.inf)) / np.sqrt(2.0)
    return float(q * mean_rank_scale(n_blocks, n_candidates))
