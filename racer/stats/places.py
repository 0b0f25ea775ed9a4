"""Scores of an incomplete table of costs, and the posterior of the candidates' places by them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from racer._numerics import with_ties
from racer.stats.least import Part, root_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


Measure = Literal["rank", "mean", "log"]

_FAR = 3.0  # robust spreads of the better candidates: who is further behind says nothing of them
_FEW = 20  # cells, whose ranks would hide how clearly they differ
_DIGITS = 9  # of scores in units of a block
_LOG_SCALE = 1.4  # sampling variance of the logarithm of a block's spread, times k - 1
_HALF_CAUCHY = 0.25  # scale of the prior of the spread, in noise standard deviations
_ALL_EQUAL = 0.3  # its mass at no spread at all
_SPREADS = np.concatenate([[0.0], np.geomspace(1e-3, 1e9, 70)])  # variances, relative to the noise
_TOWARDS = 4.0  # values, as by which a candidate's noise is drawn to the usual one
_ROUNDING = 1e-18  # of the variance of scores: less is no noise
_NEGLIGIBLE = 2e-3  # weight of a spread


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
    # Blom (1958): the expected order statistics of a normal sample, nearly
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


def two_way(values: Floats, noise: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the effects of blocks (n,) and of candidates (m,) on values (n, m), by least squares.

    `noise` (m,) is the variance of each candidate's noise, up to a factor; by default all are equal.
    """
    known, effects = ~np.isnan(values), _Fit.of(values, noise).effects
    weight = known / (np.ones(values.shape[1]) if noise is None else noise)
    left = np.where(known, values - effects, 0.0)
    return (weight * left).sum(axis=1) / np.maximum(weight.sum(axis=1), 1e-300), effects


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

    A candidate that far behind cannot be the best, and is no evidence of the others' spread.
    """
    noise = _noise_by_candidate(values)
    fit = _Fit.of(values, noise)
    seen = fit.cells > 0
    if seen.sum() < 3 or not fit.freedom:  # one block has no noise to measure by
        return fit.effects, np.zeros(len(seen))
    error = fit.squares / max(fit.freedom, 1) * noise / np.maximum(fit.cells, 1.0)
    low, middle = np.quantile(fit.effects[seen], (0.05, 0.3))
    spread = (middle - low) / 1.12  # its standard deviation, if the better ones are normal
    limit = middle + _FAR * np.maximum(spread, np.sqrt(error + np.median(error[seen])))
    return fit.effects, np.where(seen, np.maximum(fit.effects - limit, 0.0), 0.0)


class Design(NamedTuple):
    """How the blocks of a table depend on each other, and the population that they sample."""

    shared: float = 0.0  # variance common to the blocks of one data set, relative to the noise
    n_blocks: float = np.inf  # in all
    instances: NDArray[np.intp] | None = None  # of each block
    generalize: bool = True  # to instances like these


def place_parts(
    values: Floats,
    design: Design,
    *,
    kernels: Floats | None = None,
    inflation: float = 1.0,
    noise_of: Floats | None = None,
) -> tuple[list[Part], float]:
    """Return the posterior of the places (m,) by scores (n, m): a mixture, and degrees of freedom.

    `inflation` multiplies the noise variance. The prior covariance is the identity, or one of
    `kernels` (k, m, m).
    """
    shared, n_blocks, instances, generalize = design
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
        # one decomposition serves all spreads: along these axes each only shrinks
        precisions, basis = np.linalg.eigh(root.T @ fit.precision @ root)
        basis, precisions = root @ basis, np.maximum(precisions, 0.0)
        along = basis.T @ fit.sums
        shrinkage = prior / (1.0 + prior * precisions)
        left = np.maximum(squares - (shrinkage * along**2).sum(axis=1), 1e-18 * squares)
        likely = -0.5 * (np.log1p(prior * precisions).sum(axis=1) + freedom * np.log(left))
        axes.append((basis, along, shrinkage, left, likely + np.log(_spread_prior())))
    # marginal likelihoods, the noise variance integrated out (Box and Tiao 1973, chapter 7)
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
            # a finite mean: the blocks seen are known exactly, only the rest is estimated
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

    From residuals about medians, then about a fit with these weights, each drawn to the usual one
    as by four values. A candidate that varies much tells little of how hard a block is.
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


def pooled_noise(values: Floats) -> Floats:
    """Return the variance of each candidate's noise (m,), as far as these differ by more than chance.

    Relative to the usual one. Where all are equal, calibration is that of one noise for all.
    """
    relative, count = _noise_by_candidate(values), (~np.isnan(values)).sum(axis=0)
    ok, free = count > 1, np.maximum(count - 1.0, 0.5)
    if not ok.any():
        return relative
    # of the logarithm of a variance of `free` values that is drawn to the usual one
    sampling = 2.0 * free / (free + _TOWARDS) ** 2
    return np.asarray(np.exp(np.where(ok, drawn_together(np.log(relative), sampling, ok), 0.0)))


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
    these, both are noise; about these alone, the interaction cancels as far as a candidate has seen
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
    # no interaction shows: blocks of one instance are as good as independent
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
