"""The best choice by several metrics for a known budget: late drops, in the order of the goal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from racer.deciders.decider import Blocks, Scheduled, Setting, Verdict
from racer.deciders.parts.plans import budget_after, required_budget, room, used_after
from racer.deciders.parts.several import FiniteCosts, best_first, exact_means
from racer.deciders.parts.verdicts import drops
from racer.errors import SettingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders.decider import Goal


_UNKNOWN = 1e300  # of what is known exactly, where every cell failed


@dataclass
class _State:
    goal: Goal
    finite: FiniteCosts
    first: int  # candidates at the start
    budget: float  # evaluations
    candidates: NDArray[np.intp]
    sums: NDArray[np.float64]  # (m, d)
    counts: NDArray[np.float64]  # (m, d)
    n: int = 0
    used: int = 0  # evaluations


@dataclass(frozen=True)
class GoalForBudget(Scheduled):
    """Spend a known budget on the goal of several metrics: candidates leave as late as it allows.

    How many stay is planned as in `BestForBudget`. Candidates stand in the order of their mean
    costs. For a front: by layers (candidates that none of the rest beats in all metrics), and
    within a layer by their part of the hypervolume. Else: first all that seem acceptable, by the
    first metric, then the others by how far they are from it (with several limits, in spreads of
    each metric); so none that seems acceptable leaves before another that does not. No error rate
    is promised. A failed cell counts as the upper bound, or four ranges of its block behind
    the block's worst.

    Raises
    ------
    SettingError
        At the start of a race: no budget, or one number per cell.

    Examples
    --------
    >>> import racer
    >>> def evaluate(size, instance, seed):
    ...     return {"error": 1.0 / size + seed % 7 / 100.0, "seconds": 30.0 if size == 9 else size}
    >>> goal = racer.Constrained({"error": "min", "seconds": "min"}, error=("<=", 0.4))
    >>> result = racer.race(
    ...     [1, 2, 4, 9, 12], evaluate, budget=200, seed=1, decider="goal-for-budget", goal=goal
    ... )
    >>> result.best
    4
    """

    ends_itself = True
    by_means = True
    objectives: ClassVar[tuple[str, ...]] = ("front", "within", "constrained")

    def start(self, setting: Setting) -> _State:
        goal, m = setting.objective, setting.n_candidates
        if goal == "cost":
            raise SettingError(
                "decider='goal-for-budget' is for several metrics: give goal=racer.Pareto(..), "
                "Within or Constrained"
            )
        budget = required_budget(setting, "goal-for-budget")
        sums, counts = np.zeros((2, m, goal.n_metrics))
        return _State(goal, FiniteCosts(goal), m, budget, np.arange(m), sums, counts)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        if len(blocks.candidates) != len(state.candidates):
            kept = np.searchsorted(state.candidates, blocks.candidates)
            state.sums, state.counts = state.sums[kept], state.counts[kept]
            state.candidates = blocks.candidates
        for row in np.asarray(blocks.metrics):
            costs = state.finite.of(row)
            state.sums += np.nan_to_num(costs)
            state.counts += ~np.isnan(costs)
            state.n += 1
        state.used = used_after(state.used, blocks)
        state.budget = budget_after(state.budget, state.used, blocks)
        means = exact_means(state.sums, state.counts)
        if state.goal.kind == "front":
            means = np.minimum(means, _UNKNOWN)
        order = best_first(state.goal, means)
        m, n_kept = len(order), self.planned_room(state, state.used)
        standing = np.empty(m)
        standing[order] = np.arange(m)
        first = int(blocks.candidates[order[0]])
        gone = np.array(order[n_kept:][::-1] if state.n > 1 else [], dtype=np.intp)
        dropped = drops(*(blocks.candidates, gone, "outranked", order[0], standing[gone], "place"))
        is_front = state.goal.kind == "front"
        best = None if is_front and m - len(dropped) > 1 else first
        return state, Verdict(dropped, best, standing, {"room": float(n_kept)})

    def planned_room(self, state: _State, used: int) -> int:
        return room(state.first, used, state.budget, power=1.0 - 1.5 / state.first)
