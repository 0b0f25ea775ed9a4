"""The budgeted race: spend the budget to its end on candidates that may be the best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import check_draws
from racer._numerics import one_blas_thread
from racer.deciders.decider import Blocks, Drop, Setting, Verdict
from racer.deciders.parts.plans import budget_after, required_budget, room, used_after
from racer.deciders.parts.scores import By, ByScore, block_scores
from racer.deciders.parts.verdicts import best_of, drops
from racer.failures import FailedCells
from racer.stats.dirichlet import gamma_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class _State:
    seed: int
    first: int  # candidates at the start
    budget: float  # evaluations
    candidates: NDArray[np.intp]
    totals: NDArray[np.float64]  # (m,), of scores
    drawn: NDArray[np.float64]  # (draws, m), of scores times the blocks' weights in a draw
    pending: list[NDArray[np.float64]] = field(default_factory=list)  # scores not yet in `drawn`
    blocks: int = 0
    used: int = 0  # evaluations
    failed: FailedCells = field(default_factory=FailedCells)

    def keep(self, candidates: NDArray[np.intp]) -> None:
        kept = np.searchsorted(self.candidates, candidates)
        self.candidates, self.totals = candidates, self.totals[kept]
        self.drawn = np.ascontiguousarray(self.drawn[:, kept])
        self.pending = [scores[kept] for scores in self.pending]

    def draw(self) -> None:
        """Bring `drawn` up to date."""
        first, draws = self.blocks - len(self.pending), len(self.drawn)
        blocks = range(first, self.blocks)
        weights = np.array([gamma_weights(self.seed, block, draws) for block in blocks])
        with one_blas_thread():
            self.drawn += weights.T @ np.array(self.pending)
        self.pending = []


@dataclass(frozen=True)
class BayesianBest(ByScore):
    """On a known budget, drop the candidate with the least posterior probability of being best.

    A race of m candidates that has spent the fraction u of its budget keeps m^(1-u) of them: as
    many evaluations go into each halving of the pool as into any other, as in sequential
    halving, but candidates are dropped one by one, as late as the budget allows. The last two
    stay to the end. A drop has the probability that it loses the best one, without a promise
    about errors: the budget decides how many are dropped, the evidence which. After few blocks that
    probability is too sure of itself: it takes the costs seen so far for all there are.

    Parameters
    ----------
    by : {"mean-rank", "mean"}
        Criterion of the best: the smallest expected rank, or the expected cost (a failed
        cell counts one range of its block behind the block's worst). A rank counts 1/(k+1) in
        a block with k candidates (van Elteren 1960), so that blocks from before and after a
        drop add up. "mean" is for costs on one scale without outliers.
    draws : int >= 100
        Dirichlet draws of the block weights (the Bayesian bootstrap).

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no budget.

    References
    ----------
    Benavoli et al. (ICML 2015), eq. 15, for the posterior; Karnin, Koren, Somekh: Almost
    optimal exploration in multi-armed bandits (ICML 2013), for the parts of the budget.

    Examples
    --------
    >>> import racer
    >>> decider = racer.deciders.BayesianBest()
    >>> costs = [4.0, 2.0, 1.0, 3.0]
    >>> result = racer.race(costs, lambda c, i, seed: c + seed % 7, decider=decider, budget=80, seed=1)
    >>> result.best, len(result.survivors)
    (1.0, 2)
    """

    ends_itself = True

    by: By = "mean-rank"
    draws: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_draws(self.draws)

    def start(self, setting: Setting) -> _State:
        m, seed = setting.n_candidates, int(setting.rng.integers(2**63))
        budget = required_budget(setting, "BayesianBest")
        return _State(seed, m, budget, np.arange(m), np.zeros(m), np.zeros((self.draws, m)))

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        if len(blocks.candidates) != len(state.candidates):
            state.keep(blocks.candidates)
        with np.errstate(over="ignore", invalid="ignore"):  # costs near the largest float
            for row in blocks.costs:
                state.pending.append(block_scores(row, self.by, state.failed))
                state.totals += state.pending[-1]
            state.blocks += len(blocks.costs)
            state.used = used_after(state.used, blocks)
            state.budget = budget_after(state.budget, state.used, blocks)
            standing = state.totals / max(state.blocks, 1)
            best = best_of(blocks.candidates, standing)
            kept = room(state.first, state.used, state.budget)
            dropped: tuple[Drop, ...] = ()
            if state.blocks > 1 and best is not None and kept < len(standing):
                state.draw()
                dropped = _least_probable(state, standing, kept)
        return state, Verdict(dropped, best, standing, {"room": kept})


def _least_probable(state: _State, standing: NDArray[np.float64], kept: int) -> tuple[Drop, ...]:
    """Drop all but `kept`, the least probable first; ties with a kept one stay."""
    least = state.drawn.min(axis=1, keepdims=True)
    # equal candidates differ by rounding in sums of weights: they share a draw
    leads = state.drawn <= least + 1e-9 * np.abs(least)
    probability = (leads / leads.sum(axis=1, keepdims=True)).mean(axis=0)
    order = np.lexsort((standing, -probability))
    last = order[kept - 1]
    eliminated = (probability < probability[last]) | (
        (probability == probability[last]) & (standing > standing[last])
    )
    eliminated &= standing > standing.min()
    order = order[::-1][eliminated[order[::-1]]]
    leader = int(standing.argmin())
    return drops(state.candidates, order, "unlikely", leader, probability[order], "posterior")
