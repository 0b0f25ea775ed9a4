"""The best choice for a known budget: late drops, in the order of a location that resists outliers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from racer._checks import choice
from racer._numerics import RowBuffer
from racer.deciders.decider import Blocks, Drop, Scheduled, Setting, Verdict
from racer.deciders.parts.plans import budget_after, required_budget, room, used_after
from racer.deciders.parts.verdicts import best_of, drops
from racer.failures import FailedCells, Largest

if TYPE_CHECKING:
    from numpy.typing import NDArray

By = Literal["residuals", "mean", "robust"]

_MAD = 1.4826  # the standard deviation of a normal law over its median absolute deviation
_TAILS = (1.3, 12.0)  # more than the first, plus the second over the cells, is no normal noise
_CLIP = 1.345  # Huber's k: 95 % efficient in normal noise
_LOG_SCALE = 0.6  # sampling variance of the logarithm of a block's scale, times its candidates
_STEPS, _CLOSE = 30, 1e-6  # of Huber's location, in units of the scale
_FEW = 4000  # values, of which sorting finds the median as fast


@dataclass
class _State:
    first: int  # candidates at the start
    budget: float  # evaluations
    candidates: NDArray[np.intp]
    costs: RowBuffer  # of each block, above its median
    scales: RowBuffer  # of each block: its logarithm (-inf if all tie), and sampling variance
    is_robust: bool
    used: int = 0  # evaluations
    failed: FailedCells = field(default_factory=FailedCells)
    largest: Largest = field(default_factory=Largest)

    def keep(self, candidates: NDArray[np.intp]) -> None:
        kept = np.searchsorted(self.candidates, candidates)
        self.candidates = candidates
        self.costs.keep(columns=kept)


@dataclass(frozen=True)
class BestForBudget(Scheduled):
    """Spend a known budget on finding the best one: candidates leave one by one, as late as it allows.

    A race of m candidates that has spent the fraction u of its budget keeps m^((1 - u)^a) of them,
    with a = 1 - 1.5 / m: about as many evaluations go into each halving of the pool as into any
    other, and with few candidates later. A budget in money, or in seconds, is planned with as such:
    u is the spent share of the nearest limit. The last two stay to the end. The next to leave has
    the worst standing, which is a location over the blocks that all have seen. It promises nothing
    about errors: the budget decides how many are dropped, the evidence which.

    Parameters
    ----------
    by : {"residuals", "mean", "robust"}
        The score. "mean": the mean cost. "robust": Huber's location (k = 1.345, in each
        candidate's own scale) of costs above the block's median in units of the block's scale;
        scales of blocks are shrunk towards each other as far as they differ by chance. "residuals":
        robust if the costs less the means of blocks and candidates have heavier tails than normal
        noise while more than half of the candidates are in, and the largest cost is no penalty that
        several have exactly, such as ten times a limit; else the mean. Where other rare
        catastrophes make the difference, take "mean". A failed cell counts one range of
        its block behind the block's worst.

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no budget.

    References
    ----------
    Karnin, Koren, Somekh: Almost optimal exploration in multi-armed bandits (ICML 2013), for the
    parts of the budget; Huber: Robust estimation of a location parameter (Annals of Mathematical
    Statistics 1964).

    Examples
    --------
    >>> import racer
    >>> decider = racer.deciders.BestForBudget(by="mean")
    >>> costs = [4.0, 2.0, 1.0, 3.0]
    >>> racer.race(costs, lambda c, i, seed: c + seed % 7, decider=decider, budget=80, seed=1).best
    1.0
    """

    ends_itself = True

    by: By = "residuals"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.by, "by", get_args(By))

    @property
    def by_means(self) -> bool:
        return self.by == "mean"

    def start(self, setting: Setting) -> _State:
        budget = required_budget(setting, "best-for-budget")
        m, is_robust = setting.n_candidates, self.by == "robust"
        costs, scales = RowBuffer(m, np.float64), RowBuffer(2, np.float64)
        return _State(m, budget, np.arange(m), costs, scales, is_robust)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        if len(blocks.candidates) != len(state.candidates):
            state.keep(blocks.candidates)
        m = len(blocks.candidates)
        with np.errstate(over="ignore", invalid="ignore"):  # costs near the largest float
            for row in blocks.costs:
                _record(state, row)
                if self.by == "residuals":
                    state.largest.add(blocks.candidates, row)
            state.used = used_after(state.used, blocks)
            state.budget = budget_after(state.budget, state.used, blocks)
            costs = state.costs.rows
            # few candidates show little of the noise: the choice made among many then stays
            if self.by == "residuals" and 2 * m > state.first:
                state.is_robust = _have_tails(costs)
            is_robust = state.is_robust and not (blocks.has_penalty or state.largest.is_penalty)
            standing = _robust(state, costs) if is_robust else costs.mean(axis=0)
            if not np.isfinite(standing).all():
                standing = np.nan_to_num(standing)
        best = best_of(blocks.candidates, standing)
        kept = self.planned_room(state, state.used)
        dropped: tuple[Drop, ...] = ()
        if len(costs) > 1 and best is not None and kept < m:
            dropped = _worst(state, costs, standing, kept)
        evidence = {"room": kept, "standing": "robust" if is_robust else "mean"}
        return state, Verdict(dropped, best, standing, evidence)

    def planned_room(self, state: _State, used: int) -> int:
        return room(state.first, used, state.budget, power=1.0 - 1.5 / state.first)


def _record(state: _State, row: NDArray[np.float64]) -> None:
    known = state.failed.imputed(row)
    above = known - _median(known)
    size = np.abs(above)
    scale = _MAD * float(_median(size)) or float(size.mean())
    state.costs.append(above)
    log_scale = math.log(scale) if scale > 0.0 else -math.inf
    state.scales.append(np.array([log_scale, _LOG_SCALE / len(row)]))


def _median(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median along the first axis, as `numpy.median`, which takes longer for few values."""
    if values.size > _FEW:
        return np.asarray(np.median(values, axis=0))
    ordered = np.sort(values, axis=0)  # NaN last
    half, is_odd = divmod(len(values), 2)
    middle = ordered[half] if is_odd else (ordered[half - 1] + ordered[half]) / 2.0
    return np.where(np.isnan(ordered[-1]), np.nan, middle)


def _have_tails(costs: NDArray[np.float64]) -> bool:
    """Return whether two-way residuals of costs (n, m) have heavier tails than normal noise."""
    n, m = costs.shape
    residuals = costs - np.add.reduce(costs, axis=1, keepdims=True) / m
    residuals -= np.add.reduce(residuals, axis=0) / n
    usual = _MAD * float(_median(np.abs(residuals).ravel()))
    mean_square = float(np.add.reduce(residuals**2, axis=None) / costs.size)
    return mean_square > (_TAILS[0] + _TAILS[1] / costs.size) * usual * usual


def _robust(state: _State, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Huber's location of each column of costs (n, m) in units of their blocks' scales."""
    logs, sampling = state.scales.rows.T
    say = np.isfinite(logs)
    if not say.any():
        return np.asarray(costs.mean(axis=0))
    centre = logs[say].mean()
    # by moments: the part of the spread of scales that sampling does not explain
    between = max(float(((logs[say] - centre) ** 2 - sampling[say]).mean()), 0.0)
    share = between / (between + sampling)
    scales = np.exp(centre + share * np.where(say, logs - centre, 0.0))
    return _huber(costs / scales[:, None])


def _huber(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Huber's location of each column."""
    location = _median(values)
    apart = np.abs(values - location)
    scale = _MAD * _median(apart)
    if not (scale > 0.0).all():
        scale = np.where(scale > 0.0, scale, apart.mean(axis=0))
    most, close = _CLIP * scale, _CLOSE * scale
    least = -most
    for _ in range(_STEPS):
        np.subtract(values, location, out=apart)
        np.minimum(np.maximum(apart, least, out=apart), most, out=apart)
        step = np.add.reduce(apart, axis=0) / len(values)
        location = location + step
        if (np.abs(step) <= close).all():
            break
    return np.asarray(location)


def _worst(
    state: _State, costs: NDArray[np.float64], standing: NDArray[np.float64], kept: int
) -> tuple[Drop, ...]:
    """Drop all but `kept`, the worst first; ties with a kept one stay."""
    order = np.argsort(standing, kind="stable")
    worse = order[standing[order] > standing[order[kept - 1]]][::-1]
    best = int(order[0])
    lead = costs[:, [best]]
    won = (lead < costs[:, worse]).mean(axis=0) + (lead == costs[:, worse]).mean(axis=0) / 2.0
    return drops(state.candidates, worse, "outranked", best, won, "win-share")
