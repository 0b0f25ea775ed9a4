"""Is a change worse than the baseline? Two evidences that may be read at any time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from racer._numerics import TIE
from racer.deciders.decider import Blocks, Decider, Drop, Setting, Verdict
from racer.stats._bets import MeanBets, difference_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bounds = tuple[float, float]

BASELINE, CHANGE = 0, 1


def differences(costs: Floats, bounds: Bounds | None, worst: float) -> Floats:
    """Return by how much the change costs more on each item, (n,), of costs (n, 2) in their order.

    A failed cell costs as much as the worst bounded cost; without bounds, as the baseline's
    `worst`, or a larger cost before it.
    """
    if bounds is not None:
        costs = np.clip(costs, *bounds)
    known = np.where(np.isfinite(costs), costs, -np.inf)
    largest = np.maximum.accumulate(known.max(axis=1, initial=worst))[:, None]
    costs = np.where(np.isfinite(costs), costs, largest)
    return np.asarray(costs[:, CHANGE] - costs[:, BASELINE])


class _Measure:
    """Evidence on a mean: that it is larger than a null, and that it is smaller."""

    def __init__(self, null: float, bounds: Bounds | None, n_items: int | None) -> None:
        n = n_items if bounds is not None else None
        self.worse, self.passes = (
            MeanBets((), (c,), bounds=bounds, n_blocks=n) for c in (null, -null)
        )
        self._null, self._ends = null, bounds or (-math.inf, math.inf)
        self._left, self._sum, self._size = n_items, 0.0, 1.0

    def add(self, value: float) -> None:
        """Take in the value of an item."""
        self.worse.add(np.asarray(value))
        self.passes.add(np.asarray(-value))
        if self._left is not None:
            self._left -= 1
        self._sum += value - self._null
        self._size += abs(value) + abs(self._null)

    def beyond(self) -> Bounds:
        """Return the least and the largest sum beyond the null, whatever the other items are."""
        if self._left is None:
            return -math.inf, math.inf
        low, high = (self._left * (end - self._null) if self._left else 0.0 for end in self._ends)
        return self._sum + low - TIE * self._size, self._sum + high - TIE * self._size


@dataclass
class _State:
    bounds: Bounds | None  # of costs
    measures: list[_Measure]
    worst: float  # the largest cost so far
    total: float = 0.0  # of the differences
    n: int = 0


@dataclass(frozen=True)
class GateRace(Decider):
    """Candidate 1 leaves if it is worse than candidate 0 by more than a margin, 0 leaves if not.

    D is by how much the change costs more on an item. One wealth bets against "the mean of D is
    at most the margin" (the change is worse), one against "it is at least the margin" (it passes).
    Without bounds there are two measures: the mean, by a self-normalised sum, and the sign of D
    beyond the margin. To pass takes both, each at `alpha`; either is enough for worse, at half.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Probability, for each answer, of giving it where it is wrong.
    margin : float >= 0
        Difference that does not matter, in units of the score; "ratios": of the logarithm.
    bounds : (float, float), optional
        The smallest and the largest score.
    worst : float
        The largest cost of the baseline, which a failed cell has where there are no bounds.
    by : {"items", "ratios"}
        "items": about these items, each once, in random order. "ratios": costs are times in
        rounds without end, and the median of their ratio decides, by signs alone.
    """

    by_means = True
    ends_itself = True

    alpha: float = 0.05
    margin: float = 0.0
    bounds: Bounds | None = None
    worst: float = 0.0
    by: Literal["items", "ratios"] = "items"

    def log_needed(self, _: int) -> float:
        """Return the log e-value at which an answer holds."""
        return -math.log(self.alpha)

    def start(self, setting: Setting) -> _State:
        if setting.bounds is not None:
            bounds = difference_bounds(setting.bounds)
            return _State(
                setting.bounds, [_Measure(self.margin, bounds, setting.n_blocks)], self.worst
            )
        if self.by == "ratios":
            return _State(None, [_Measure(0.0, (-1.0, 1.0), None)], self.worst)
        signs = _Measure(0.0, (-1.0, 1.0), setting.n_blocks)
        measures = [signs, _Measure(self.margin, None, setting.n_blocks)]
        return _State(None, measures, self.worst)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        costs = np.log(blocks.costs) if self.by == "ratios" else blocks.costs
        d = differences(costs, state.bounds, state.worst)
        state.worst = float(costs[np.isfinite(costs)].max(initial=state.worst))
        state.total, state.n = state.total + float(d.sum()), state.n + len(d)
        for value in d.tolist():
            is_tie = abs(value - self.margin) <= TIE * max(abs(value), 1.0)
            sign = 0.0 if is_tie else math.copysign(1.0, value - self.margin)
            for measure in state.measures:
                is_of_signs = state.bounds is None and measure is state.measures[0]
                measure.add(sign if is_of_signs else value)
        drop = self._certain(state.measures) or self._likely(state.measures)
        standing = np.array([0.0, state.total / state.n - self.margin])
        best = BASELINE if standing[1] > 0.0 else CHANGE
        return state, Verdict(() if drop is None else (drop,), best, standing, {"gate": "none"})

    def _likely(self, measures: list[_Measure]) -> Drop | None:
        """Return the drop for which there is enough evidence."""
        # any measure is enough for "worse", at a share of alpha; "passes" takes all, each at alpha
        worse = max(float(one.worse.log_e()) for one in measures) - math.log(len(measures))
        passes = min(float(one.passes.log_e()) for one in measures)
        if max(worse, passes) < self.log_needed(2):
            return None
        return _drop(CHANGE if worse > passes else BASELINE, max(worse, passes))

    def _certain(self, measures: list[_Measure]) -> Drop | None:
        """Return the drop that no further item can change."""
        least, most = (max(ends) for ends in zip(*(one.beyond() for one in measures), strict=True))
        if least > 0.0:
            return _drop(CHANGE, math.inf)
        return _drop(BASELINE, math.inf) if most <= 0.0 else None


def _drop(candidate: int, log_e: float) -> Drop:
    reason, value = "inferior" if candidate == CHANGE else "not better", math.exp(min(log_e, 700.0))
    return Drop(candidate, reason, against=1 - candidate, probability=value, measure="e-value")
