"""The posterior of the best candidate: scores, places and failures of an incomplete table of costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import scipy  # its parts are imported when they are used

from racer._checks import as_floats, check_fraction, choice, flag, is_real, whole
from racer._numerics import as_costs, one_blas_thread, power_near, with_ties
from racer.errors import ScoresError, SettingError
from racer.failures import penalty
from racer.stats._validation import frozen
from racer.stats.least import Part, probability_least, root_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = [
    "BestPosterior",
    "Measure",
    "best_posterior",
    "drawn_together",
    "failing_parts",
    "far_behind",
    "place_parts",
    "scores",
    "two_way",
]

Measure = Literal["rank", "mean", "log"]

_MOST = 300  # candidates that are compared in full, of those that may be the best
_FAR = 3.0  # robust spreads of the better candidates: who is further behind says nothing of them
_PASSES = 4  # in which such candidates are found
_FEW = 20  # cells, whose ranks would hide how clearly they differ
_DIGITS = 9  # of scores in units of a block
_LOG_SCALE = 1.4  # sampling variance of the logarithm of a block's spread, times k - 1
_HALF_CAUCHY = 0.25  # scale of the prior of the spread, in noise standard deviations
_ALL_EQUAL = 0.1  # its mass at no spread at all
_SPREADS = np.concatenate([[0.0], np.geomspace(1e-3, 1e9, 70)])  # variances, relative to the noise
_TOWARDS = 4.0  # values, as by which a candidate's noise is drawn to the usual one
_ROUNDING = 1e-18  # of the variance of scores: less is no noise
_NEGLIGIBLE = 2e-3  # weight of a spread
_GUESSED = 2.6  # the noise variance counts as so much more, where likeness is guessed by kernels
_ODDS = np.array([-6.0, -4.0, -2.5, -1.2, 0.0, 0.75, 1.5, 2.5, 4.0, 6.0])  # own parts of log odds
_NONE = 4  # the place of 0 in it
_PRONE = (0.02, 0.1, 0.3, 0.6)  # shares of candidates that fail more often than the others
_PRICE = (
    50.0  # of a failure, in noise standard deviations, where likeness tells how often one fails
)


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
    measure: Measure = "rank",
    correlation: float = 0.0,
    n_blocks: int | None = None,
    instances: ArrayLike | None = None,
    generalize: bool = True,
    covariances: ArrayLike | None = None,
    among: ArrayLike | None = None,
) -> BestPosterior:
    """Return the posterior probability of each candidate that it is the best of all of them.

    Three steps. *Scores*: costs above their block's median, in units of the block's spread as far as
    spreads differ by more than chance, are ranked together, and become the standard normal scores of
    these ranks. *Places*: score of candidate j on block b = block b + place j + noise. Candidates
    are exchangeable, normal around a common mean with a spread that the data estimate: so whoever
    leads by luck is drawn back towards the others. The spread has a half-Cauchy prior (scale 0.25 of
    the noise's standard deviation) with a mass of 0.1 at no spread; the noise variance is integrated
    out. Elimination goes by observed costs alone, so that candidates that were eliminated early are
    compared fairly by what is known of them. Who is more than three robust spreads of the better
    candidates (or standard errors) behind their lower third cannot be the best, and is no measure of
    what the others differ by. *Failures* come first, with evidence: log odds of failing = how often
    the others fail on the block + the candidate's own part, which is 0 for most. The best is, of
    those with the least part, the one with the least place. So a failure by chance, or on a block on
    which others fail too, costs next to nothing, and whoever is known to fail more often cannot be
    the best. A block on which all fail says nothing.

    A penalty, one largest score of several blocks and candidates far beyond all others, such as ten
    times a limit, is a failure, whatever `measure`.

    Of more than 300 candidates those are compared that may be the best, by their scores so far; the
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
        costs are likelier. Except for means, the noise variance then counts 2.6 times: with a
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
        No candidate, values that are not numbers, or negative ones of which logarithms are asked for.
    SettingError
        correlation, n_blocks or among out of range, or covariances of another shape.

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
    if not is_real(correlation) or not 0.0 <= correlation < 1.0:
        raise SettingError(f"correlation={correlation!r}: give a number from 0 to below 1")
    costs = as_costs(table, maximize=flag(maximize, "maximize"))
    if measure == "log" and (costs[~np.isnan(costs)] < 0.0).any():
        raise ScoresError('a cost is negative: with measure="log" all are at least 0')
    seen = int((~np.isnan(costs)).sum(axis=0).max(initial=0))
    total = None if n_blocks is None else whole(n_blocks, "n_blocks", least=1)
    if total is not None and (correlation or total < seen):
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
    sought = _sought(among, m)

    costs = as_failures(_bounded_below(costs / power_near(costs)))
    tells = ~(np.isnan(costs) | np.isposinf(costs)).all(axis=1)
    tells |= (~np.isnan(costs)).sum(axis=1) == 1  # one alone that failed: others might have, too
    costs, of_block = costs[tells], of_block[tells]
    total = None if total is None else total - int((~tells).sum())
    succeeds = np.isfinite(costs).any(axis=0) | np.isnan(costs).all(axis=0)
    if (succeeds & sought).any():
        sought &= succeeds
    if m == 1 or not np.isfinite(costs).any():
        return BestPosterior(frozen(sought / sought.sum()), frozen(np.zeros(m)), 0)
    some = plausible(costs, sought)
    with one_blas_thread():
        found = _compared(
            costs[:, some],
            sought[some],
            measure,
            correlation / (1.0 - correlation),
            np.inf if total is None else total,
            of_block,
            generalize=generalize,
            kernels=None if kernels is None else kernels[:, some][:, :, some],
        )
    return found.among(some.tolist(), m)


def as_failures(costs: Floats) -> Floats:
    """Return costs (n, m) with penalties as failures, +inf."""
    worst = penalty(costs)
    return costs if worst is None else np.where(costs >= worst, np.inf, costs)


def plausible(costs: Floats, sought: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the candidates that may be the best, ascending, at most `_MOST`.

    Those that are sought, a mask (m,), then by lower bounds of mean scores; a failure counts two.
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
    shared: float,
    n_blocks: float,
    instances: NDArray[np.intp],
    *,
    generalize: bool,
    kernels: Floats | None,
) -> BestPosterior:
    """Return the posterior of candidates of whom some are sought, a mask (m,)."""
    near, mean = np.arange(len(sought)), np.zeros(len(sought))
    is_sample = n_blocks == np.inf  # else the mean of all blocks counts, not their ranks
    values = scores(costs, measure, ranked=is_sample)
    for _ in range(_PASSES if kernels is None else 1):
        effect, excess = far_behind(values)
        is_far = excess > 0.0
        mean[near] = effect - effect.min() + mean[near].min()
        if kernels is not None:  # who is far behind tells where others are: it counts as nearer
            values -= excess
        if kernels is not None or not is_far.any() or not sought[near[~is_far]].any():
            break
        near = near[~is_far]  # ranks among these say more
        values = scores(costs[:, near], measure, ranked=is_sample)
    parts, freedom = place_parts(
        values,
        shared=shared,
        n_blocks=n_blocks,
        instances=instances,
        generalize=generalize,
        kernels=kernels,
        inflation=1.0 if kernels is None or measure == "mean" else _GUESSED,
    )
    places = sum((part.weight * part.mean for part in parts), np.zeros(len(near)))
    mean += places.max() - mean[near].max()
    mean[near] = places
    failing = failing_parts(costs)
    if kernels is not None and np.isposinf(costs).any():
        # the few cells of each candidate do not tell in which part of the space some fail: all do
        failing = np.ones((len(sought), 1))
        parts = [
            part._replace(mean=part.mean + price)
            for part in parts
            for price in [_PRICE * _rates(costs, kernels)]
        ]
    elif np.isposinf(costs).any():  # who is far behind may be the best if all others fail
        parts, near = [_with_others(part, near, mean) for part in parts], np.arange(len(sought))
    at = np.flatnonzero(sought[near])
    probability = np.zeros(len(sought))
    probability[near[at]] = probability_least(
        [part.of(at) for part in parts], freedom, failing[near[at]]
    )
    n_telling = int(((~np.isnan(values)).sum(axis=1) > 1).sum())
    return BestPosterior(frozen(probability), frozen(mean - mean.mean()), n_telling)


def _rates(costs: Floats, kernels: Floats) -> Floats:
    """Return how much more often than others each candidate (m,) fails, by those that are alike."""
    failed = np.where(np.isnan(costs), np.nan, np.isposinf(costs))
    parts, _ = place_parts(failed, kernels=kernels, noise_of=np.ones(costs.shape[1]))
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


# -- scores


def scores(costs: Floats, measure: Measure = "rank", *, ranked: bool = True) -> Floats:
    """Return scores of costs (n, m), NaN where a cell failed or was not evaluated.

    Without `ranked`, "rank" gives costs above their block's median in units of its spread.
    """
    known = np.isfinite(costs)
    values = np.where(known, costs, np.nan)
    if measure == "mean":
        return values
    if measure == "log":  # of counts and times that round to 0, half of the least
        positive = costs[known & (costs > 0.0)]
        return np.asarray(np.log(np.maximum(values, 0.5 * positive.min(initial=2.0))))
    above, count = np.full(costs.shape, np.nan), known.sum(axis=1)
    some = count > 1
    if not some.any():
        return above
    values, count = with_ties(values[some]), count[some]
    values = values - np.nanmedian(values, axis=1)[:, None]
    spread = np.nansum(np.abs(values), axis=1) / (count - 1.0)
    told = spread > 0.0  # where all tie, nothing is
    if told.any():
        logs = np.log(np.where(told, spread, 1.0))
        logs = drawn_together(logs, _LOG_SCALE / (count - 1.0), told)
        values /= np.exp(np.where(told, logs, logs[told].mean()))[:, None]
    if not ranked or count.sum() <= _FEW:
        above[some] = values
        return above
    flat = values[known[some]].round(_DIGITS)  # what differs by rounding ties
    _, at, ties = np.unique(flat, return_inverse=True, return_counts=True)
    places = (np.cumsum(ties) - 0.5 * (ties - 1.0))[at]  # `scipy.stats` takes long to import
    values[known[some]] = scipy.special.ndtri((places - 0.375) / (len(flat) + 0.25))
    above[some] = values
    return above


def drawn_together(
    logs: Floats, sampling: Floats, known: NDArray[np.bool_], *, margin: float = 0.0
) -> Floats:
    """Return logarithms of sizes (k,) drawn to their mean as far as they differ by chance.

    `sampling` (k,) are their sampling variances; sizes that differ by less than chance and a
    `margin`, in its standard deviations, are one. DerSimonian and Laird (1986).
    """
    weights, rest = known / sampling, int(known.sum()) - 1
    centre = float(weights @ np.where(known, logs, 0.0) / weights.sum())
    apart = np.where(known, logs - centre, 0.0)
    excess = float(weights @ apart**2) - rest - margin * math.sqrt(2.0 * rest)
    size = float(weights.sum() - weights @ weights / weights.sum())
    between = max(excess / size, 0.0) if rest else 0.0
    return np.asarray(centre + between / (between + sampling) * apart)


# -- places


def two_way(values: Floats) -> tuple[Floats, Floats]:
    """Return the effects of blocks (n,) and of candidates (m,) on values (n, m), by least squares."""
    known, effects = ~np.isnan(values), _Fit.of(values).effects
    left = np.where(known, values - effects, 0.0)
    return left.sum(axis=1) / np.maximum(known.sum(axis=1), 1), effects


class _Fit(NamedTuple):
    """Least squares of values = block + candidate, each candidate with a noise variance of its own.

    `precision` (m, m) and `sums` (m,) of the candidates' effects, once the blocks' are eliminated.
    """

    precision: Floats
    sums: Floats
    effects: Floats  # (m,)
    squares: float  # that blocks and candidates leave
    freedom: int
    cells: Floats  # (m,)
    by_candidate: Floats  # weights, (m,)

    @classmethod
    def of(cls, values: Floats, noise: Floats | None = None) -> _Fit:
        """Return the fit of values (n, m), NaN where unknown."""
        known = ~np.isnan(values)
        known &= (known.sum(axis=1) > 1)[:, None]
        m, cells = values.shape[1], known.sum(axis=0)
        weight = known / (np.ones(m) if noise is None else noise)
        of_block = np.maximum(weight.sum(axis=1), 1e-300)
        filled = np.where(known, values, 0.0)
        filled -= ((weight * filled).sum(axis=1) / of_block)[:, None]
        filled = np.where(known, filled, 0.0)
        precision = np.diag(weight.sum(axis=0)) - (weight / of_block[:, None]).T @ weight
        sums = (weight * filled).sum(axis=0)
        # effects are determined up to a constant, or one for each part that no block connects
        ridge = 1e-12 * max(float(np.trace(precision)) / m, 1e-300)
        effects = np.linalg.solve(precision + ridge * np.eye(m), sums)
        total = float((weight * filled**2).sum())
        freedom = int(cells.sum() - known.any(axis=1).sum() - (cells > 0).sum() + 1)
        squares = max(total - float(effects @ sums), 0.0)
        return cls(precision, sums, effects, squares, max(freedom, 0), cells, weight.sum(axis=0))


def far_behind(values: Floats) -> tuple[Floats, Floats]:
    """Return the effects of candidates (m,) on values (n, m), and by how much some are too far behind.

    Who is that far behind the better ones cannot be the best, and says nothing of their spread.
    """
    noise = _noise_by_candidate(values)
    fit = _Fit.of(values, noise)
    seen = fit.cells > 0
    if seen.sum() < 3:
        return fit.effects, np.zeros(len(seen))
    error = fit.squares / max(fit.freedom, 1) * noise / np.maximum(fit.cells, 1.0)
    low, middle = np.quantile(fit.effects[seen], (0.05, 0.3))
    spread = (middle - low) / 1.12  # its standard deviation, if the better ones are normal
    limit = middle + _FAR * np.maximum(spread, np.sqrt(error + np.median(error[seen])))
    return fit.effects, np.where(seen, np.maximum(fit.effects - limit, 0.0), 0.0)


def place_parts(
    values: Floats,
    *,
    shared: float = 0.0,
    n_blocks: float = np.inf,
    instances: NDArray[np.intp] | None = None,
    generalize: bool = True,
    kernels: Floats | None = None,
    inflation: float = 1.0,
    noise_of: Floats | None = None,
) -> tuple[list[Part], float]:
    """Return the posterior of the places (m,) by scores (n, m): a mixture, and degrees of freedom.

    `shared`: variance common to the blocks of one data set, relative to the noise; `inflation` of
    the noise variance. The prior covariance is the identity, or one of `kernels` (k, m, m).
    """
    relative = _noise_by_candidate(values) if noise_of is None else noise_of
    plain, fit, m = _Fit.of(values), _Fit.of(values, relative), values.shape[1]
    size = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0  # beside which rounding is none
    noise = None if instances is None else _noise_by_instance(values, instances, generalize)
    squares, freedom = fit.squares, fit.freedom
    if noise is not None:
        fit = _Fit.of(values, noise.relative)
        freedom = max(round(noise.freedom), 1)
        squares = noise.variance * freedom
    explained = float(fit.effects @ fit.sums)
    if squares + explained <= _ROUNDING * size**2:
        return [Part(1.0, np.zeros(m), np.zeros((m, m)))], np.inf
    squares += explained
    freedom += int((fit.cells > 0).sum()) - 1
    seen = (~np.isnan(values)).sum(axis=0)
    ahead = 1.0 - seen / n_blocks  # the share of the blocks that is not known
    prior = (_SPREADS + shared)[:, None]  # variance of what is seen of a candidate
    roots = [np.eye(m)] if kernels is None else [root_of(_of_unit_spread(k)) for k in kernels]
    axes = []
    for root in roots:
        precisions, basis = np.linalg.eigh(root.T @ fit.precision @ root)
        basis, precisions = root @ basis, np.maximum(precisions, 0.0)
        along = basis.T @ fit.sums
        shrinkage = prior / (1.0 + prior * precisions)
        left = np.maximum(squares - (shrinkage * along**2).sum(axis=1), 1e-18 * squares)
        likely = -0.5 * (np.log1p(prior * precisions).sum(axis=1) + freedom * np.log(left))
        axes.append((basis, along, shrinkage, left, likely + np.log(_spread_prior())))
    weights = np.exp(np.array([at[-1] for at in axes]) - max(at[-1].max() for at in axes))
    weights[weights < _NEGLIGIBLE * weights.sum()] = 0.0
    weights /= weights.sum()
    parts = []
    for of, at in np.argwhere(weights).tolist():
        basis, along, shrinkage, left, _ = axes[of]
        variance = float(left[at]) * inflation / freedom
        kept = _SPREADS[at] / (_SPREADS[at] + shared) if _SPREADS[at] else 0.0
        mean = kept * (basis @ (shrinkage[at] * along))
        covariance = variance * kept**2 * (basis * shrinkage[at]) @ basis.T
        least = float(prior[at, 0]) * _least_eigenvalue(roots[of])
        own = variance * kept**2 * least / (1.0 + least * fit.by_candidate)
        if shared:
            covariance += variance * kept * shared * np.eye(m)
            own += variance * kept * shared
        if n_blocks < np.inf:
            mean = (1.0 - ahead) * (size * (plain.effects / size).round(_DIGITS)) + ahead * mean
            covariance = covariance * np.outer(ahead, ahead) + np.diag(variance * ahead / n_blocks)
            own = ahead**2 * own + variance * ahead / n_blocks
        spread = float(_SPREADS[at]) * variance
        parts.append(Part(float(weights[of, at]), mean, covariance, spread, own))
    return parts, float(freedom)


def _of_unit_spread(covariance: Floats) -> Floats:
    """Scale a covariance (m, m) to a variance of 1 between candidates."""
    m = len(covariance)
    spread = (float(np.trace(covariance)) - float(covariance.sum()) / m) / max(m - 1, 1)
    return covariance / spread if spread > 0.0 else np.eye(m)


def _least_eigenvalue(root: Floats) -> float:
    """Return a lower bound of the eigenvalues of a covariance with this root (Gershgorin)."""
    prior = np.abs(root @ root.T)
    return max(float((2.0 * np.diag(prior) - prior.sum(axis=1)).min()), 0.0)


def _spread_prior() -> Floats:
    """Return the prior masses of `_SPREADS`."""
    roots = np.sqrt(_SPREADS[1:])
    edges = np.concatenate([[0.0], np.sqrt(roots[1:] * roots[:-1]), [1.2 * roots[-1]]])
    masses = np.diff(np.arctan(edges / _HALF_CAUCHY))
    return np.concatenate([[_ALL_EQUAL], (1.0 - _ALL_EQUAL) * masses / masses.sum()])


def _noise_by_candidate(values: Floats) -> Floats:
    """Return the variance of each candidate's noise (m,), relative to the usual one.

    That of residuals from medians, and then from a fit with these weights, each drawn to the usual
    one as by four values. Who varies much says little of how hard a block is.
    """
    known = ~np.isnan(values) & ((~np.isnan(values)).sum(axis=1) > 1)[:, None]
    count = known.sum(axis=0)
    ok = count > 1
    if ok.sum() < 3:
        return np.ones(values.shape[1])
    values, known = values[known.any(axis=1)], known[known.any(axis=1)]
    level = float(np.abs(values[known]).max())
    values = values - np.nanmedian(values, axis=1, keepdims=True)
    size = float(np.abs(values[known]).max())
    if size <= 1e-12 * level:  # rounding
        return np.ones(len(ok))
    values /= size
    left, relative = values.copy(), np.ones(len(ok))
    left[:, ok] -= np.nanmedian(left[:, ok], axis=0)
    free = np.maximum(count - 1.0, 0.5)
    for begins in (True, False):
        if not begins:
            left = np.where(known, values - _Fit.of(values, relative).effects, 0.0)
            weight = known / relative
            total = np.maximum(weight.sum(axis=1), 1e-300)
            left -= ((weight * left).sum(axis=1) / total)[:, None]
            free = (known - weight / total[:, None]).sum(axis=0) * (
                1.0 - 1.0 / np.maximum(count, 1)
            )
            free = np.maximum(free, 0.5)
        squares = np.where(known, left**2, 0.0).sum(axis=0)
        size = squares[ok] / free[ok]
        if size.max() <= _ROUNDING * float(np.nanvar(values)):
            return np.ones(values.shape[1])
        usual = float(np.median(size))  # 0 of copies that tie
        usual = usual if usual > _ROUNDING * size.max() else float(size.mean())
        relative = np.where(ok, (squares / usual + _TOWARDS) / (free + _TOWARDS), 1.0)
    return np.asarray(relative / np.exp(np.log(relative[ok]).mean()))


class _Noise(NamedTuple):
    """The noise of a block that means have, with degrees of freedom; of each candidate, (m,)."""

    variance: float
    freedom: float
    relative: Floats


def _noise_by_instance(
    values: Floats, instances: NDArray[np.intp], generalize: bool
) -> _Noise | None:
    """Return the noise of values (n, m) on blocks of these instances; None if blocks determine it.

    An analysis of variance: residuals of blocks and candidates have a part within instances
    (seeds) and one between them (interaction of candidate and instance). About instances like
    these, both are noise; about these alone, the interaction is none as far as a candidate has seen
    all instances equally often. Degrees of freedom by Satterthwaite (1946).
    """
    found, at = np.unique(instances, return_inverse=True)
    if len(found) in (1, len(at)):
        return None
    whole_fit = _Fit.of(values)
    fits = [_Fit.of(values[at == i]) for i in range(len(found))]
    within = sum(fit.squares for fit in fits), sum(fit.freedom for fit in fits)
    between = whole_fit.squares - within[0], whole_fit.freedom - within[1]
    if min(within[1], between[1]) < 1 or within[0] + between[0] <= 0.0:
        return None
    seeds, mixed = within[0] / within[1], between[0] / between[1]
    if mixed <= seeds:
        return None
    known = ~np.isnan(values)
    seen = np.zeros((len(found), values.shape[1]))  # blocks by instance and candidate
    np.add.at(seen, at, known)
    total = np.maximum(seen.sum(axis=0), 1.0)
    apart = (seen**2).sum(axis=0) / total
    repeats = (total - apart).sum() / max(((seen > 0).sum(axis=0) - 1).sum(), 1)
    share = np.maximum(apart - (0.0 if generalize else total / len(found)), 0.0) / repeats
    variance = np.maximum((1.0 - share) * seeds + share * mixed, 1e-9 * (seeds + mixed))
    usual, part = float(np.median(variance)), float(np.median(share))
    spread = (part * mixed) ** 2 / between[1] + ((1.0 - part) * seeds) ** 2 / within[1]
    freedom = usual**2 / spread if spread > 0.0 else within[1]
    return _Noise(usual, freedom, variance / usual)


# -- failures


def failing_parts(costs: Floats) -> Floats:
    """Return the probabilities (m, k) of how often each candidate fails, the usual rate first.

    Of costs (n, m), +inf where a cell failed, without blocks on which all did. How often a block
    makes candidates fail, the others say, as far as blocks differ by more than chance. Log odds are
    these plus a part in `_ODDS`: that of most candidates is the same, others have a larger one. The
    usual part, and the share of the others, are averaged over; that it is 0, so that failures are
    chance, is twice as likely beforehand as that most are more reliable.
    """
    known, failed = ~np.isnan(costs), np.isposinf(costs)
    m = costs.shape[1]
    if not failed.any():
        return np.tile(np.eye(len(_ODDS))[0], (m, 1))
    k, f = known.sum(axis=1), failed.sum(axis=1)
    rate = (f.sum() + 0.5) / (k.sum() + 1.0)
    chance, pairs = rate * (1.0 - rate), float((k * (k - 1.0)).sum())
    excess = float(((f - k * rate) ** 2).sum() - chance * k.sum())
    over = float(np.clip(excess / max(chance * pairs, 1e-9), 0.01, 0.9))
    strength = (1.0 - over) / over
    share = (f[:, None] - failed + strength * rate) / (k[:, None] - known + strength)
    share = np.clip(share, 1e-6, 1.0 - 1e-6)
    odds = np.log(share / (1.0 - share))[:, :, None] + _ODDS
    fits = -np.logaddexp(0.0, np.where(failed[:, :, None], -odds, odds))
    fit = np.where(known[:, :, None], fits, 0.0).sum(axis=0)  # (m, parts)
    likely = np.exp(fit - fit.max(axis=1, keepdims=True))
    laws, evidence = [], []
    for usual in range(_NONE + 1):
        for prone in _PRONE:
            law = np.zeros(likely.shape)
            law[:, 0] = (1.0 - prone) * likely[:, usual]
            law[:, usual + 1 :] = prone * likely[:, usual + 1 :] / (len(_ODDS) - usual - 1)
            total = law.sum(axis=1)
            laws.append(law / total[:, None])
            evidence.append(np.log(total).sum() + math.log(2.0 if usual == _NONE else 1.0 / _NONE))
    weights = np.exp(np.array(evidence) - max(evidence))
    found = np.tensordot(weights / weights.sum(), np.array(laws), axes=1)
    found[~failed.any(axis=0)] = np.eye(len(_ODDS))[0]  # nothing says that these fail more often
    return np.asarray(found)


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
