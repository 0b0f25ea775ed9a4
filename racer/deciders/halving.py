"""Sequential halving: a baseline without statistics, on a known budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import RowBuffer
from racer.deciders.decider import Blocks, Drop, Setting, Verdict
from racer.deciders.parts.plans import required_budget, used_after
from racer.deciders.parts.scores import ByScore, block_scores
from racer.deciders.parts.verdicts import best_of, drops
from racer.failures import FailedCells

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MANY = 10**9  # evaluations, or blocks: of a budget that is not known in evaluations yet


@dataclass
class _State:
    budget: int  # evaluations; in money or in seconds, an estimate
    candidates: NDArray[np.intp]
    totals: NDArray[np.float64]  # of what standing is the mean of
    costs: RowBuffer
    blocks: int = 0
    used: int = 0  # evaluations
    next_at: int = 0  # halve once so many evaluations are used
    planned_at: tuple[int, float, int] = (0, 0.0, 0)  # evaluations, share and blocks
    share: float = 0.0
    failed: FailedCells = field(default_factory=FailedCells)

    def keep(self, candidates: NDArray[np.intp]) -> None:
        kept = np.searchsorted(self.candidates, candidates)
        self.candidates, self.totals = candidates, self.totals[kept]
        self.costs.keep(columns=kept)

    def plan(self) -> None:
        """Set when the next half is dropped: equal parts of the budget left, one per halving."""
        self.planned_at = self.used, self.share, self.blocks
        self._set_next()

    def _set_next(self) -> None:
        m, used = len(self.candidates), self.planned_at[0]
        halvings = max(1, math.ceil(math.log2(m)))
        part = (self.budget - used) // (halvings * m)
        self.next_at = used + max(1, part) * m

    def estimate(self, share: float) -> None:
        """Plan anew with the evaluations that the budget pays for, by the price of a block so far."""
        self.share = share
        _, before, blocks = self.planned_at
        price = (share - before) / max(self.blocks - blocks, 1)
        more = (1.0 - share) / price if price > 0.0 else _MANY
        self.budget = self.used + len(self.candidates) * int(min(more, _MANY))
        self._set_next()


@dataclass(frozen=True)
class SequentialHalving(ByScore):
    """Spend the budget in ceil(log2 m) equal parts, and drop the worse half after each.

    A baseline: it tests nothing and promises nothing about errors, but spends exactly what it
    is given. All blocks so far count in each comparison. A test that comes late, by the
    rules of the race, shifts the parts that remain. Of a budget in money or in seconds it halves
    before the block that, at the price of a block so far, would go beyond the part.

    Parameters
    ----------
    by : {"mean", "mean-rank"}
        Order of candidates: the mean cost (a failed cell counts one range of its
        block behind the block's worst), or the mean rank within blocks, which counts
        1/(k+1) in a block with k candidates (van Elteren 1960).

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no budget.

    References
    ----------
    Karnin, Koren, Somekh: Almost optimal exploration in multi-armed bandits (ICML 2013).

    Examples
    --------
    >>> import racer
    >>> decider = racer.deciders.SequentialHalving()
    >>> costs = [4.0, 2.0, 1.0, 3.0]
    >>> result = racer.race(costs, lambda c, i, seed: c + seed % 7, decider=decider, budget=80, seed=1)
    >>> result.best, len(result.survivors)
    (1.0, 1)
    """

    ends_itself = True

    def start(self, setting: Setting) -> _State:
        m = setting.n_candidates
        budget = required_budget(setting, "halving")
        costs = RowBuffer(m, np.float64)
        state = _State(int(min(budget, _MANY)), np.arange(m), np.zeros(m), costs)
        state.plan()
        return state

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        if len(blocks.candidates) != len(state.candidates):
            state.keep(blocks.candidates)
            state.plan()
        with np.errstate(over="ignore", invalid="ignore"):  # costs near the largest float
            for row in blocks.costs:
                state.totals += block_scores(row, self.by, state.failed)
                state.costs.append(row)
            standing = np.nan_to_num(state.totals / max(state.blocks + len(blocks.costs), 1))
        state.blocks += len(blocks.costs)
        state.used = used_after(state.used, blocks)
        if blocks.used_share is not None:
            state.estimate(blocks.used_share)
        best = best_of(blocks.candidates, standing)
        dropped: tuple[Drop, ...] = ()
        if state.used >= state.next_at and len(standing) > 1:
            dropped = _worse_half(state, standing)
        return state, Verdict(dropped, best, standing, {"halving_at": state.next_at})


def _worse_half(state: _State, standing: NDArray[np.float64]) -> tuple[Drop, ...]:
    order = np.argsort(standing, kind="stable")
    best, worse = int(order[0]), order[(len(order) + 1) // 2 :][::-1]
    costs = state.costs.rows[:, worse]
    own = state.costs.rows[:, [best]]
    won = ((own < costs).sum(axis=0) + (own <= costs).sum(axis=0)) / 2.0 / state.blocks
    return drops(state.candidates, worse, "halved", best, won, "win-share")
