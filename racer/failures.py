"""The meaning of a failed evaluation: for ranks, for P(best), and for means.

For ranks it is the last of its block. Who is known to fail more often than others cannot be the
best; a failure by chance, or on a block on which others fail, costs next to nothing
(`racer.stats.best_posterior`). A penalty is a failure. Means need a number: a failure is a range of
its block behind the worst, or more (the functions here). Whoever wants another price returns it.
"""

from __future__ import annotations

import math
from bisect import insort
from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import range_of, tie_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ODDS = np.array([-6.0, -4.0, -2.5, -1.2, 0.0, 0.75, 1.5, 2.5, 4.0, 6.0])  # own parts of log odds
_NONE = 4  # the place of 0 in it
RATES = np.geomspace(1e-8, 0.95, 50)  # of failing
_MEANS, _STRENGTHS = np.geomspace(1e-8, 0.5, 23), np.geomspace(0.01, 1000.0, 11)  # of their laws
_PRONE = (0.02, 0.1, 0.3, 0.6)  # shares of candidates that fail more often than the others


def penalty(costs: NDArray[np.float64]) -> float | None:
    """Return the cost among costs (n, m) that is a penalty, such as ten times a limit, or None.

    It is the largest finite cost, if several blocks and several candidates have exactly that, and it
    is farther beyond all other costs than these differ. No law of noise has such a gap.
    """
    known = np.isfinite(costs)
    largest = float(np.max(costs, where=known, initial=-np.inf))
    found = costs == largest
    if not (found.any(axis=0).sum() > 1 < found.any(axis=1).sum()):
        return None
    others = costs[known & ~found]
    if not len(others):
        return None
    return largest if _is_beyond(largest, float(others.min()), float(others.max())) else None


def _is_beyond(largest: float, least: float, most: float) -> bool:
    """Return whether the largest cost is farther beyond the others than these differ, if they do."""
    return 0.0 < most - least < largest - most


class Largest:
    """The largest cost of the blocks so far, and the facts that `penalty` needs about it."""

    def __init__(self) -> None:
        self._cost, self._next, self._least = -math.inf, -math.inf, math.inf
        self._blocks, self._candidates = 0, set[int]()

    def add(self, candidates: NDArray[np.intp], costs: NDArray[np.float64]) -> None:
        """Note the costs (m,) of another block, finite or +inf."""
        known = costs[np.isfinite(costs)]
        if not len(known):
            return
        largest = float(known.max())
        if largest > self._cost:
            self._next, self._cost = max(self._next, self._cost), largest
            self._blocks, self._candidates = 0, set()
        if largest == self._cost:
            self._blocks += 1
            self._candidates.update(candidates[costs == largest].tolist())
            known = known[known < largest]
        if len(known):
            self._next = max(self._next, float(known.max()))
            self._least = min(self._least, float(known.min()))

    @property
    def is_penalty(self) -> bool:
        """Whether the largest cost is a penalty."""
        if min(self._blocks, len(self._candidates)) < 2:
            return False
        return _is_beyond(self._cost, min(self._least, self._next), self._next)


def failing_parts(
    costs: NDArray[np.float64], instances: NDArray[np.intp] | None = None
) -> NDArray[np.float64]:
    """Return the probabilities (m, k) of how often each candidate fails, the usual rate first.

    Of costs (n, m), +inf where a cell failed, without blocks on which all did. Blocks of one of
    `instances` (n,) are no independent evidence, as far as a candidate fails alike on them. How often a block
    makes candidates fail, the others say, as far as blocks differ by more than chance. Log odds are
    these plus a part in `_ODDS`: most candidates share one part, others have a larger one. The
    usual part, and the share of the others, are averaged over; that it is 0, so that failures are
    chance, is twice as likely beforehand as that most are more reliable.
    """
    known, failed = ~np.isnan(costs), np.isposinf(costs)
    m = costs.shape[1]
    if not failed.any():
        return np.tile(np.eye(len(_ODDS))[0], (m, 1))
    k, f = known.sum(axis=1), failed.sum(axis=1)
    rate, strength = _rate_of_blocks(k, f)
    share = (f[:, None] - failed + strength * rate) / (k[:, None] - known + strength)
    share = np.clip(share, 1e-6, 1.0 - 1e-6)
    odds = np.log(share / (1.0 - share))[:, :, None] + _ODDS
    fits = -np.logaddexp(0.0, np.where(failed[:, :, None], -odds, odds))
    weight = known if instances is None else _shares_of_evidence(known, failed, instances)
    fit = np.where(known[:, :, None], weight[:, :, None] * fits, 0.0).sum(axis=0)  # (m, parts)
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


def _rate_of_blocks(k: NDArray[np.intp], f: NDArray[np.intp]) -> tuple[float, float]:
    """Return how often cells fail, and as how many cells that counts on a block, of k cells and f."""
    rate = (f.sum() + 0.5) / (k.sum() + 1.0)
    chance, pairs = rate * (1.0 - rate), float((k * (k - 1.0)).sum())
    excess = float(((f - k * rate) ** 2).sum() - chance * k.sum())
    over = float(np.clip(excess / max(chance * pairs, 1e-9), 0.01, 0.9))
    return float(rate), (1.0 - over) / over


def rate_laws(costs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights (h,) of laws of failure rates, and each candidate's under them, (h, m, g).

    Of costs (n, m), +inf where a cell failed; the g rates are `RATES`. The laws are Beta, with a mean
    and a strength that all failures estimate: so a candidate never seen to fail may do so, the more
    probably the fewer its cells, and the more often others fail. What fails on a block on which
    others do, as far as blocks differ by more than chance, may do so for the block.
    """
    known, failed = ~np.isnan(costs), np.isposinf(costs)
    k, f = known.sum(axis=1), failed.sum(axis=1)
    hard = (f[:, None] - failed) / (k[:, None] - known + _rate_of_blocks(k, f)[1])
    fails, passes = np.log(RATES), np.log1p(-RATES)
    likely = (known & ~failed).sum(axis=0)[:, None] * passes
    at, candidate = np.nonzero(failed)
    some = hard[at, candidate][:, None]
    np.add.at(likely, candidate, np.log(some + (1.0 - some) * RATES))
    mean, strength = (x.reshape(-1, 1) for x in np.meshgrid(_MEANS, _STRENGTHS))
    priors = mean * strength * fails + (1.0 - mean) * strength * passes
    priors[:, 0] -= np.log(mean * strength * (fails[1] - fails[0]))[:, 0]  # all rates below
    priors = np.exp(priors - priors.max(axis=1, keepdims=True))
    priors /= priors.sum(axis=1, keepdims=True)
    laws = priors[:, None, :] * np.exp(likely - likely.max(axis=1, keepdims=True))
    total = laws.sum(axis=2)
    evidence = np.log(total).sum(axis=1)
    weights = np.exp(evidence - evidence.max())
    return weights / weights.sum(), laws / total[:, :, None]


def _shares_of_evidence(
    known: NDArray[np.bool_], failed: NDArray[np.bool_], instances: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the weight of each cell (n, m): the less, the more alike a candidate's on an instance.

    They are alike as far as they vary less than if all candidates failed equally often there: the
    design effect of clusters (Kish 1965).
    """
    of = np.unique(instances, return_inverse=True)[1]
    seen, lost = np.zeros((2, int(of.max()) + 1, known.shape[1]))
    np.add.at(seen, of, known)
    np.add.at(lost, of, failed)
    again = seen > 1
    rate = lost.sum(axis=1) / np.maximum(seen.sum(axis=1), 1.0)
    by_chance = float((seen * (rate * (1.0 - rate))[:, None])[again].sum())
    varies = float((lost * (seen - lost) / np.maximum(seen - 1.0, 1.0))[again].sum())
    alike = max(1.0 - varies / by_chance, 0.0) if by_chance > 0.0 else 0.0
    return 1.0 / (1.0 + alike * np.maximum(seen - 1.0, 0.0))[of]


def impute_failed(
    costs: NDArray[np.float64], usual: float = 0.0, *, ranges: float = 1.0
) -> NDArray[np.float64]:
    """Replace failures, +inf, by costs that are `ranges` of the known costs behind the worst cost.

    Where the range is 0, or a tie, a `usual` one counts; if that is 0, the size of the worst, and
    1 if that is 0 too. ValueError if nothing but failures is known.
    """
    if max(costs.ravel().tolist(), default=0.0) < np.inf:
        return costs
    failed = np.isinf(costs)
    known = costs[~failed]
    worst = float(known.max())
    behind = range_of(worst, float(known.min())) or usual or abs(worst) or 1.0
    return np.where(failed, worst + ranges * behind, costs)


def impute_by_block(costs: NDArray[np.float64], *, ranges: float = 1.0) -> NDArray[np.float64]:
    """Replace failures, +inf, in costs (n, m), by `ranges` of their block behind the block's worst.

    Where the known costs of a block do not differ, it is the median range of the blocks in
    which they do: so neither the unit nor the level of costs matters. NaN: not evaluated, or all
    of the block failed.
    """
    failed = np.isposinf(costs)
    if not failed.any():
        return costs
    known = np.isfinite(costs)
    worst = np.max(costs, axis=1, where=known, initial=-np.inf)
    best = np.min(costs, axis=1, where=known, initial=np.inf)
    apart = worst - best
    some = apart[(apart > tie_sizes(worst, best)) & (apart < np.inf)]
    usual = float(np.median(some)) if len(some) else 0.0
    imputed = costs.copy()
    for row in map(imputed.__getitem__, np.flatnonzero(failed.any(axis=1)).tolist()):
        told = ~np.isnan(row)
        solved = bool(np.isfinite(row).any())
        row[told] = impute_failed(row[told], usual, ranges=ranges) if solved else np.nan
    return imputed


def impute_no_nearer(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace failures, +inf, in costs (n, m), so that no column comes nearer to others by failing.

    They cost as much as in `impute_by_block`, or more: a failure is at least as far behind the
    worst of the other columns as the column is on any block, and as the median range of the blocks.
    """
    imputed = impute_by_block(costs)
    known, failed = np.isfinite(costs), np.isposinf(costs)
    if not failed.any():
        return imputed
    some = np.where(known, costs, np.nan)[known.sum(axis=1) > 1]
    usual = (
        float(np.median(np.nanmax(some, axis=1) - np.nanmin(some, axis=1))) if len(some) else 0.0
    )
    others = np.where(known, costs, -np.inf)
    last, first = others.argmax(axis=1), others.max(axis=1)
    others[np.arange(len(costs)), last] = -np.inf
    second = others.max(axis=1)
    for column in np.flatnonzero(failed.any(axis=0)).tolist():
        worst = np.where(last == column, second, first)  # of the other columns
        shared, lost = known[:, column] & np.isfinite(worst), failed[:, column]
        with np.errstate(over="ignore"):
            behind = np.max(costs[shared, column] - worst[shared], initial=-np.inf)
            least = worst[lost] + max(behind, usual)
        imputed[lost, column] = np.maximum(imputed[lost, column], least)
    return imputed


class FailedCells:
    """Puts failed cells a range of their block, or several `ranges`, behind the block's worst.

    Where the known costs of a block do not differ, as where one candidate alone succeeded, the range
    is the usual one of the blocks so far. Before any range is known, it is the size of the costs.
    """

    def __init__(self, ranges: float = 1.0) -> None:
        self._behind = ranges
        self._ranges: list[float] = []  # of blocks in which costs differ, ascending

    def imputed(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a block's costs (m,), without +inf; call it for each block in order."""
        known = costs.tolist()
        has_failed = max(known) == math.inf
        if has_failed:
            known = [cost for cost in known if cost < math.inf]
        found = range_of(max(known), min(known))
        if 0.0 < found < math.inf:
            insort(self._ranges, found)
        if not has_failed:
            return costs
        usual = self._ranges[len(self._ranges) // 2] if self._ranges else 0.0
        return impute_failed(costs, usual, ranges=self._behind)
