"""The probability of being the best of all candidates, eliminated ones included."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._checks import as_floats, check_fraction, flag, is_real, whole
from racer._numerics import as_costs, one_blas_thread, power_near
from racer.errors import ScoresError, SettingError
from racer.stats._validation import frozen
from racer.stats.failing import failing_at
from racer.stats.ratios import log_costs, mean_factors, without_short
from racer.stats.smallest import Failing, Part, probability_smallest, root_of
from racer.stats.strata import noise_by_instance
from racer.stats.units import above_median, in_units, unequal_noise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    from racer.stats.strata import Noise

__all__ = ["BestPosterior", "best_posterior"]

_INFLATION = 1.15  # of the noise variance, which is estimated
_HALF_CAUCHY = 0.25  # scale of the prior of the spread, in noise standard deviations
_ALL_EQUAL = 0.1  # its mass at no spread at all
_SPREADS = np.geomspace(1e-3, 1e9, 70)  # variances of candidates, relative to the noise
_NEGLIGIBLE = 2e-3  # weight of a spread
_FAILURE = (50.0, 20.0)  # block spreads, and ranges of the candidates: a failure costs the larger
_MOST = 300  # candidates that are compared in full, of those that may be the best
_SINGULAR = 1e-9  # fraction of the largest eigenvalue
_RIDGE = 1e-10  # of a candidate's weight: estimates are determined up to a constant
_EQUAL = 1e-9  # in units of the spread within a block: means that differ by less are the same
_FAR = 6.0  # spreads of a block: a cost that is further from its median counts as that
_GAP = 30.0  # noise standard deviations: wider gaps between candidates count as that
_BY_LUCK = 9.0  # more of it, over the degrees of freedom: few tell the noise badly
_HIDDEN = 1e-14  # of the largest cost: smaller noise is lost in rounding
_NO_TIE = 1e-6  # of the largest cost: gaps are left that are not taken for ties
_NOISELESS = 0.1  # of what candidates usually differ by: counts as the noise if there is none
_SURELY = 0.9  # of the widest gap: no gap is wider where the whole range is smaller
_LITTLE = 1e-9  # of the sum of squares: a smaller rest may be what a ridge hides
# Who is further behind the best, in standard deviations, with a noise variance of more than so many
# times the best's, is no measure of the others' noise.
_HOPELESS, _NOISIER = 2.0, 4.0
_PASSES = 3  # in which they are left out
_MOVES = 6  # in which less noise comes to light behind the rounding


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
        return self._order()[0]

    def credible_set(self, level: float = 0.95) -> tuple[int, ...]:
        """Return the fewest candidates that hold the best with this probability, likeliest first.

        Raises
        ------
        SettingError
            level out of range.
        """
        check_fraction(level, "level")
        order = self._order()
        sums = np.cumsum(self.probability_best[list(order)])
        return order[: int(np.searchsorted(sums, level - 1e-9)) + 1]

    def _order(self) -> tuple[int, ...]:
        return tuple(np.lexsort((self.mean, -self.probability_best.round(6))).tolist())

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
        costs are likelier. None: all candidates are alike.
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


class Locations(NamedTuple):
    """The posterior of what candidates are expected to cost: a mixture, in units of `unit`."""

    parts: list[Part]
    freedom: int
    failing: Failing | None
    n_blocks: int
    unit: float
    noise: NDArray[np.float64] | None = None  # relative variances, (m,), if means of costs count

    @property
    def mean(self) -> NDArray[np.float64]:
        """The posterior means (m,), failures included."""
        mean = sum((part.weight * part.mean for part in self.parts), np.zeros(1))
        return np.asarray(mean if self.failing is None else mean + self.failing.mean)

    def is_hopeless(self, sought: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which candidates are far behind the best of those sought, and much noisier, (m,)."""
        if self.noise is None:
            return np.zeros(len(sought), dtype=np.bool_)
        mean = sum((part.weight * part.mean for part in self.parts), np.zeros(1))  # if none fails
        variance = np.zeros(len(mean))
        for part in self.parts:
            variance += part.weight * (part.covariance.diagonal() + (part.mean - mean) ** 2)
        best = np.where(sought, self.mean, np.inf).argmin()
        is_behind = mean - mean[best] > _HOPELESS * np.sqrt(variance + variance[best])
        return np.asarray(is_behind & (self.noise > _NOISIER * self.noise[best]))

    def of(self, some: NDArray[np.intp]) -> Locations:
        """Return the posterior of some of the candidates."""
        if len(some) == len(self.parts[0].mean):
            return self
        parts = [part.of(some) for part in self.parts]
        return self._replace(
            parts=parts, failing=None if self.failing is None else self.failing.of(some)
        )

    def drawn(
        self, points: NDArray[np.float64], scale: NDArray[np.float64], near: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return locations of the candidates `near` at normal points (k, p), part by part.

        Student's t are normal points over a common `scale` (p,). Failures are left out.
        """
        p = points.shape[1]
        ends = (p * np.cumsum([part.weight for part in self.parts])).round().astype(np.intp)
        drawn = np.empty(points.shape)
        first = 0
        for part, end in zip(self.parts, [*ends[:-1], p], strict=True):
            root = root_of(part.covariance[np.ix_(near, near)])
            here = slice(first, end)
            drawn[:, here] = root @ points[:, here] / scale[here] + part.mean[near, None]
            first = end
        return drawn


def locations(
    costs: NDArray[np.float64],
    *,
    by_block: bool,
    ratios: bool = False,
    penalty: float | None = None,
    correlation: float,
    n_blocks: int | None,
    strata: Strata | None = None,
    kernels: NDArray[np.float64] | None = None,
) -> Locations:
    """Return the posterior of `best_posterior` for costs (n, m), +inf where a cell failed.

    With `ratios` it is one of the logarithms of mean costs. With a `penalty`, failures cost that.
    """
    seen = (~np.isnan(costs)).sum(axis=0)
    all_blocks = np.inf if n_blocks is None else n_blocks
    logs = log_costs(costs) if ratios else costs
    costs = without_short(logs) if ratios else costs
    shared = correlation / (1.0 - correlation)
    additive = _additive(costs, by_block=by_block and not ratios, shared=shared, strata=strata)
    roots = [None] if kernels is None else [root_of(_of_unit_spread(k)) for k in kernels]
    parts = _posteriors(additive, shared, seen, all_blocks, roots)
    moved = additive.moved
    if kernels is not None and moved.any():  # unseen candidates go with the most similar ones
        is_seen = additive.design.by_candidate > 0.0
        alike = np.where(is_seen, sum(root @ root.T for root in roots if root is not None), -np.inf)
        moved = np.where(is_seen, moved, moved[alike.argmax(axis=1)])
    if ratios:
        factors, variance = mean_factors(logs, costs, 1.0 - seen / all_blocks)
        moved = moved + factors / additive.unit
        parts = [part.with_noise(variance / additive.unit**2) for part in parts]
    parts = [part._replace(mean=part.mean + moved) for part in parts]
    mean = sum((part.weight * part.mean for part in parts), np.zeros(costs.shape[1]))
    price = max(_FAILURE[0], _FAILURE[1] * float(np.ptp(mean)))
    if penalty is not None:
        price = (penalty - float(costs[np.isfinite(costs)].mean())) / additive.unit
    failing = failing_at(price, costs, kernels, may_be_chance=n_blocks is None)
    whole = (parts, additive.freedom, failing, additive.n_blocks, additive.unit)
    return Locations(*whole, None if ratios else additive.noise)


Strata = tuple["NDArray[np.intp]", bool]  # the instance of each block, whether to generalize


@dataclass(frozen=True, eq=False)
class _Design:
    """Weights of the cells that are known, and what follows from them alone."""

    known: NDArray[np.bool_]  # (n, m)
    weights: NDArray[np.float64]  # (n, m)
    by_block: NDArray[np.float64]  # sums of the weights, (n, 1)
    by_candidate: NDArray[np.float64]  # the same, (m,)
    precision: NDArray[np.float64]  # of the candidates' effects for noise of variance 1, (m, m)

    @classmethod
    def of(cls, known: NDArray[np.bool_], relative: NDArray[np.float64] | float = 1.0) -> _Design:
        """Return the design of cells (n, m), given candidates' noise variances, (m,)."""
        weights = known / relative
        by_block, by_candidate = weights.sum(axis=1, keepdims=True), weights.sum(axis=0)
        precision = np.diag(by_candidate) - (weights / by_block).T @ weights
        return cls(known, weights, by_block, by_candidate, precision)

    @cached_property
    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Eigenvalues (m,) and eigenvectors (m, m) of the precision."""
        values, vectors = np.linalg.eigh(self.precision)
        return values, vectors

    def fit(self, values: NDArray[np.float64]) -> _Additive:
        """Return the sufficient statistics of values (n, m)."""
        level = (self.weights * values).sum(axis=1, keepdims=True) / self.by_block
        apart = np.where(self.known, values - level, 0.0)
        centred = self.weights * apart
        squares, n = float((centred * apart).sum()), len(values)
        freedom = int(self.known.sum()) - n
        return _Additive(self, centred.sum(axis=0), squares, freedom, 1.0, n, 1.0)

    def effects(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the estimates of the candidates' effects (m,) that have no prior."""
        values, vectors = self.axes
        clear = values > _SINGULAR * values.max()
        inverse = np.where(clear, 1.0 / np.where(clear, values, 1.0), 0.0)
        return np.asarray(vectors @ (inverse * (vectors.T @ sums)))


class _Additive(NamedTuple):
    """Sufficient statistics of costs less their blocks' effects."""

    design: _Design
    sums: NDArray[np.float64]  # (m,)
    squares: float
    freedom: int
    inflation: float  # of the noise variance
    n_blocks: int
    unit: float  # of what is centred, if that is the same in all blocks
    moved: NDArray[np.float64] = np.zeros(1)  # the amount taken off each candidate's costs, (m,)
    noise: NDArray[np.float64] | None = None  # of candidates, (m,), where it is unequal


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
    price = _FAILURE[0] * np.isposinf(costs).mean(axis=0)
    bound = mean + price - 2.0 / np.sqrt(np.maximum(blocks, 1))
    return np.sort(np.lexsort((np.where(blocks > 0, bound, np.inf), ~sought))[:_MOST])


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


def _additive(
    costs: NDArray[np.float64], *, by_block: bool, shared: float, strata: Strata | None = None
) -> _Additive:
    """Return the sufficient statistics of costs (n, m), centred by block; NaN or inf if unknown."""
    known = np.isfinite(costs)
    several = known.sum(axis=1) > 1
    costs, known = np.where(known, costs, np.nan)[several], known[several]
    design = _Design.of(known)
    n, m = costs.shape
    if not n:
        return _Additive(design, np.zeros(m), 0.0, 1, 1.0, 0, 1.0)
    moved = _beyond_gaps(costs, design, shared)
    costs = costs - moved
    values, clipped, unit, relative = in_units(costs, by_block=by_block)
    inflation = _INFLATION / (1.0 - clipped) ** 2
    noise = None
    if strata is not None:
        noise = noise_by_instance(values, known, strata[0][several], generalize=strata[1])
    if noise is not None:
        found = _with_noise(values, known, noise)
    else:
        if (relative != 1.0).any():
            design = _Design.of(known, relative)
        found = design.fit(values)
        if not by_block:
            found = _placed(found, values, costs / unit)
    if moved.any():
        above = costs - np.nanmedian(costs, axis=1, keepdims=True)
        moved *= np.abs(values).sum() / np.nansum(np.abs(above))
    return found._replace(inflation=inflation, unit=unit, moved=moved)


def wide_gaps(
    costs: NDArray[np.float64], known: NDArray[np.bool_], shared: float = 0.0
) -> NDArray[np.float64]:
    """Return what candidates' costs (n, m) are above a range in which no gap is wide, (m,).

    Where a candidate is far worse than the others, blocks seem to be in other units after it has
    left, noise is less than rounding, and the spread beyond those of the prior; but how far away it
    is says nothing of the others. `shared` is the variance common to all blocks, over the noise's.
    """
    return _beyond_gaps(costs, _Design.of(known), shared)


def _beyond_gaps(costs: NDArray[np.float64], design: _Design, shared: float) -> NDArray[np.float64]:
    """Return what `wide_gaps` does, for cells of equal weight."""
    known, seen = design.known, design.by_candidate > 0.0
    moved = np.zeros(len(seen))
    left = int(known.sum()) - len(costs) - int(seen.sum()) + 1
    if left < 1 or not _is_connected(known[:, seen]):
        return moved
    gap = _GAP * (1.0 + _BY_LUCK / left) * np.sqrt(1.0 + shared)
    ridge = design.precision.max() * (_RIDGE * np.eye(len(seen)) + 1.0 / len(seen))
    ridged = design.precision + ridge
    for _ in range(_MOVES):
        values = np.where(known, costs - moved, 0.0)
        before = design.fit(values)
        effects = np.linalg.solve(ridged, before.sums)
        rest = before.squares - float(effects @ before.sums)
        if np.ptp(effects[seen]) <= _SURELY * gap * np.sqrt(max(rest, 0.0) / left):
            break
        found = design.fit(values - known * effects)
        if found.squares <= _LITTLE * before.squares:  # it may be what the ridge hides
            effects += np.linalg.solve(ridged, found.sums)
            found = design.fit(values - known * effects)
        largest = float(np.abs(values).max())
        noise = np.sqrt(found.squares / left)
        if noise <= _HIDDEN * largest:
            size = float(np.median(np.abs(effects - np.median(effects[seen]))[seen]))
            noise = _NOISELESS * size if size > _HIDDEN * largest else np.inf
        order = np.flatnonzero(seen)[np.argsort(effects[seen])]
        widest = max(gap * noise, _NO_TIE * largest)
        beyond = np.maximum(np.diff(effects[order]) - widest, 0.0)
        if not beyond.any():
            break
        moved[order[1:]] += np.cumsum(beyond)
    return moved


def _is_connected(known: NDArray[np.bool_]) -> bool:
    """Return whether blocks (n, m) compare all candidates, some by way of others."""
    reached = known[0].copy()
    while not reached.all():
        more = known[known[:, reached].any(axis=1)].any(axis=0)
        if (more == reached).all():
            return False
        reached = more
    return True


def _placed(found: _Additive, values: NDArray[np.float64], costs: NDArray[np.float64]) -> _Additive:
    """Return the statistics of values (n, m) with estimates that large costs of some do not move.

    By least squares, a large cost makes its block look hard, and whoever was eliminated soon after
    it look good. The estimates are those of weighted least squares if candidates are not equally
    noisy; how uncertain they are stays as it is, since a large cost may also hit the
    others.
    """
    design = found.design
    relative = unequal_noise(values, design.known, costs)
    if relative is None:
        return found
    weighted = _Design.of(design.known, relative)
    seen = weighted.by_candidate
    size = np.sqrt(np.where(seen > 0.0, seen, 1.0))
    laplacian = weighted.precision / np.outer(size, size) + _RIDGE * np.eye(len(size))
    effects = np.linalg.solve(laplacian, weighted.fit(values).sums / size) / size
    sums = design.precision @ effects
    before, after = (float(s @ design.effects(s)) for s in (found.sums, sums))
    return found._replace(
        sums=sums, squares=max(found.squares - before, 0.0) + after, noise=relative
    )


def _with_noise(values: NDArray[np.float64], known: NDArray[np.bool_], noise: Noise) -> _Additive:
    """Return the sufficient statistics of values (n, m), with a noise variance estimated elsewhere."""
    design = _Design.of(known, noise.relative)
    found = design.fit(values)
    explained = float(found.sums @ design.effects(found.sums))
    freedom = max(round(noise.freedom), 1)
    squares = noise.variance * freedom + explained
    return found._replace(squares=squares, freedom=freedom + int(known.any(axis=0).sum()) - 1)


def _of_unit_spread(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale a covariance (m, m) to a variance of 1 between candidates."""
    m = len(covariance)
    spread = (float(np.trace(covariance)) - float(covariance.sum()) / m) / max(m - 1, 1)
    return covariance / spread if spread > 0.0 else np.eye(m)


class _Axes(NamedTuple):
    """Directions along which candidates are independent, with the statistics projected on them."""

    basis: NDArray[np.float64]  # (m, m)
    precisions: NDArray[np.float64]  # (m,)
    along: NDArray[np.float64]  # sums, (m,)
    least: float  # bound of the prior covariance's eigenvalues (Gershgorin)

    @classmethod
    def of(cls, found: _Additive, root: NDArray[np.float64] | None) -> _Axes:
        """Return the axes of a prior covariance with this root; None: the identity."""
        if root is None:
            values, basis = found.design.axes
            least = 1.0
        else:
            values, vectors = np.linalg.eigh(root.T @ found.design.precision @ root)
            basis = root @ vectors
            prior = np.abs(root @ root.T)
            least = max(float((2.0 * np.diag(prior) - prior.sum(axis=1)).min()), 0.0)
        return cls(basis, np.maximum(values, 0.0), basis.T @ found.sums, least)


def _posteriors(
    found: _Additive,
    shared: float,
    seen: NDArray[np.intp],
    n_blocks: float,
    roots: Sequence[NDArray[np.float64] | None],
) -> list[Part]:
    """Return the posteriors under each prior covariance and each spread that has a weight.

    `shared`: variance common to the blocks of one data set, relative to the noise; `seen` (m,):
    blocks per candidate, of `n_blocks`; `roots`: square roots of the prior covariances.
    """
    m = len(found.sums)
    if found.squares <= 0.0:
        return [Part(1.0, np.zeros(m), np.zeros((m, m)))]
    spreads = np.concatenate([[0.0], _SPREADS])
    prior = (spreads + shared)[:, None]  # variance of what is seen of a candidate
    axes = [_Axes.of(found, root) for root in roots]
    shrinkage = np.array([prior / (1.0 + prior * one.precisions) for one in axes])
    along = np.array([[one.along] for one in axes])
    squares = found.squares - (shrinkage * along**2).sum(axis=2)
    squares = np.maximum(squares, 1e-18 * found.squares)
    fit = np.array([-0.5 * np.log1p(prior * one.precisions).sum(axis=1) for one in axes])
    fit -= 0.5 * found.freedom * np.log(squares)
    fit += np.log(_spread_prior())
    weights = np.exp(fit - fit.max())
    weights[weights < _NEGLIGIBLE * weights.sum()] = 0.0
    weights /= weights.sum()
    ahead = 1.0 - seen / n_blocks  # the share of the blocks that is not known
    observed = found.design.effects(found.sums) if n_blocks < np.inf else 0.0
    parts = []
    for of, at in np.argwhere(weights).tolist():
        basis, rest = axes[of].basis, shrinkage[of, at]
        noise = squares[of, at] * found.inflation / found.freedom
        kept = spreads[at] / (spreads[at] + shared) if spreads[at] else 0.0
        mean = kept * (basis @ (rest * axes[of].along))
        covariance = noise * kept**2 * (basis * rest) @ basis.T
        least = axes[of].least * prior[at]
        own = noise * kept**2 * least / (1.0 + least * found.design.by_candidate)
        if shared:
            covariance += noise * kept * shared * np.eye(m)
            own += noise * kept * shared
        if n_blocks < np.inf:
            mean = (1.0 - ahead) * observed + ahead * mean
            covariance = covariance * np.outer(ahead, ahead) + np.diag(noise * ahead / n_blocks)
            own = ahead**2 * own + noise * ahead / n_blocks
        parts.append(
            Part(float(weights[of, at]), mean, covariance, float(spreads[at] * noise), own)
        )
    return parts


@lru_cache(maxsize=1)
def _spread_prior() -> NDArray[np.float64]:
    """Return the prior masses of no spread and of `_SPREADS`."""
    roots = np.sqrt(_SPREADS)
    edges = np.concatenate([[0.0], np.sqrt(roots[1:] * roots[:-1]), [1.2 * roots[-1]]])
    masses = np.diff(np.arctan(edges / _HALF_CAUCHY))
    return np.concatenate([[_ALL_EQUAL], (1.0 - _ALL_EQUAL) * masses / masses.sum()])
