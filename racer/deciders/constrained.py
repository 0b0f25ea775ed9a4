"""The cheapest that is good enough: a race on one metric, under constraints on others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from racer.deciders.decider import AtLevel, Blocks, Setting, Verdict
from racer.deciders.parts.several import Sought, required_goal, verdict_on_one
from racer.stats._bets import ExactBets, MeanBets, difference_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.deciders.decider import Goal


@dataclass
class _State:
    goal: Goal
    sought: Sought
    over: list[MeanBets | ExactBets]  # one per constraint: cost - limit
    under: list[MeanBets | ExactBets]  # limit - cost
    pairs: list[MeanBets | ExactBets]  # cost i - cost j

    def keep(self, candidates: NDArray[np.intp]) -> None:
        kept = self.sought.keep(candidates)
        for bets in (*self.over, *self.under, *self.pairs):
            bets.keep(kept)

    def add(self, costs: NDArray[np.float64], limits: NDArray[np.float64]) -> None:
        """Settle the bets of a block, costs (m, d) of the metrics with limits (d,)."""
        for bets, column in zip(self.over, (costs - limits).T, strict=True):
            bets.add(column)
        for bets, column in zip(self.under, (limits - costs).T, strict=True):
            bets.add(column)
        for bets, column in zip(self.pairs, costs.T, strict=True):
            bets.add(column[:, None] - column[None, :])

    def compare(self, limits: NDArray[np.float64]) -> None:
        """Compare exact means with limits (d,), and candidates with each other."""
        for d, means in enumerate(self.sought.means.T[1:]):
            self.over[d].compare(means, limits[d])
            self.under[d].compare(limits[d], means)
            self.pairs[d].compare(means[:, None], means[None, :])


@dataclass(frozen=True)
class ConstrainedRace(AtLevel):
    """Find the candidate with the smallest first metric of all that satisfy constraints.

    Two kinds of e-processes speak against a candidate: that its mean violates a constraint, and that
    an opponent satisfies all of them and is better in the first metric (the smallest of the e-values
    that this takes). Half of the weight each, shared by the opponents that there are. So the
    candidate that is sought is *ever* dropped with probability `alpha` at most.

    A candidate that violates a constraint leaves once, in each constrained metric, some opponent is
    known to be within the limit or nearer to it. So if none satisfies the constraints, the nearest
    is left, and the race goes on until the nearest is known, which may take the whole budget; with
    several constraints, all stay among which none is the nearest in each.

    Assumptions on values, and the count of a failed cell, are as in `WithinRace`.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Probability, over the whole race, of dropping the candidate that is sought.

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no objective `racer.Constrained`.

    Examples
    --------
    >>> import racer
    >>> prices = {"small": 1.0, "medium": 3.0, "large": 9.0}
    >>> limits = {"small": 3, "medium": 6, "large": 7}
    >>> def evaluate(model, item, seed):
    ...     return {"wrong": float(seed % 8 >= limits[model]), "price": prices[model]}
    >>> how = {"wrong": racer.Metric(bounds=(0, 1)), "price": racer.Metric(exact=True)}
    >>> goal = racer.Constrained(how, wrong=("<=", 0.4))
    >>> racer.race(list(prices), evaluate, budget=900, seed=1, goal=goal).best
    'medium'
    """

    by_means = True
    objectives: ClassVar[tuple[str, ...]] = ("constrained",)

    def start(self, setting: Setting) -> _State:
        goal, m = required_goal(setting, "constrained"), setting.n_candidates
        over: list[MeanBets | ExactBets] = []
        under: list[MeanBets | ExactBets] = []
        pairs: list[MeanBets | ExactBets] = []
        for limit, bounds, exact in zip(goal.limits, goal.bounds[1:], goal.exact[1:], strict=True):
            if exact:
                over.append(ExactBets((0.0,), (False,)))
                under.append(ExactBets((0.0,), (True,)))
                pairs.append(ExactBets((0.0,), (False,)))
                continue
            beyond = short = None
            if bounds is not None:
                low, high = bounds
                beyond, short = (low - limit, high - limit), (limit - high, limit - low)
            for side, shape, possible in (
                (over, (m,), beyond),
                (under, (m,), short),
                (pairs, (m, m), difference_bounds(bounds)),
            ):
                side.append(MeanBets(shape, (0.0,), bounds=possible, n_blocks=setting.n_blocks))
        return _State(goal, Sought.new(setting, goal), over, under, pairs)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        state.keep(blocks.candidates)
        limits = np.array(state.goal.limits)
        for row in np.asarray(blocks.metrics):
            state.add(state.sought.add(row)[:, 1:], limits)
        state.compare(limits)
        violates = np.stack([bets.log_e() for bets in state.over])
        violates = np.logaddexp.reduce(violates, axis=0) - np.log(len(state.over))
        fits = np.stack([bets.log_e() for bets in state.under])
        nearer = np.stack([bets.log_e() for bets in state.pairs])
        nearer = np.min(np.logaddexp(nearer, fits[:, None, :]) - np.log(2.0), axis=0)
        np.fill_diagonal(nearer, -np.inf)
        return state, verdict_on_one(
            state.sought,
            self.alpha,
            unfit=violates,
            acceptable=fits.min(axis=0),
            worse=nearer,
            beside=None,
        )
