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


def differences(costs: Floats, bounds: Bounds) -> Floats:
    """Return by how much the change costs more on each item, (n,), of costs (n, 2) within bounds.

    A failed cell has the worst cost.
    """
    costs = np.clip(costs, *bounds)
    return np.asarray(costs[:, CHANGE] - costs[:, BASELINE])


@dataclass
class _State:
    worse: MeanBets  # that the mean of the values is larger than the null
    passes: MeanBets  # that it is smaller
    bounds: Bounds  # of costs
    ends: Bounds  # of values
    left: float  # items
    total: float = 0.0  # of the values beyond the null
    size: float = 1.0
    n: int = 0


@dataclass(frozen=True)
class GateRace(Decider):
    """Candidate 1 leaves if it is worse than candidate 0 by more than a margin, 0 leaves if not.

    D is by how much the change costs more on an item. One wealth bets against "the mean of D is
    at most the margin" (the change is worse), one against "it is at least the margin" (it passes).

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Probability, for each answer, of giving it where it is wrong.
    margin : float >= 0
        Difference that does not matter, in units of the score; "ratios": of the logarithm.
    bounds : (float, float), optional
        The smallest and the largest score; of "items".
    by : {"items", "ratios"}
        "items": about these items, each once, in random order. "ratios": costs are times in
        rounds without end, and the median of their ratio decides, by signs alone.
    """

    by_means = True
    ends_itself = True

    alpha: float = 0.05
    margin: float = 0.0
    bounds: Bounds | None = None
    by: Literal["items", "ratios"] = "items"

    def log_needed(self, _: int) -> float:
        """Return the log e-value at which an answer holds."""
        return -math.log(self.alpha)

    def start(self, setting: Setting) -> _State:
        bounds, n = setting.bounds, setting.n_blocks
        ends = difference_bounds(bounds) or (-1.0, 1.0)
        if bounds is None:
            bounds, n = (-math.inf, math.inf), None
        worse, passes = (
            MeanBets((), (c,), bounds=ends, n_blocks=n) for c in (self._null, -self._null)
        )
        return _State(worse, passes, bounds, ends, math.inf if n is None else n)

    @property
    def _null(self) -> float:
        """The largest mean of values that passes; of ratios, values are signs."""
        return 0.0 if self.by == "ratios" else self.margin

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        if self.by == "ratios":
            d = differences(np.log(blocks.costs), state.bounds)
            is_tie = np.abs(d - self.margin) <= TIE * np.maximum(np.abs(d), 1.0)
            values = np.sign(np.where(is_tie, 0.0, d - self.margin))
        else:
            values = differences(blocks.costs, state.bounds)
        for value in values.tolist():
            state.worse.add(np.asarray(value))
            state.passes.add(np.asarray(-value))
            state.total += value - self._null
            state.size += abs(value) + abs(self._null)
            state.left -= 1.0
            state.n += 1
        standing = np.array([0.0, state.total / state.n])
        best = BASELINE if standing[1] > 0.0 else CHANGE
        return state, Verdict(self._dropped(state), best, standing, {"gate": "none"})

    def _dropped(self, state: _State) -> tuple[Drop, ...]:
        """Return the drop that evidence is enough for, or that no further item can change."""
        worse, passes = (float(one.log_e()) for one in (state.worse, state.passes))
        known = state.total - TIE * state.size
        low, high = (state.left * (end - self._null) if state.left else 0.0 for end in state.ends)
        if known + low > 0.0:
            worse = math.inf
        elif known + high <= 0.0:
            passes = math.inf
        if max(worse, passes) < self.log_needed(2):
            return ()
        loser, reason = (CHANGE, "inferior") if worse > passes else (BASELINE, "not better")
        value = math.exp(min(max(worse, passes), 700.0))
        return (Drop(loser, reason, against=1 - loser, probability=value, measure="e-value"),)
