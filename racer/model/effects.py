"""Estimates of candidates' quality from outcomes on different blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._numerics import power_below, tie_sizes
from racer.failures import impute_by_block, penalty

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CLIP = 10.0  # robust standard deviations from a block's median
_PENALTY = 80.0  # spreads of a block: what a penalised cost is above its level, at most
_FAILURE = (50.0, 4.0)  # the same, and ranges of the candidates: a failure is the larger behind
_ROUNDS = 8
_LARGE = 1e300  # from here on, sums might overflow
_EXACT = 1e-9  # fraction of the variance that is left to a mean without error
_PRIOR = 5.0  # values that the common spread counts as, beside a block's own


class Effects(NamedTuple):
    """Costs (m,) less their blocks' level, in units of the spread within a block; variance of the error."""

    value: NDArray[np.float64]
    variance: NDArray[np.float64]


def effects(
    costs: NDArray[np.float64], blocks: int | None = None, *, by_block: bool = True
) -> Effects:
    """Fit cost = block + candidate + noise; `costs` (blocks, m), NaN not evaluated, +inf failed.

    Some block has a finite cost. Outliers are pulled in, unless they are penalised. Failures are no
    costs: only a candidate that never succeeded is far behind. `blocks` is the number in all if
    few: a mean over all has no error. The unit is each block's spread, or, unless `by_block`, the
    usual one: candidates of late blocks are alike, and in a unit of their own such blocks would
    count more.
    """
    ok = np.isfinite(costs)
    known = ok | (np.isposinf(costs) & ~ok.any(axis=0))
    per_candidate = np.maximum(known.sum(axis=0), 1)
    scaled = _scaled(costs, ok, by_block)
    level, value = _additive(scaled, ok)
    if not ok[known].all():
        behind = max(_FAILURE[0], _FAILURE[1] * float(np.ptp(value[ok.any(axis=0)])))
        scaled = np.where(known & ~ok, level[:, None] + behind, scaled)
        value = (scaled - level[:, None] * known).sum(axis=0) / per_candidate
    rest = (scaled - level[:, None] - value) * known
    freedom = max(int(known.sum()) - costs.shape[1] - costs.shape[0] + 1, 1)
    noise = max(float((rest**2).sum()) / freedom, 1e-12)
    value[~known.any(axis=0)] = _FAILURE[0]
    variance = noise / per_candidate
    if blocks is not None:
        variance = variance * np.maximum(1.0 - per_candidate / blocks, _EXACT)
    return Effects(value, variance)


def natural_effects(
    costs: NDArray[np.float64], blocks: int | None = None, *, ranges: float = 1.0
) -> Effects:
    """Fit as `effects`, in the unit of the costs, and with the mean level of the blocks in them.

    Failures, +inf, cost `ranges` times the block's range more than the block's worst. Differences
    below 1e-12 count as none, so costs are divided by `unit_near` first.
    """
    costs = costs[np.isfinite(costs).any(axis=1)]
    known = ~np.isnan(costs)
    full = np.where(known, impute_by_block(costs, ranges=ranges), 0.0)
    level, value = _additive(full, known)
    rest = (full - level[:, None] - value) * known
    per_candidate = np.maximum(known.sum(axis=0), 1)
    freedom = max(int(known.sum()) - known.shape[1] - known.shape[0] + 1, 1)
    variance = max(float((rest**2).sum()) / freedom, 1e-12) / per_candidate
    if blocks is not None:
        variance = variance * np.maximum(1.0 - per_candidate / blocks, _EXACT)
    unknown = ~known.any(axis=0)
    value = np.where(unknown, value[~unknown].max(initial=0.0), value)
    return Effects(value + float(level.mean()), variance)


def unit_near(costs: NDArray[np.float64]) -> float:
    """Return the power of two near the usual range of costs (blocks, m) within a block.

    Quotients of costs and it are exact. Where all tie, it is near their size; 1 if they are 0.
    """
    finite = np.where(np.isfinite(costs), costs, np.nan)
    finite = finite[~np.isnan(finite).all(axis=1)]
    if not len(finite):
        return 1.0
    high, low = np.nanmax(finite, axis=1), np.nanmin(finite, axis=1)
    with np.errstate(over="ignore"):
        ranges = high - low
    some = ranges[(ranges > tie_sizes(high, low)) & np.isfinite(ranges)]
    size = float(np.median(some)) if len(some) else float(np.nanmax(np.abs(finite)))
    return power_below(size) if size > 0.0 else 1.0


def _additive(
    scaled: NDArray[np.float64], known: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the levels (blocks,) and values (m,) that sum to the scaled known costs."""
    per_block = np.maximum(known.sum(axis=1), 1)
    per_candidate = np.maximum(known.sum(axis=0), 1)
    # means by turns of blocks and candidates converge to least squares, without an m x m system
    value = np.zeros(scaled.shape[1])
    for _ in range(_ROUNDS):
        level = ((scaled - value * known).sum(axis=1)) / per_block
        value = ((scaled - level[:, None] * known).sum(axis=0)) / per_candidate
    return level, value


def _scaled(
    costs: NDArray[np.float64], ok: NDArray[np.bool_], by_block: bool
) -> NDArray[np.float64]:
    """Return costs (blocks, m) in units of the spread within a block, 0 where they are not `ok`.

    Medians and spreads leave penalties out. A penalty is no outlier: if some candidates have it
    more often than others, that is most of the difference of their means.
    """
    largest = penalty(costs)
    usual = ok if largest is None else costs < largest
    some = usual.any(axis=1)
    scaled = np.zeros(costs.shape)
    found, medians, spread = _one_scale(np.where(usual, costs, np.nan)[some], by_block)
    scaled[some] = np.where(usual[some], found, 0.0)
    if largest is not None:
        scaled[costs == largest] = min((largest - float(medians.mean())) / spread, _PENALTY)
    return scaled


def _one_scale(
    costs: NDArray[np.float64], by_block: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Divide each block by its spread, or by the usual one, its median at 0, outliers pulled in.

    Return with it the medians (blocks,), and the usual spread.
    """
    finite = costs
    if np.nanmax(np.abs(finite)) > _LARGE:
        finite = finite / 8.0  # spreads are divided by it as well
    median = _median(finite)
    centred = finite - median[:, None]
    # the median deviation, as a standard deviation of normal values
    spread = 1.4826 * _median(np.abs(centred))
    count = np.isfinite(costs).sum(axis=1)
    logs, common = np.full(len(spread), np.nan), 0.0
    if not (spread > 0).any():  # most costs of each block tie
        largest = float(np.nanmax(np.abs(centred)))
        unit = power_below(largest) if largest > 0.0 else 1.0  # a sum might overflow
        size = float(np.nanmean(np.abs(centred) / unit)) * unit
        common = math.log(size) if size > 0.0 else 0.0
    else:
        logs[spread > 0] = np.log(spread[spread > 0])
        # blocks with few candidates know their spread badly: the usual one is by the fuller half
        many = (spread > 0) & (count >= np.median(count[spread > 0]))
        common = float(np.median(logs[many]))
    logs = np.where(np.isnan(logs) | (not by_block), common, logs)
    scale = np.exp((count * logs + _PRIOR * common) / (count + _PRIOR))
    tiny = float(np.finfo(np.float64).smallest_subnormal)
    scale = np.maximum(scale, tiny)
    with np.errstate(over="ignore"):  # what is too far away is pulled in
        pulled = np.clip(centred / scale[:, None], -_CLIP, _CLIP)
    return pulled, median, max(math.exp(common), tiny)


def _median(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each row without its NaN; each has a value. Faster than NumPy's."""
    count = (~np.isnan(rows)).sum(axis=1)
    ordered = np.sort(rows, axis=1)  # NaN last
    each = np.arange(len(rows))
    return np.asarray((ordered[each, (count - 1) // 2] + ordered[each, count // 2]) / 2.0)
