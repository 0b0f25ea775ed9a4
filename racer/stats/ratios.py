"""Costs that differ by factors, such as run times: their logarithms, and what means add to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.errors import ScoresError
from racer.stats.strata import two_way
from racer.stats.units import beyond_chance

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OF_LEAST = 0.5  # of the least positive cost: counts instead of 0
_LARGEST = 300.0  # logarithm of a factor, which a sum of squares holds
_LEAST = 0.05  # of the usual factor: that of a candidate is at least so much
_FEW = 15.0  # blocks, of which few have tails: sampling variances are twice as large
_LOG_NORMAL = 0.7  # of what the variance adds to the logarithm of a log-normal mean
_MOST = 2.0  # that it adds
_LEAST_OWN = 0.3  # part of a residual's variance that is its candidate's
_LEAST_LEFT = 0.5  # degrees of freedom
_EXACT = 1e-9  # of a sampling variance: none
_SHORT = 3.0  # logarithms below what is typical of block and candidate: shorter tells no more
_ROUNDS = 6  # in which that is found
_CLOSE = 1e-3  # logarithms
_MARGIN = 1.0  # standard deviations by which candidates' factors differ more than chance


def log_costs(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of costs (n, m), NaN or +inf where there is none."""
    known = np.isfinite(costs)
    if (costs[~np.isnan(costs)] < 0.0).any():
        raise ScoresError("a cost is negative: with ratios=True all are at least 0")
    positive = costs[known & (costs > 0.0)]
    least = _OF_LEAST * float(positive.min()) if positive.size else 1.0
    return np.where(known, np.log(np.where(known, np.maximum(costs, least), 1.0)), costs)


def without_short(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms (n, m), none much below what is typical of its block and its candidate.

    A time that rounds to nothing would have a logarithm that outweighs all others.
    """
    known = np.isfinite(logs)
    several = known.sum(axis=1) > 1
    if not several.any():
        return logs
    some, ok = logs[several], known[several]
    raised = np.where(ok, some, 0.0)
    for _ in range(_ROUNDS):
        blocks, candidates = two_way(raised, ok)
        least = blocks[:, None] + candidates - _SHORT
        before, raised = raised, np.where(ok, np.maximum(some, least), 0.0)
        if np.abs(raised - before).max() < _CLOSE:
            break
    result = logs.copy()
    result[several] = np.where(ok, raised, some)
    return result


def mean_factors(
    logs: NDArray[np.float64], typical: NDArray[np.float64], ahead: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithm of each candidate's mean cost over its typical one, and its variance, (m,).

    Of logarithms of costs (n, m), NaN or inf where unknown, and the same `without_short`, of which
    blocks and candidates have what is typical: e to the power of a residual is what a
    cost is, relative to what is typical of its block and its candidate. Its mean, of blocks in
    proportion to what is typical of them, makes a typical cost a mean. Who has rare time-outs has a
    large one.

    But they are rare, so that means are drawn, as far as they differ by chance, towards
    what residuals of such a variance usually come to. `ahead` (m,) is the share of the blocks in
    question that a candidate has not seen: of one that has seen all, nothing is chance.
    """
    known = np.isfinite(logs)
    several = known.sum(axis=1) > 1
    logs, typical, known = logs[several], typical[several], known[several]
    blocks_of = known.sum(axis=0)
    seen, none = blocks_of > 0, np.zeros(len(blocks_of))
    freedom = int(known.sum()) - len(logs) - int(seen.sum()) + 1
    if not len(logs) or freedom < 1:
        return none, none
    blocks, candidates = two_way(np.where(known, typical, 0.0), known)
    rest = np.where(known, typical - blocks[:, None] - candidates, 0.0)
    true = np.where(known, logs - blocks[:, None] - candidates, 0.0)
    factor = np.where(known, np.exp(np.clip(true, -_LARGEST, _LARGEST)), 0.0)
    weights = np.where(known, np.exp(blocks - blocks.max())[:, None], 0.0)
    of_block = factor.sum(axis=1, keepdims=True) / known.sum(axis=1, keepdims=True)
    usual = np.where(seen, (weights * of_block).sum(axis=0), 1.0)  # of the candidate's blocks
    above = weights * np.where(known, factor - of_block, 0.0)
    squares = float((above**2).sum()) / freedom
    if squares == 0.0:
        return none, none
    few = 1.0 + (_FEW / np.maximum(blocks_of, 1)) ** 2
    expected, uncertain = _of_variances(rest, known, freedom, few)
    sampling = squares * few * blocks_of / usual**2
    sampling = np.where(seen, sampling * np.maximum(ahead, _EXACT), 1.0)
    observed = np.where(seen, above.sum(axis=0) / usual, 0.0)
    apart = observed - expected
    centre, between = beyond_chance(apart, sampling, seen, margin=_MARGIN)
    share = np.where(seen, between / (between + sampling), 0.0)
    mean = 1.0 + expected + centre + share * (apart - centre)
    # others' time-outs make the usual factor large, and all without one must not be alike
    mean = np.maximum(mean, _LEAST * np.minimum(1.0 + observed, 1.0))
    variance = (1.0 - share) * between + (1.0 - share) ** 2 * uncertain
    return np.log(mean), np.where(ahead > 0.0, variance, 0.0) / mean**2


def _of_variances(
    rest: NDArray[np.float64],
    known: NDArray[np.bool_],
    freedom: int,
    few: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what variances say of mean factors, relative to the usual one less 1, and how surely.

    Of the residuals `rest` (n, m). Log-normal means grow with half the variance; less, where times
    end at a limit. Variances are drawn together as far as they differ by less than chance, which
    is more with heavy tails, and of candidates that `few` blocks tell of, (m,).
    """
    count, blocks_of = known.sum(axis=1), known.sum(axis=0)
    several = np.maximum(blocks_of, 1)
    own = np.maximum(1.0 - 2.0 * several / np.maximum(count @ known, 1), _LEAST_OWN)
    left = np.where(known, (1.0 - 1.0 / count)[:, None], 0.0).sum(axis=0) * (1.0 - 1.0 / several)
    left, squares = np.maximum(left, _LEAST_LEFT), rest**2
    pooled = float(squares.sum()) / freedom
    tails = max(float((squares**2).sum() * known.sum() / squares.sum() ** 2), 3.0)  # kurtosis
    ok = blocks_of > 1
    variance = np.where(ok, pooled + (squares.sum(axis=0) / left - pooled) / own, pooled)
    sampling = (tails - 1.0) * pooled**2 / left * few / own**2
    centre, between = beyond_chance(variance, sampling, ok, margin=_MARGIN)
    share = np.where(ok, between / (between + sampling), 0.0)
    drawn = np.clip(0.5 * _LOG_NORMAL * share * (variance - centre), -_MOST, _MOST)
    factor = np.exp(drawn - drawn[ok].mean()) if ok.any() else np.ones(len(ok))
    uncertain = (0.5 * _LOG_NORMAL * factor) ** 2 * (1.0 - share) * between
    return factor / factor.mean() - 1.0, uncertain
