"""The Bayesian correlated t-test: means of candidates on the folds of a cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import check_draws, is_real
from racer._numerics import one_blas_thread, power_near
from racer.errors import ScoresError, SettingError
from racer.seeding import check_seed, rng_for
from racer.stats._validation import complete_blocks, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

_CELLS = 1 << 22  # numbers held at a time


@dataclass(frozen=True, eq=False)
class CorrelatedTResult:
    """Result of `correlated_t_test`.

    Attributes
    ----------
    means : ndarray, shape (m,)
        Mean scores, in the user's direction.
    better : ndarray, shape (m, m)
        [i, j]: posterior probability that i is better than j by more than `rope`.
    equivalent : ndarray, shape (m, m)
        Posterior probability that they differ by no more than `rope`; 1 on the diagonal.
    best : ndarray, shape (m,)
        Posterior probability of having the best mean of all, which sums to 1.
    correlation, rope : float
        As given.
    n_blocks, n_dropped : int
        Complete blocks used, and blocks left out because of NaN.

    Examples
    --------
    >>> from racer.stats import correlated_t_test
    >>> folds = [[0.90, 0.80], [0.92, 0.85], [0.88, 0.80], [0.91, 0.84], [0.93, 0.82]]
    >>> result = correlated_t_test(folds, correlation=0.2, maximize=True)
    >>> result.means.round(3), result.n_blocks
    (array([0.908, 0.822]), 5)
    >>> bool(result.better[0, 1] > 0.95)
    True
    """

    means: NDArray[np.float64]
    better: NDArray[np.float64]
    equivalent: NDArray[np.float64]
    best: NDArray[np.float64]
    correlation: float
    rope: float
    n_blocks: int
    n_dropped: int


def check_correlation(correlation: float) -> float:
    """Return `correlation` if blocks can have it: 0 <= correlation < 1."""
    if not is_real(correlation) or not 0.0 <= correlation < 1.0:
        raise SettingError(f"correlation={correlation!r}: give a number from 0 up to below 1")
    return float(correlation)


def check_rope(rope: float) -> float:
    """Return `rope` if it is a difference that does not matter: finite and >= 0."""
    if not is_real(rope) or not 0.0 <= rope < math.inf:
        raise SettingError(f"rope={rope!r}: give a finite number >= 0, in units of the score")
    return float(rope)


def inflation(n: int, correlation: float) -> float:
    """Return the variance of the mean of n blocks in units of theirs: 1/n + rho/(1 - rho)."""
    return 1.0 / n + correlation / (1.0 - correlation)


def below(
    bound: float, mean: NDArray[np.float64], spread: NDArray[np.float64], df: int
) -> NDArray[np.float64]:
    """Return P(difference < bound) under Student's t around `mean`; 1/2 where both are equal."""
    from scipy.special import stdtr  # noqa: PLC0415

    gap = bound - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(gap == 0.0, 0.0, gap / spread)
    return np.asarray(stdtr(df, t), dtype=np.float64)


def correlated_t_test(
    scores: ArrayLike,
    *,
    correlation: float,
    rope: float = 0.0,
    maximize: bool = False,
    draws: int = 10_000,
    seed: int = 0,
) -> CorrelatedTResult:
    """Return the posterior of the means of candidates on correlated blocks, such as folds.

    Folds share training data, so that differences on them are correlated, and many folds of one
    data set are weaker evidence than as many data sets would be. With correlation rho, the
    posterior of a difference of means is Student's t with n - 1 degrees of freedom around the
    mean difference d, of scale s sqrt(1/n + rho/(1 - rho)), where s is the standard deviation of
    the n differences. Jointly the m means are the multivariate t of which these are the
    differences: `best` is counted in draws from it.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better. Blocks with NaN are left
        out.
    correlation : float in [0, 1)
        Of two blocks. For a cross-validation the fraction of the data that is tested on, 1/10
        for ten folds, repeated or not (Nadeau and Bengio). 0: the blocks are independent, or the
        question is which is better on the mean of more blocks of the same data set.
    rope : float >= 0
        A difference of means that does not matter, in units of the scores.
    maximize : bool
        Larger is better.
    draws : int >= 100
    seed : int >= 0
        Same seed, same answer.

    Returns
    -------
    CorrelatedTResult

    Raises
    ------
    ScoresError
        Fewer than two candidates or two complete blocks, or values that are not finite.
    SettingError
        correlation, rope, draws or seed out of range.

    References
    ----------
    Nadeau and Bengio: Inference for the generalization error, Machine Learning 52 (2003); Corani
    and Benavoli: A Bayesian approach for comparing cross-validated algorithms on multiple data
    sets, Machine Learning 100 (2015), section 3; Benavoli, Corani, Demšar, Zaffalon: Time for a
    change, Journal of Machine Learning Research 18 (2017), section 3.

    Examples
    --------
    >>> errors = [[0.10, 0.13], [0.12, 0.14], [0.09, 0.12], [0.11, 0.15], [0.10, 0.12]]
    >>> result = correlated_t_test(errors, correlation=0.2, rope=0.01)
    >>> round(float(result.better[0, 1]), 3), round(float(result.equivalent[0, 1]), 3)
    (0.984, 0.015)
    """
    rho, rope = check_correlation(correlation), check_rope(rope)
    check_draws(draws)
    rng = rng_for(check_seed(seed), "correlated-t")
    blocks = complete_blocks(scores, maximize=maximize, min_blocks=2)
    costs, n = blocks.costs, len(blocks.costs)
    if not np.isfinite(costs).all():
        raise ScoresError("scores has infinite values: the mean of a block with one is meaningless")
    unit = power_near(costs)
    costs, apart = costs / unit, rope / unit
    mean = costs.mean(axis=0)
    gaps = costs[:, :, None] - costs[:, None, :]  # (n, m, m)
    # gaps first: what the costs of a block have in common cancels before it is squared
    spread = gaps.std(axis=0, ddof=1) * math.sqrt(inflation(n, rho))
    gap = gaps.mean(axis=0)
    better = below(-apart, gap, spread, n - 1)
    equivalent = np.maximum(1.0 - better - better.T, 0.0)
    better[spread == 0.0] = (gap < -apart)[spread == 0.0]
    equivalent[spread == 0.0] = (np.abs(gap) <= apart)[spread == 0.0]
    # normal weights of blocks: draws have the covariance of the costs, even if it is singular
    step = max(1, _CELLS // n)
    normals = (rng.standard_normal((min(step, draws - at), n)) for at in range(0, draws, step))
    drawn = posterior_draws(costs, mean, rho, normals, rng)
    least = drawn.min(axis=1, keepdims=True)
    leads = drawn <= least + 1e-9 * np.abs(least)
    mean *= unit
    return CorrelatedTResult(
        means=frozen(-mean if maximize else mean),
        better=frozen(better),
        equivalent=frozen(equivalent),
        best=frozen((leads / leads.sum(axis=1, keepdims=True)).mean(axis=0)),
        correlation=rho,
        rope=rope,
        n_blocks=n,
        n_dropped=blocks.dropped,
    )


def posterior_draws(
    costs: NDArray[np.float64],
    mean: NDArray[np.float64],
    correlation: float,
    normals: Iterable[NDArray[np.float64]],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw the means of costs (n, m), by standard normal numbers, (some draws, n) each; shape (draws, m)."""
    n, deviations = len(costs), costs - mean
    with one_blas_thread():
        sums = np.concatenate([normal @ deviations for normal in normals])
    scale = np.sqrt(inflation(n, correlation) / rng.chisquare(n - 1, len(sums)))
    return np.asarray(mean + scale[:, None] * sums, dtype=np.float64)
