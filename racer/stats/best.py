"""The probability of being the best of all candidates, eliminated ones included."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import as_floats, check_fraction, flag, is_real, whole
from racer._numerics import as_costs, one_blas_thread, power_near
from racer.errors import ScoresError, SettingError
from racer.stats._validation import frozen
from racer.stats.locations import FAILURE, locations
from racer.stats.smallest import probability_smallest
from racer.stats.units import above_median

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from racer.stats.locations import Locations

__all__ = ["BestPosterior", "best_posterior"]

_MOST = 300  # candidates that are compared in full, of those that may be the best
_EQUAL = 1e-9  # in units of the spread within a block: means that differ by less are the same
_FAR = 6.0  # spreads of a block: a cost that is further from its median counts as that
_PASSES = 3  # in which they are left out


@dataclass(frozen=True, eq=False)
class BestPosterior:
    """Result of `best_posterior`.

    Attributes
    ----------
    probability_best : ndarray, shape (m,)
        Posterior probability of each candidate that its expected cost is the smallest; sums to 1.
    mean : ndarray, shape (m,)
        Posterior mean of each candidate's expected cost, in units of the spread within a block,
        less their mean; 0 where nothing is known, infinity where it was not compared.
    n_blocks : int
        Blocks that tell candidates apart.

    Examples
    --------
    >>> from racer.stats import best_posterior
    >>> found = best_posterior([[1.0, 2.0, 3.0], [1.2, 1.9, 3.1], [0.9, 2.2, 2.9]] * 3)
    >>> found.best, found.credible_set()
    (0, (0,))
    """

    probability_best: NDArray[np.float64]
    mean: NDArray[np.float64]
    n_blocks: int

    @property
    def best(self) -> int:
        """The candidate with the largest probability; of several, that with the least mean."""
        return self.order[0]

    @property
    def order(self) -> tuple[int, ...]:
        """The candidates, likeliest first; of one probability by mean, then by number, to six digits."""
        keys = (self.mean.round(6), -self.probability_best.round(6))
        return tuple(np.lexsort(keys).tolist())

    def credible_set(self, level: float = 0.95) -> tuple[int, ...]:
        """Return the fewest candidates that hold the best with this probability, likeliest first.

        Raises
        ------
        SettingError
            level out of range.
        """
        check_fraction(level, "level")
        order = self.order
        sums = np.cumsum(self.probability_best[list(order)])
        return order[: int(np.searchsorted(sums, level - 1e-9)) + 1]

    def among(self, numbers: Sequence[int], n_candidates: int) -> BestPosterior:
        """Return the posterior of more candidates, of which these alone may be the best.

        `numbers` (m,) are those of the candidates of this posterior.
        """
        probability, mean = np.zeros(n_candidates), np.full(n_candidates, np.inf)
        probability[list(numbers)] = self.probability_best
        mean[list(numbers)] = self.mean
        return BestPosterior(frozen(probability), frozen(mean), self.n_blocks)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate: probability_best, mean."""
        import pandas as pd  # noqa: PLC0415

        columns = {"probability_best": self.probability_best, "mean": self.mean}
        return pd.DataFrame(columns).rename_axis(index="candidate")


def best_posterior(
    scores: ArrayLike,
    *,
    maximize: bool = False,
    by_block: bool = True,
    ratios: bool = False,
    penalty: float | None = None,
    correlation: float = 0.0,
    n_blocks: int | None = None,
    instances: ArrayLike | None = None,
    generalize: bool = True,
    covariances: ArrayLike | None = None,
    among: ArrayLike | None = None,
) -> BestPosterior:
    """Return the posterior probability of each candidate that it is the best of all of them.

    The model: cost of candidate j on block b = block b + candidate j + noise. Candidates are
    exchangeable, normal around a common mean, with a spread that the data estimate: so whoever
    leads by luck is drawn back towards the others. Elimination goes by observed costs alone, so
    that candidates that were eliminated early are compared fairly by what is known of them. The
    spread has a half-Cauchy prior (scale 0.25 of the noise's standard deviation) with a mass of
    0.1 at no spread; the noise variance is integrated out, too. Gaps between candidates of more than
    thirty standard deviations of the noise (of more, if few blocks tell the noise) count as thirty:
    how far behind the worst is says nothing of the others.

    A failed evaluation says nothing of costs, but how often a candidate fails does. Either all fail
    at one rate, by chance, which costs nobody anything beside the others; or some never fail, and
    each of the others at a rate of its own, from a common beta law: at that share, a failure costs
    fifty spreads of a block, or twenty times what candidates differ by if that is more. Both are as
    likely before anything is seen. With `covariances`, alike candidates fail alike, which speaks
    against chance and tells a candidate's rate; with `n_blocks` there is no chance.

    Of more than 300 candidates those are compared that may be the best, by their means so far; the
    others have probability 0.

    Leave out blocks that say more of the block than of the candidates, such as those on which all
    of many candidates failed.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better. NaN: not evaluated; +inf
        (-inf where larger is better): failed. The other infinity, such as the logarithm of an
        error of 0, counts as a range of its block better than the block's best finite score.
    maximize : bool
        Larger is better.
    by_block : bool
        Divide the costs of a block by the block's spread as far as spreads differ by more than
        chance, and clip what is further from its place than 1.5 standard deviations if there are
        more such cells than in normal noise; not where most costs of a block nearly tie, or two
        halves of the candidates do not agree on its spread. False: costs as they are, for objectives whose mean
        counts. Where candidates are not equally noisy, those with less noise tell more of how hard
        a block is; and who is much noisier than the best and more than two standard deviations
        behind is left out, since that noise would make the others look uncertain.
    ratios : bool
        Costs are 0 or more, and means of blocks and candidates are factors of them, as of run
        times: the noise of a slow candidate is larger in seconds, not in their logarithms. These
        are compared, whatever `by_block`, and to a candidate's effect is added what its mean is above
        its typical cost, as far as candidates differ in that by more than chance: so the best has
        the smallest mean, with the more evidence for it the more blocks there are.
    penalty : float, optional
        A score so bad, such as ten times the limit of an unsolved run, is no outlier: it counts as a
        failure at this price, and means of costs are compared, whatever `by_block`. Blocks that all
        their candidates have so bad are left out. With `n_blocks` it is a cost like others, in the
        mean. Not with `ratios`.
    correlation : float in [0, 1)
        Of a candidate's costs on blocks that share data, such as the folds of one data set: the
        best is then the best on data like it (Nadeau and Bengio 2003).
    n_blocks : int, optional
        How many blocks there are in all, if the question is who is the best on these: the mean of
        a candidate that has seen all of them has no error. None: on more like them.
    instances : array_like of int, shape (n,), optional
        The instance of each block, where some have several blocks (seeds): an analysis of variance
        then separates what candidates differ by from instance to instance from noise (with clear
        differences of that kind; else blocks count as independent). None: all are independent.
    generalize : bool
        With `instances`: True asks who is the best on instances like these, False on these.
    covariances : array_like, shape (k, m, m), optional
        Prior covariances of the candidates, up to a factor, where they are not exchangeable: such as
        kernels of a Gaussian process over their configurations. Those weigh more under which these
        costs are likelier. In units of blocks, the noise variance then counts 2.6 times: with a
        likeness that is guessed, P(best) would say too much. None: all candidates are alike.
    among : array_like of int, optional
        The candidates of which the best is sought. The others tell what candidates differ by, and
        have probability 0. None: all.

    Returns
    -------
    BestPosterior

    Raises
    ------
    ScoresError
        No candidate, or values that are not numbers.
    SettingError
        correlation, n_blocks, penalty or among out of range, or covariances of another shape.

    References
    ----------
    Box and Tiao: Bayesian Inference in Statistical Analysis (1973), chapter 7; Gelman: Prior
    distributions for variance parameters in hierarchical models (Bayesian Analysis 2006); Corani,
    Benavoli et al.: Statistical comparison of classifiers through Bayesian hierarchical modelling
    (Machine Learning 2017).

    Examples
    --------
    >>> nan = float("nan")
    >>> best_posterior([[0.1, 0.3, 0.9], [0.2, 0.3, nan], [0.1, 0.4, nan]]).best
    0
    """
    table = as_floats(scores, "scores", 2)
    if not table.shape[1]:
        raise ScoresError("scores has no column: give blocks x candidates")
    if not is_real(correlation) or not 0.0 <= correlation < 1.0:
        raise SettingError(f"correlation={correlation!r}: give a number from 0 to below 1")
    for name, value in (("by_block", by_block), ("ratios", ratios), ("generalize", generalize)):
        flag(value, name)
    costs = as_costs(table, maximize=flag(maximize, "maximize"))
    size = power_near(costs)
    costs = _bounded_below(costs / size)
    if penalty is not None:
        penalty = _as_cost(penalty, maximize=maximize, ratios=ratios) / size
        costs = _as_failures(costs, penalty) if n_blocks is None else costs
    seen = (~np.isnan(costs)).sum(axis=0)
    n_blocks = None if n_blocks is None else whole(n_blocks, "n_blocks", least=1)
    if n_blocks is not None and (correlation or n_blocks < seen.max(initial=0)):
        raise SettingError(
            f"n_blocks={n_blocks!r}: give at least the {seen.max(initial=0)} that a candidate has "
            "seen, and no correlation, which is about other blocks"
        )
    strata = None if instances is None else (_strata(instances, len(costs)), generalize)
    m = costs.shape[1]
    kernels = None if covariances is None else as_floats(covariances, "covariances", 3)
    if kernels is not None and (kernels.shape[1:] != (m, m) or correlation):
        raise SettingError(
            f"covariances of shape {kernels.shape}: give k x {m} x {m}, and no correlation"
        )
    sought = _sought(among, m)
    if m == 1 or not np.isfinite(costs).any():
        return BestPosterior(frozen(sought / sought.sum()), frozen(np.zeros(m)), 0)
    if m > _MOST:
        some = plausible(costs, sought)
        part = best_posterior(
            costs[:, some],
            by_block=by_block,
            ratios=ratios,
            penalty=penalty,
            correlation=correlation,
            n_blocks=n_blocks,
            instances=instances,
            generalize=generalize,
            covariances=_among(kernels, some),
            among=np.flatnonzero(sought[some]),
        )
        return part.among(some.tolist(), m)
    model = partial(
        locations,
        by_block=by_block and penalty is None,
        ratios=ratios,
        penalty=penalty,
        correlation=correlation,
        n_blocks=n_blocks,
        strata=strata,
    )
    with one_blas_thread():
        found, probability, mean = _compared(model, costs, sought, kernels)
    if n_blocks is not None and found.failing is None:  # nothing else is uncertain
        probability = _shared(probability, mean, np.flatnonzero(sought & (seen == n_blocks)))
    return BestPosterior(frozen(probability), frozen(mean - mean.mean()), found.n_blocks)


def plausible(costs: NDArray[np.float64], sought: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the numbers of the candidates that may be the best, ascending: `_MOST` of them.

    Those that are sought, a mask (m,), come before the others.
    """
    if costs.shape[1] <= _MOST:
        return np.arange(costs.shape[1])
    known = np.isfinite(costs)
    count = known.sum(axis=1)
    solved = count > 0
    above, scale, _ = above_median(np.where(known, costs, np.nan)[solved], count[solved])
    usual = float(np.median(scale[scale > 0.0])) if (scale > 0.0).any() else 1.0
    size = np.clip(above / np.where(scale > 0.0, scale, usual)[:, None], -_FAR, _FAR)
    blocks = known.sum(axis=0)
    mean = np.nansum(size, axis=0) / np.maximum(blocks, 1)
    price = FAILURE[0] * np.isposinf(costs).mean(axis=0)
    bound = mean + price - 2.0 / np.sqrt(np.maximum(blocks, 1))
    return np.sort(np.lexsort((np.where(blocks > 0, bound, np.inf), ~sought))[:_MOST])


def _compared(
    model: Callable[..., Locations],
    costs: NDArray[np.float64],
    sought: NDArray[np.bool_],
    kernels: NDArray[np.float64] | None,
) -> tuple[Locations, NDArray[np.float64], NDArray[np.float64]]:
    """Return the posterior, and each candidate's probability (m,) and mean (m,).

    Of all but hopeless candidates whose noise is large, which have a probability of 0: without
    them, others may turn out to be so.
    """
    found = model(costs, kernels=kernels)
    mean, rest = found.mean, np.arange(len(sought))
    for _ in range(_PASSES):
        if (stays := ~found.is_hopeless(sought[rest])).all():
            break
        rest, unit = rest[stays], found.unit
        found = model(costs[:, rest], kernels=_among(kernels, rest))
        mean = mean * unit / found.unit
        mean += found.mean.mean() - mean[rest].mean()
        mean[rest] = found.mean
    some = found.of(np.flatnonzero(sought[rest]))
    probability = np.zeros(len(sought))
    probability[rest[sought[rest]]] = probability_smallest(some.parts, some.freedom, some.failing)
    return found, probability, mean


def _among(
    kernels: NDArray[np.float64] | None, some: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Return the covariances (k, m, m) of some of the candidates, if there are any."""
    return None if kernels is None else kernels[:, some][:, :, some]


def _shared(
    probability: NDArray[np.float64], mean: NDArray[np.float64], complete: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return probabilities, shared among those of equal mean that are known completely."""
    order = complete[np.argsort(mean[complete], kind="stable")]
    shared = probability.copy()
    for tied in np.split(order, np.flatnonzero(np.diff(mean[order]) > _EQUAL) + 1):
        if len(tied) > 1:
            shared[tied] = probability[tied].mean()
    return shared


def _sought(among: ArrayLike | None, m: int) -> NDArray[np.bool_]:
    """Return a mask of the candidates (m,) of which the best is sought."""
    if among is None:
        return np.ones(m, dtype=np.bool_)
    chosen = as_floats(among, "among", 1)
    sought = np.isin(np.arange(m), chosen)
    if not len(chosen) or not np.isin(chosen, np.arange(m)).all():
        raise SettingError(f"among={among!r}: give some of the numbers from 0 to {m - 1}")
    return sought


def _strata(instances: ArrayLike, n: int) -> NDArray[np.intp]:
    """Return the instance of each of n blocks; SettingError unless they are whole numbers."""
    given = as_floats(instances, "instances", 1)
    if given.shape != (n,) or not (given == np.floor(given)).all():
        raise SettingError(f"instances: give {n} whole numbers, one for each row of scores")
    return given.astype(np.intp)


def _as_cost(penalty: float, *, maximize: bool, ratios: bool) -> float:
    """Return a penalty, which is a score, as a cost."""
    if not is_real(penalty) or not math.isfinite(penalty) or ratios:
        raise SettingError(f"penalty={penalty!r}: give a finite score, without ratios=True")
    return -penalty if maximize else penalty


def _as_failures(costs: NDArray[np.float64], penalty: float) -> NDArray[np.float64]:
    """Return costs (n, m), penalised ones +inf, without blocks that several have, all so bad."""
    far = costs >= penalty
    several = (~np.isnan(costs)).sum(axis=1) > 1
    too_hard = several & (far | np.isnan(costs)).all(axis=1)
    return np.where(too_hard[:, None], np.nan, np.where(far, np.inf, costs))


def _bounded_below(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return finite costs for -inf: a range of the block (if 0, of the widest) below its least."""
    is_below = costs == -np.inf
    if not is_below.any():
        return costs
    known = np.isfinite(costs)
    least = np.min(costs, axis=1, where=known, initial=np.inf, keepdims=True)
    least[np.isinf(least)] = 0.0  # nothing is known
    ranges = np.max(np.where(known, costs, least), axis=1, keepdims=True) - least
    ranges[ranges == 0.0] = ranges.max() or 1.0
    return np.where(is_below, least - ranges, costs)
