"""Costs of blocks in one unit: what spreads within blocks differ by, and outliers."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from racer._numerics import with_ties
from racer.stats.strata import exact_residuals, residuals

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_LARGEST = 1e12  # units, of a cost
_MAD = 1.4826  # the standard deviation of a normal law over its median absolute deviation
_MEAN_SIZE = 0.798  # the mean size of a standard normal variable
_HOPELESS = 100.0  # scales of a block: how much worse a candidate is says nothing of the others
_MANY = 8  # candidates of a block, from which on a median of sizes is its scale
_LOG_SCALE = 1.4  # sampling variance of the logarithm of a block's scale, times k - 1
_NEARLY = 0.02  # a median of sizes that is less, relative to their mean: most costs nearly tie
# Halves of blocks disagree so many times more than normal noise makes them, on average over the
# blocks: the first, and the second over the root of the number of blocks.
_DISAGREE = (3.0, 10.0)
_CLIP = 1.5  # noise standard deviations
_ROUNDING = 1e-6  # of what candidates differ by: less is no noise
_ROUNDS = 3  # in which scales and effects are fitted in turn
_STEPS = 4  # of the location that resists outliers
_TAILS = (1.3, 12.0)  # more than the first, plus the second over the cells, is no normal noise
# Of the logarithm of a squared median absolute deviation: its sampling variance and its bias,
# times the degrees of freedom (simulated for normal values, 4 to 50 of them).
_LOG_MAD = (6.0, -3.0)
_FOR_MAD = 5  # values of a candidate, at least, for a median to tell its noise
_OWN = 0.8  # of a residual's variance, at least, has to be the candidate's own: ten candidates
_BEYOND_CHANCE = 2.0  # standard deviations by which the variances differ more than chance
_WEIGHINGS = 8  # of candidates, in turn with their residuals
_TOWARDS = 4.0  # degrees of freedom by which a variance is drawn towards the others'
_LEAST_FREEDOM = 0.5
_LEAST_RELATIVE = 1e-9  # variance of a candidate's noise, to the largest
_LEAST_NOISE = 0.05  # variance of a candidate's noise, relative to the usual one


class Units(NamedTuple):
    """Costs in units of a block, (n, m), 0 where unknown, and how they came about."""

    values: NDArray[np.float64]
    clipped: float  # share of the cells
    unit: float  # if it is the same in all blocks, else 1
    noise: NDArray[np.float64]  # variance of each candidate's, relative to the usual one, (m,)


def in_units(costs: NDArray[np.float64], *, by_block: bool, by_noise: bool = False) -> Units:
    """Standardise costs (n, m), NaN where unknown, by their block's median and spread.

    The spread is that of the costs, or `by_noise` that of the residuals of a two-way fit, which is
    smaller where candidates are far apart. Without `by_block`, all candidates have the same noise.
    """
    known = ~np.isnan(costs)
    count = known.sum(axis=1)
    above, scale, many_tie = above_median(with_ties(costs), count)
    near = np.minimum(above, np.where(scale > 0.0, _HOPELESS * scale, np.inf)[:, None])
    if by_block and not many_tie and not _are_scales_chance(near, count):
        above = near
        scales = _noise_scales(above, known) if by_noise else _shrunk_scales(scale, count)
        values = _in_units(above, scales[:, None])
        fit = exact_residuals if by_noise else partial(residuals, count=count)
        values, clipped, left = _clipped(values, known, count, fit)
        noise = _noise_by_candidate(left, known, count)
        return Units(values, clipped, 1.0, noise)
    usual = float(np.mean(scale[scale > 0.0])) if (scale > 0.0).any() else 1.0
    values = _in_units(above, usual)
    return Units(values, 0.0, usual, np.ones(costs.shape[1]))


def _in_units(above: NDArray[np.float64], scale: NDArray[np.float64] | float) -> Any:
    """Return costs in units of a scale, 0 where there is none, at most so large that sums hold."""
    with np.errstate(over="ignore"):
        values = np.clip(above / scale, -_LARGEST, _LARGEST)
    return np.where(np.isnan(values), 0.0, values)


def above_median(
    costs: NDArray[np.float64], count: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """Return costs above their block's median, blocks' scales, and whether most costs tie there."""
    above = costs - _median(costs, count)[:, None]
    size = np.abs(above)
    middle = _median(size, count)
    size = np.minimum(size, np.where(middle > 0.0, _HOPELESS * middle, np.inf)[:, None])
    scale = _MAD * middle
    mean = np.where(np.isnan(size), 0.0, size).sum(axis=1) / count
    mean = mean / (_MEAN_SIZE * np.sqrt(np.maximum(count - 1.0, 1.0) / count))
    nearly = np.where(count >= _MANY, _NEARLY * mean, 0.0)
    many_tie = bool((scale <= nearly)[count > 2].sum() * 2 > (count > 2).sum() > 0)
    return above, np.where((scale > 0.0) & (count >= _MANY), scale, mean), many_tie


def _are_scales_chance(above: NDArray[np.float64], count: NDArray[np.intp]) -> bool:
    """Return whether a block's scale says nothing of the block: two halves of it do not agree.

    So it is where most costs nearly tie, as scores near 0 do, and few are far away. Candidates are
    halved in the order of their sizes, relative to others of the block, not in that of their
    numbers, which means nothing.
    """
    many = count >= _MANY
    size, count = np.abs(above[many]), count[many]
    if len(size) < 2:
        return False
    known = ~np.isnan(size)
    shown = np.where(known, size, 0.0)
    mean = np.maximum(shown.sum(axis=1) / count, 1e-300)
    relative = (shown / mean[:, None]).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    order = np.argsort(relative, kind="stable")
    size, is_odd = size[:, order], np.logical_xor.accumulate(known[:, order], axis=1)
    halves = np.where(is_odd, np.nan, size), np.where(is_odd, size, np.nan)
    counts = count // 2, (count + 1) // 2
    logs = np.log([np.maximum(_median(*half), 1e-300) for half in zip(halves, counts, strict=True)])
    sampling = sum(_LOG_SCALE / (n - 1) for n in counts)
    most = _DISAGREE[0] + _DISAGREE[1] / math.sqrt(len(size))
    apart = (logs[0] - logs[1]) / np.sqrt(sampling)  # by candidates alone, the same in all blocks
    return float(apart.var(ddof=1)) > most


def _shrunk_scales(scale: NDArray[np.float64], count: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return blocks' scales, drawn together as far as they differ by chance."""
    known = scale > 0.0
    if not known.any():
        return np.ones(len(scale))
    logs = np.log(np.where(known, scale, 1.0))
    return np.exp(drawn_together(logs, _LOG_SCALE / np.maximum(count - 1, 1), known, margin=1.0))


def _noise_scales(above: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return blocks' scales (n,), by the residuals of a two-way fit.

    One scale for all, unless block scales improve the log likelihood (Laplace) by more than one per
    block: where effects are much larger than noise, scales that differ by chance would make them
    vary from block to block. Candidates seen once leave no residual.
    """
    telling = known & (known.sum(axis=0) > 1)
    cells = telling.sum(axis=1)
    usual_size = float(np.nanmean(np.abs(above)))
    least, rounding = _ROUNDING * usual_size, _ROUNDING**2 * usual_size
    scales = np.ones(len(above))
    if least == 0.0 or not cells.any():
        return scales
    misfits = []
    for step in range(_ROUNDS + 1):
        rest = exact_residuals(np.where(known, above / scales[:, None], 0.0), known)
        is_noise = np.abs(rest) * scales[:, None] > rounding
        size = np.where(telling, np.where(is_noise, np.abs(rest), 0.0), np.nan)
        usual = float(np.exp(cells @ np.log(scales) / cells.sum()))
        misfits.append(cells.sum() * np.log(np.nanmean(size) * usual + least))
        if step == _ROUNDS:
            break
        mean = np.nansum(size, axis=1) / np.maximum(cells, 1) / _MEAN_SIZE
        middle = _MAD * np.nan_to_num(_median(size))
        own = np.where((middle > 0.0) & (cells >= _MANY), middle, mean)
        scales = np.maximum(scales * _shrunk_scales(own, cells), least)
    return scales if misfits[-1] + len(scales) < misfits[0] else np.full(len(scales), usual)


def _noise_by_candidate(
    left: NDArray[np.float64],
    known: NDArray[np.bool_],
    count: NDArray[np.intp],
    *,
    by_median: bool = False,
) -> NDArray[np.float64]:
    """Return the variance of each candidate's noise, (m,), relative to the usual one.

    It is estimated from residuals, (n, m), and shrunk towards 1 as far as differences are chance.
    With few candidates a residual cannot be attributed to one of them, and all variances are 1.
    """
    seen = known.sum(axis=0)
    freedom = np.maximum(seen - 1.0, 1.0)
    width = count @ known / np.maximum(seen, 1)  # candidates of its blocks
    own = 1.0 - 2.0 / np.maximum(width, 2.0)
    if by_median:
        middle = _median(np.where(known, np.abs(left), np.nan).T, seen)
        size = np.where(seen > 0, middle, 0.0) ** 2
    else:
        size = (left**2).sum(axis=0) / freedom
    ok = (seen >= (_FOR_MAD if by_median else 2)) & (own >= _OWN) & (size > 0.0)
    if ok.sum() < 2:
        return np.ones(len(seen))
    freedom = np.where(ok, freedom * own**2, 1.0)
    relative = 1.0 + (size / size[ok].mean() - 1.0) / np.maximum(own, _OWN)
    logs = np.log(np.where(ok, np.maximum(relative, _LEAST_NOISE), 1.0))
    if by_median:
        sampling, bias = _LOG_MAD[0] / freedom, _LOG_MAD[1] / freedom
    else:
        sampling, bias = (
            scipy.special.zeta(2.0, 0.5 * freedom),  # trigamma
            scipy.special.digamma(0.5 * freedom) - np.log(0.5 * freedom),
        )
    logs = drawn_together(logs - bias, sampling, ok)
    return np.asarray(np.exp(logs - logs[ok].mean()))


@np.errstate(over="ignore")
def unequal_noise(
    values: NDArray[np.float64], known: NDArray[np.bool_], costs: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return the variance of each candidate's noise (m,), if they differ by more than chance.

    Of values (n, m), which are costs above their block's median. Residuals of a weighted fit and
    weights are found in turn, each variance drawn towards the others' geometric mean. It is at most
    that of the candidate's costs: so two on a block differ by the noise of the one that varies.
    """
    seen = known.sum(axis=0)
    several = np.maximum(seen, 1)
    level = np.where(known, costs, 0.0).sum(axis=0) / several
    most = (np.where(known, costs - level, 0.0) ** 2).sum(axis=0)
    effect = np.where(known, values, 0.0).sum(axis=0) / several
    squares = np.minimum((np.where(known, values - effect, 0.0) ** 2).sum(axis=0), most)
    ok = (seen > 1) & (squares > 0.0)
    if ok.sum() < 3:
        return None
    freedom = np.where(ok, seen - 1.0, 1.0)
    logs = np.log(np.where(ok, squares, 1.0) / freedom)
    if np.ptp(drawn_together(logs, 2.0 / freedom, ok, margin=_BEYOND_CHANCE)[ok]) == 0.0:
        return None
    variance = np.where(ok, squares / freedom, float(np.exp(logs[ok].mean())))
    least = _ROUNDING**2 * float(variance.max())
    variance = np.maximum(variance, _LEAST_RELATIVE * variance.max())
    for _ in range(_WEIGHINGS):
        weights = known / variance
        total = weights.sum(axis=1, keepdims=True)
        for _ in range(_ROUNDS):
            block = (weights * (values - effect)).sum(axis=1, keepdims=True) / total
            rest = np.where(known, values - block, 0.0)
            effect = rest.sum(axis=0) / several
        squares = np.minimum((np.where(known, rest - effect, 0.0) ** 2).sum(axis=0), most)
        freedom = np.where(known, 1.0 - weights / total, 0.0).sum(axis=0) * (1.0 - 1.0 / several)
        usual = squares[ok] / np.maximum(freedom[ok], _LEAST_FREEDOM)
        if not usual.max() > least:
            return None  # medians of other candidates differ, and there is no noise
        usual = np.exp(np.log(np.maximum(usual, 1e-12 * usual.max())).mean())
        variance = (squares + _TOWARDS * usual) / (freedom + _TOWARDS)
        variance = np.maximum(variance, _LEAST_RELATIVE * variance.max())
    return np.asarray(variance / np.exp(np.log(variance[ok]).mean()))


def drawn_together(
    logs: NDArray[np.float64],
    sampling: NDArray[np.float64],
    known: NDArray[np.bool_],
    *,
    margin: float = 0.0,
) -> NDArray[np.float64]:
    """Return logarithms drawn towards their mean as far as they differ by chance, (k,).

    `sampling` (k,) are their sampling variances.
    """
    centre, between = beyond_chance(logs, sampling, known, margin=margin)
    share = between / (between + sampling)
    return np.asarray(centre + np.where(known, share * (logs - centre), 0.0))


def beyond_chance(
    values: NDArray[np.float64],
    sampling: NDArray[np.float64],
    known: NDArray[np.bool_],
    *,
    margin: float = 0.0,
) -> tuple[float, float]:
    """Return the mean of values (k,) of which some are known, and their variance beyond chance.

    `sampling` (k,) are their sampling variances; those that differ by less than chance and a
    `margin`, in its standard deviations, are one. DerSimonian and Laird (1986).
    """
    weights = np.where(known, 1.0 / sampling, 0.0)
    centre = float((weights * values).sum() / weights.sum())
    rest = int(known.sum()) - 1
    chance = rest + margin * math.sqrt(2.0 * rest)
    excess = float((weights * (values - centre) ** 2).sum()) - chance
    size = weights.sum() - float((weights**2).sum() / weights.sum())
    return centre, (max(excess / size, 0.0) if rest else 0.0)


def _clipped(
    values: NDArray[np.float64],
    known: NDArray[np.bool_],
    count: NDArray[np.intp],
    fit: Callable[..., NDArray[np.float64]],
) -> tuple[NDArray[np.float64], float, NDArray[np.float64]]:
    """Clip two-way residuals of values (n, m) with heavy tails (Huber).

    `fit` returns residuals. Returns the clipped values, the share of cells that were clipped, and
    the residuals afterwards. The threshold is proportional to the candidate's noise. The fit starts
    from medians of candidates, as an outlier among few values hardly moves away from a mean.
    Residuals are divided by the share of the noise that the fit leaves in them: of a candidate seen
    once, nothing, so that it says nothing of the noise, and is not clipped. Neither does a block on
    which all tie, such as copies that have outlasted the others.
    """
    left = fit(values, known)
    seen = known.sum(axis=0)
    least, most = (np.where(known, values, end) for end in (np.inf, -np.inf))
    is_tied = least.min(axis=1) == most.max(axis=1)
    telling = known & (seen > 1) & ~is_tied[:, None]
    cells = int(telling.sum())
    if not cells:
        return values, 0.0, left
    own = (1.0 - 1.0 / np.maximum(seen, 2)) * (1.0 - 1.0 / np.maximum(count, 2))[:, None]
    apart = _above_medians(values, known)
    scale = np.sqrt(_noise_by_candidate(apart, known, count, by_median=True))
    unit = scale * np.sqrt(own)
    found = (left / unit)[telling]
    usual = _MAD * float(_median(np.abs(found)[None])[0])
    if usual == 0.0 or float((found**2).mean()) <= (_TAILS[0] + _TAILS[1] / cells) * usual**2:
        return values, 0.0, left
    inside, far = values, apart
    for step in range(_STEPS):
        if step:
            far = values - inside + fit(inside, known)
        most = _CLIP * _MAD * float(_median(np.abs(far / unit)[telling][None])[0]) * scale
        is_far = telling & (np.abs(far) > most)
        inside = np.where(is_far, values - far + np.clip(far, -most, most), values)
    return inside, min(float(is_far.sum()) / cells, 0.5), fit(inside, known)


def _above_medians(values: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return values (n, m), above their block's median, without the medians of their candidates.

    Where blocks have different candidates their medians differ by that, and are fitted in turn.
    """
    rest = np.where(known, values, np.nan)
    count, seen = known.sum(axis=1), known.sum(axis=0)
    rest -= _median(rest.T, seen)  # NaN of a candidate that has no value
    for _ in range(0 if known.all() else _STEPS):
        rest -= _median(rest, count)[:, None]
        rest -= _median(rest.T, seen)
    return np.where(known, rest, 0.0)


def _median(
    rows: NDArray[np.float64], count: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Return the median of each row without its NaN, (n,); NaN of a row that has nothing else.

    `count` (n,): of how many values each row is, but for its NaN, if that is known.
    """
    count = np.maximum((~np.isnan(rows)).sum(axis=1) if count is None else count, 1)
    ordered = rows.copy()  # in the order in which it is sorted
    ordered.sort(axis=1)  # NaN last
    first = np.arange(0, ordered.size, ordered.shape[1])
    return np.asarray(
        (ordered.take(first + (count - 1) // 2) + ordered.take(first + count // 2)) / 2.0
    )
