"""t-Race: paired t-tests against the candidate with the best mean."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts are imported when they are used

from racer._numerics import RowBuffer
from racer.deciders.decider import AtLevel, Blocks, Drop, Setting, Verdict
from racer.deciders.parts.verdicts import best_of, drop_worse
from racer.failures import FailedCells
from racer.stats.multiplicity import Correction, adjust, check_correction

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class _Against:
    """Welford's means and sums of squares of the differences to one candidate."""

    n: int
    difference: NDArray[np.float64]  # (m,), mean of the cost less its cost
    squares: NDArray[np.float64]  # (m,), sum of squared deviations from it


@dataclass
class _State:
    candidates: NDArray[np.intp]
    means: NDArray[np.float64]  # (m,)
    costs: RowBuffer
    against: dict[int, _Against]  # by candidate: those that have been the best
    failed: FailedCells = field(default_factory=FailedCells)

    @property
    def n(self) -> int:
        return len(self.costs)

    def keep(self, candidates: NDArray[np.intp]) -> None:
        kept = np.searchsorted(self.candidates, candidates)
        self.candidates = candidates
        self.means = self.means[kept]
        self.costs.keep(columns=kept)
        self.against = {
            candidate: _Against(one.n, one.difference[kept], one.squares[kept])
            for candidate, one in self.against.items()
            if candidate in candidates
        }

    def add(self, costs: NDArray[np.float64]) -> None:
        self.costs.append(costs)
        self.means += (costs - self.means) / self.n

    def differences(self, best: int) -> _Against:
        """Return the differences to the candidate at a position, over all blocks."""
        m = len(self.candidates)
        one = self.against.setdefault(
            int(self.candidates[best]), _Against(0, np.zeros(m), np.zeros(m))
        )
        for costs in self.costs.rows[one.n :]:
            one.n += 1
            new = costs - costs[best]
            step = new - one.difference
            one.difference += step / one.n
            one.squares += step * (new - one.difference)
        return one


@dataclass(frozen=True)
class TRace(AtLevel):
    """Drop candidates that a paired two-sided t-test finds worse than the best mean so far.

    It compares means of costs, so it assumes that a difference means the same on every block
    and that differences are not far from normal; with unequal or heavy-tailed instances use a
    rank-based decider. A failed cell counts as worse than the worst of its block by the range
    of that block.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Of each comparison, per test: a race tests many times.
    correction : {"bonferroni", "holm", "hochberg"}, optional
        Over the comparisons with the best of a test.

    Raises
    ------
    SettingError
        A parameter out of range.

    References
    ----------
    Birattari, Tuning Metaheuristics (2009), chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> import racer
    >>> decider = racer.deciders.TRace(alpha=0.01)
    >>> def evaluate(config, instance, seed):
    ...     return config + np.random.default_rng(seed).normal()
    >>> result = racer.race([4.0, 2.0, 1.0, 3.0], evaluate, decider=decider, budget=200, seed=1)
    >>> result.best
    1.0
    """

    tests = "growing"  # its error is spent at each test

    by_means = True

    correction: Correction | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_correction(self.correction, all_pairs=False)

    def start(self, setting: Setting) -> _State:
        m = setting.n_candidates
        return _State(np.arange(m), np.zeros(m), RowBuffer(m, np.float64), {})

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        if len(blocks.candidates) != len(state.candidates):
            state.keep(blocks.candidates)
        # costs near the largest float overflow, and equal differences have no spread: see below
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for row in blocks.costs:
                state.add(state.failed.imputed(row))
            standing = state.means.copy()
            standing[np.isnan(standing)] = np.inf
            best = best_of(blocks.candidates, standing)
            if state.n < 2 or len(blocks.candidates) < 2:
                return state, Verdict((), best, standing)
            dropped = self._against(state, int(standing.argmin()))
        return state, Verdict(dropped, best, standing, {"gate": "none"})

    def _against(self, state: _State, best: int) -> tuple[Drop, ...]:
        """Drop candidates that the test against `best` finds worse; t is NaN at 0/0: no drop."""
        found = state.differences(best)
        error = np.sqrt(found.squares / (state.n * (state.n - 1)))
        t = found.difference / error
        worse = np.flatnonzero(t > _critical_t(state.n - 1, self.alpha))
        family = np.ones(len(t) - 1)  # those not worse cannot become significant
        family[: len(worse)] = 2.0 * scipy.special.stdtr(state.n - 1, -t[worse])
        adjusted = adjust(family, self.correction)[: len(worse)]
        lost = adjusted < self.alpha
        return drop_worse(state.candidates, best, worse[lost], adjusted[lost])


@lru_cache(maxsize=4096)
def _critical_t(df: int, alpha: float) -> float:
    return float(scipy.special.stdtrit(df, 1.0 - alpha / 2.0))
