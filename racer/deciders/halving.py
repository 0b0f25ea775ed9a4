"""Sequential halving: what one would do without statistics, on a known budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from racer._checks import whole
from racer.deciders.decider import Blocks, Drop, Verdict, best_of
from racer.deciders.trace import impute_failed
from racer.errors import SettingError
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SequentialHalving"]

By = Literal["mean", "mean-rank"]


@dataclass
class _State:
    candidates: NDArray[np.intp]
    totals: NDArray[np.float64]  # of what standing is the mean of
    wins: NDArray[np.float64]  # [i, j]: blocks in which i beats j, ties half
    blocks: int
    used: int  # evaluations
    next_at: int  # halve once there are so many blocks

    def keep(self, candidates: NDArray[np.intp]) -> None:
        kept = np.searchsorted(self.candidates, candidates)
        self.candidates, self.totals = candidates, self.totals[kept]
        self.wins = self.wins[np.ix_(kept, kept)]


@dataclass(frozen=True)
class SequentialHalving:
    """Spend the budget in ceil(log2 m) equal parts, and drop the worse half after each.

    A baseline: it tests nothing and promises nothing about errors, but spends exactly what it
    is given. All blocks so far count in each comparison. A look that comes late (`first_test`,
    `each_test`) shifts the parts that remain.

    Parameters
    ----------
    by : {"mean", "mean-rank"}
        What candidates are ordered by: the mean cost (a failed cell counts one range of its
        block behind the block's worst), or the mean rank within blocks.
    evaluations : int, optional
        The budget. Left out, a race tells its own.

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no budget of evaluations.

    References
    ----------
    Karnin, Koren, Somekh: Almost optimal exploration in multi-armed bandits (ICML 2013).
    """

    by: By = "mean"
    evaluations: int | None = None

    def __post_init__(self) -> None:
        if self.by not in ("mean", "mean-rank"):
            raise SettingError(f"by={self.by!r}: choose 'mean' or 'mean-rank'")
        if self.evaluations is not None:
            whole(self.evaluations, "evaluations", least=1)

    def told_budget(self, evaluations: int | None) -> Self:
        """Return this decider for a race of so many evaluations, unless it has a budget."""
        return self if self.evaluations is not None else replace(self, evaluations=evaluations)

    def start(self, n_candidates: int, rng: np.random.Generator) -> _State:  # noqa: ARG002
        """Return the state of a race in which nothing is known yet."""
        m = n_candidates
        state = _State(np.arange(m), np.zeros(m), np.zeros((m, m)), 0, 0, 0)
        self._plan(state)
        return state

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        """Take in new blocks; drop the worse half when a part of the budget is spent."""
        if len(blocks.candidates) != len(state.candidates):
            state.keep(blocks.candidates)
            self._plan(state)
        with np.errstate(over="ignore", invalid="ignore"):  # costs near the largest float
            for row in blocks.costs:
                state.totals += (
                    ranks_of(row[None, :])[0] if self.by != "mean" else impute_failed(row)
                )
                state.wins += 0.5 * ((row[:, None] < row) + 1.0 * (row[:, None] <= row))
            standing = np.nan_to_num(state.totals / max(state.blocks + len(blocks.costs), 1))
        state.blocks += len(blocks.costs)
        state.used += blocks.costs.size
        best = best_of(blocks.candidates, standing)
        dropped: tuple[Drop, ...] = ()
        if state.blocks >= state.next_at and len(standing) > 1:
            dropped = _worse_half(state, standing)
        return state, Verdict(dropped, best, standing, {"halving_at": state.next_at})

    def _plan(self, state: _State) -> None:
        """Set when the next half goes: an equal part of what is left, for each halving left."""
        if self.evaluations is None:
            raise SettingError(
                "decider='halving' needs a budget of evaluations: give budget=.. as a number, or "
                "SequentialHalving(evaluations=..)"
            )
        m = len(state.candidates)
        halvings = max(1, math.ceil(math.log2(m)))
        part = (self.evaluations - state.used) // (halvings * m)
        state.next_at = state.blocks + max(1, part)


def _worse_half(state: _State, standing: NDArray[np.float64]) -> tuple[Drop, ...]:
    order = np.argsort(standing, kind="stable")
    best, keep = int(order[0]), (len(order) + 1) // 2
    return tuple(
        Drop(
            int(state.candidates[i]),
            "halved",
            int(state.candidates[best]),
            float(state.wins[best, i]) / state.blocks,
            "win-share",
        )
        for i in order[keep:][::-1].tolist()
    )
