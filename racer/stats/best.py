"""The posterior of the best candidate: by places, among the candidates that fail least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from racer._checks import as_floats, check_fraction, choice, flag, is_real, whole
from racer._numerics import as_costs, one_blas_thread, power_near
from racer.errors import ScoresError, SettingError
from racer.failures import failing_parts, rate_laws
from racer.failures import penalty as penalty_of
from racer.stats._validation import frozen
from racer.stats.correlated_t import check_correlation
from racer.stats.least import Part, Rates, probability_least, probability_least_mean
from racer.stats.places import Design, Measure, far_behind, place_parts, scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


_MOST = 300  # candidates that are compared in full, of those that may be the best
_PASSES = 4  # in which such candidates are found
_GUESSED = 2.6  # the noise variance counts as so much more, where likeness is guessed by kernels
_FEW, _MANY = 30, 1.5  # of more candidates the noise counts so much: pools have an edge, no tail
_PRICE = 50.0  # of a failure, in noise standard deviations, where likeness tells who fails


@dataclass(frozen=True, eq=False)
class BestPosterior:
    """Result of `best_posterior`.

    Attributes
    ----------
    probability_best : ndarray, shape (m,)
        Posterior probability of each candidate that it is the best; sums to 1.
    mean : ndarray, shape (m,)
        Posterior mean of each candidate's place, less their mean: in standard scores, or in the unit
        of costs (of their logarithms) where these are compared; 0 where nothing is known, infinity
        where it was not compared.
    n_blocks : int
        Blocks that tell candidates apart.

    Examples
    --------
    >>> from racer.stats import best_posterior
    >>> found = best_posterior([[1.0, 2.0, 3.0], [1.2, 1.9, 3.1], [0.9, 2.2, 2.9]] * 3)
    >>> found.best, found.credible_set()
    (0, (0,))
    """

    probability_best: Floats
    mean: Floats
    n_blocks: int

    @property
    def best(self) -> int:
        """The candidate with the largest probability; of several, by the least mean."""
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

        `numbers` (m,) tells where the candidates of this posterior stand among all.
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
    measure: Measure = "rank",
    correlation: float = 0.0,
    n_blocks: int | None = None,
    instances: ArrayLike | None = None,
    generalize: bool = True,
    covariances: ArrayLike | None = None,
    among: ArrayLike | None = None,
    penalty: float | None = None,
) -> BestPosterior:
    """Return the posterior probability of each candidate that it is the best of all of them.

    Three steps. *Scores*: costs above their block's median, in units of the block's spread as far
    as spreads differ by more than chance, are ranked together, and become the standard normal
    scores of these ranks. *Places*: score of candidate j on block b = block b + place j + noise.
    Candidates are exchangeable, normal around a common mean with a spread that the data estimate:
    so any that leads by luck is drawn back to the others. The spread has a half-Cauchy prior (scale
    0.25 of the noise's standard deviation) with a mass of 0.3 at no spread; the noise variance is
    integrated out. Elimination goes by observed costs alone, so that candidates that were
    eliminated early are compared fairly on the blocks they saw. A candidate more than three robust
    spreads of the better candidates (or standard errors) behind their lower third cannot be the
    best, and is no measure of how much the others differ. *Failures* come first, with evidence: log
    odds of failing = how often the others fail on the block + the candidate's own part, which is 0
    for most. The best has the least place among all candidates with the least part. So a failure by
    chance, or on a block on which others fail too, costs next to nothing, and a candidate known to
    fail more often cannot be the best. A block on which all fail is no evidence.

    A penalty, one largest score of several blocks and candidates far beyond all others, such as ten
    times a limit, is a failure, whatever `measure`.

    Of more than 300 candidates the 300 most promising by their scores so far are compared; the
    others have probability 0.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better. NaN: not evaluated; +inf
        (-inf where larger is better): failed. The other infinity, such as the logarithm of an
        error of 0, is better than all finite scores of its block.
    maximize : bool
        Larger is better.
    measure : {"rank", "mean", "log"}
        What is compared: normal scores of ranks; costs as they are, for objectives whose mean
        counts; or logarithms of costs, which are 0 or more and differ by factors, as run times do.
    correlation : float in [0, 1)
        Of a candidate's costs on blocks that share data, such as the folds of one data set: the
        best is then the best on data like it (Nadeau and Bengio 2003).
    n_blocks : int, optional
        Number of blocks in all, if the question is which candidate is the best on these: the mean
        of a candidate that has seen all of them has no error. None: on more like them.
    instances : array_like of int, shape (n,), optional
        The instance of each block, where some have several blocks (seeds): an analysis of variance
        then separates noise from differences between candidates that vary by instance (where these
        are clear; else blocks count as independent). None: all are independent.
    generalize : bool
        With `instances`: True asks which is the best on instances like these, False on these alone.
    covariances : array_like, shape (k, m, m), optional
        Prior covariances of the candidates, up to a factor, where they are not exchangeable: such as
        kernels of a Gaussian process over their configurations. A covariance that makes these costs
        likelier weighs more. Except for means, the noise variance then counts 2.6 times: with a
        likeness that is guessed, P(best) would claim too much. None: all candidates are alike.
    among : array_like of int, optional
        The candidates of which the best is sought. The others show how much candidates differ, and
        have probability 0; with a `penalty` they are slower than the fastest of these, and may be
        the best only by failing less often. None: all.
    penalty : float > 0, optional
        With measure="log": the cost of a failure in a mean, such as ten limits of a run time, whose
        least is sought, so that failures do not come first. How often each candidate fails is
        estimated together with all others: a candidate never seen to fail may still do so. Not
        with `covariances`. None: failures come first.

    Returns
    -------
    BestPosterior

    Raises
    ------
    ScoresError
        No candidate, values that are not numbers, or negative ones of which logarithms are asked for.
    SettingError
        correlation, n_blocks, among or penalty out of range, or covariances of another shape.

    References
    ----------
    Box and Tiao: Bayesian Inference in Statistical Analysis (1973), chapter 7; Gelman: Prior
    distributions for variance parameters in hierarchical models (Bayesian Analysis 2006); Hodges and
    Lehmann: Rank methods for combination of independent experiments in analysis of variance (Annals
    of Mathematical Statistics 1962), for ranks after alignment.

    Examples
    --------
    >>> nan = float("nan")
    >>> best_posterior([[0.1, 0.3, 0.9], [0.2, 0.3, nan], [0.1, 0.4, nan]]).best
    0
    """
    table = as_floats(scores, "scores", 2)
    n, m = table.shape
    if not m:
        raise ScoresError("scores has no column: give blocks x candidates")
    choice(measure, "measure", get_args(Measure))
    flag(generalize, "generalize")
    check_correlation(correlation)
    costs = as_costs(table, maximize=flag(maximize, "maximize"))
    if measure == "log" and (costs[~np.isnan(costs)] < 0.0).any():
        raise ScoresError('a cost is negative: with measure="log" all are at least 0')
    seen = int((~np.isnan(costs)).sum(axis=0).max(initial=0))
    total = np.inf if n_blocks is None else whole(n_blocks, "n_blocks", least=1)
    if total < np.inf and (correlation or total < seen):
        raise SettingError(
            f"n_blocks={n_blocks!r}: give at least the {seen} that a candidate has seen, and no "
            "correlation, which is about other blocks"
        )
    of_block = np.arange(n) if instances is None else _whole_numbers(instances, n)
    kernels = None if covariances is None else as_floats(covariances, "covariances", 3)
    if kernels is not None and (kernels.shape[1:] != (m, m) or correlation):
        raise SettingError(
            f"covariances of shape {kernels.shape}: give k x {m} x {m}, and no correlation"
        )
    if penalty is not None and (
        measure != "log"
        or kernels is not None
        or not is_real(penalty)
        or not 0.0 < penalty < np.inf
    ):
        raise SettingError(
            f'penalty={penalty!r}: give a finite number > 0, with measure="log", without covariances'
        )
    sought = _sought(among, m)

    # a power of two: squares of large costs stay finite, and no digit changes
    scale = power_near(costs)
    costs = as_failures(_bounded_below(costs / scale))
    tells = ~(np.isnan(costs) | np.isposinf(costs)).all(axis=1)
    tells |= (~np.isnan(costs)).sum(axis=1) == 1  # one alone that failed: others might have, too
    # a block that tells nothing is not among the blocks to come either
    costs, total = costs[tells], total - int((~tells).sum())
    design = Design(correlation / (1.0 - correlation), total, of_block[tells], generalize)
    succeeds = np.isfinite(costs).any(axis=0) | np.isnan(costs).all(axis=0)
    if (succeeds & sought).any() and penalty is None:
        sought &= succeeds
    if m == 1 or not np.isfinite(costs).any():
        return BestPosterior(frozen(sought / sought.sum()), frozen(np.zeros(m)), 0)
    some = plausible(costs, sought)
    with one_blas_thread():
        found = _compared(
            costs[:, some],
            sought[some],
            measure,
            design,
            kernels=None if kernels is None else kernels[:, some][:, :, some],
            penalty=None if penalty is None else penalty / scale,
        )
    return found.among(some.tolist(), m)


def as_failures(costs: Floats) -> Floats:
    """Return costs (n, m) with penalties as failures, +inf."""
    worst = penalty_of(costs)
    return costs if worst is None else np.where(costs >= worst, np.inf, costs)


def plausible(costs: Floats, sought: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the candidates that may be the best, ascending, at most `_MOST`.

    Sought ones first, a mask (m,), then by lower bounds of mean scores; a failure counts two.
    """
    if costs.shape[1] <= _MOST:
        return np.arange(costs.shape[1])
    values = scores(costs)
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    mean = np.where(known, values, 0.0).sum(axis=0) / np.maximum(count, 1)
    bound = mean - 2.0 / np.sqrt(np.maximum(count, 1)) + 2.0 * np.isposinf(costs).mean(axis=0)
    return np.sort(np.lexsort((np.where(count > 0, bound, np.inf), ~sought))[:_MOST])


def _compared(
    costs: Floats,
    sought: NDArray[np.bool_],
    measure: Measure,
    design: Design,
    *,
    kernels: Floats | None,
    penalty: float | None,
) -> BestPosterior:
    """Return the posterior of candidates, the best of which is in the mask `sought` (m,)."""
    near, mean = np.arange(len(sought)), np.zeros(len(sought))
    is_sample = design.n_blocks == np.inf  # else the mean of all blocks counts, not their ranks
    values = scores(costs, measure, ranked=is_sample)
    for _ in range(_PASSES):
        effect, excess = far_behind(values)
        is_far = excess > 0.0
        # effects have no level of their own: the least one keeps the level of the pass before
        mean[near] = effect - effect.min() + mean[near].min()
        if not is_far.any() or not sought[near[~is_far]].any():
            break
        if kernels is not None:  # who is far behind tells where others are: it counts as nearer
            values -= excess
            break
        near = near[~is_far]  # ranks among these say more
        values = scores(costs[:, near], measure, ranked=is_sample)
    parts, freedom = place_parts(
        values,
        design,
        kernels=kernels,
        inflation=_inflation(len(sought), measure, guessed=kernels is not None),
    )
    places = sum((part.weight * part.mean for part in parts), np.zeros(len(near)))
    mean += places.max() - mean[near].max()
    mean[near] = places
    n_telling = int(((~np.isnan(values)).sum(axis=1) > 1).sum())
    if penalty is not None:
        solved = np.isfinite(costs)
        unit = float(np.mean((costs / np.exp(mean))[solved]))
        parts = [_with_others(part, near, mean) for part in parts]
        seen, failed = (~np.isnan(costs)).sum(axis=0), np.isposinf(costs).sum(axis=0)
        rates = Rates(*rate_laws(costs), failed / design.n_blocks, 1.0 - seen / design.n_blocks)
        found = probability_least_mean(parts, freedom, sought, penalty / unit, rates)
        return BestPosterior(frozen(found), frozen(mean - mean.mean()), n_telling)
    has_failures = bool(np.isposinf(costs).any())
    if kernels is not None and has_failures:
        # the few cells of each candidate do not tell in which part of the space some fail: all do
        failing = np.ones((len(sought), 1))
        price = _PRICE * _rates(costs, kernels)
        parts = [part._replace(mean=part.mean + price) for part in parts]
    else:
        failing = failing_parts(costs, design.instances if design.generalize else None)
        if has_failures:  # who is far behind may be the best if all others fail
            parts, near = [_with_others(part, near, mean) for part in parts], np.arange(len(sought))
    at = np.flatnonzero(sought[near])
    probability = np.zeros(len(sought))
    probability[near[at]] = probability_least(
        [part.of(at) for part in parts], freedom, failing[near[at]]
    )
    return BestPosterior(frozen(probability), frozen(mean - mean.mean()), n_telling)


def _inflation(m: int, measure: Measure, *, guessed: bool) -> float:
    """Return the factor of the noise variance."""
    if guessed and measure != "mean":
        return _GUESSED
    return 1.0 if m <= _FEW else _MANY


def _rates(costs: Floats, kernels: Floats) -> Floats:
    """Return each candidate's excess rate of failures (m,), as similar candidates suggest."""
    failed = np.where(np.isnan(costs), np.nan, np.isposinf(costs))
    parts, _ = place_parts(failed, Design(), kernels=kernels, noise_of=np.ones(costs.shape[1]))
    return sum((part.weight * part.mean for part in parts), np.zeros(costs.shape[1]))


def _with_others(part: Part, near: NDArray[np.intp], mean: Floats) -> Part:
    """Return a part of some candidates with all others at their means (m,), as uncertain as these."""
    m, k, total = len(mean), len(near), float(part.covariance.sum())
    variance = float(part.covariance.trace()) / k
    common = (total - k * variance) / max(k * (k - 1), 1)  # of their level
    own, covariance = np.full(m, variance - common), np.full((m, m), common)
    covariance.flat[:: m + 1] = variance
    covariance[np.ix_(near, near)] = part.covariance
    if part.own is not None:
        own[near] = part.own
    places = mean.copy()
    places[near] = part.mean
    return part._replace(mean=places, covariance=covariance, own=None if part.own is None else own)


# -- arguments


def _sought(among: ArrayLike | None, m: int) -> NDArray[np.bool_]:
    """Return a mask of the candidates (m,) of which the best is sought."""
    if among is None:
        return np.ones(m, dtype=np.bool_)
    chosen = as_floats(among, "among", 1)
    sought = np.isin(np.arange(m), chosen)
    if not len(chosen) or not np.isin(chosen, np.arange(m)).all():
        raise SettingError(f"among={among!r}: give some of the numbers from 0 to {m - 1}")
    return sought


def _whole_numbers(instances: ArrayLike, n: int) -> NDArray[np.intp]:
    """Return the instance of each of n blocks; SettingError unless they are whole numbers."""
    given = as_floats(instances, "instances", 1)
    if given.shape != (n,) or not (given == np.floor(given)).all():
        raise SettingError(f"instances: give {n} whole numbers, one for each row of scores")
    return given.astype(np.intp)


def _bounded_below(costs: Floats) -> Floats:
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
