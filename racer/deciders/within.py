"""The cheapest of the nearly best: a race on one metric, within a tolerance of the best in others."""

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

    Floats = NDArray[np.float64]

_FAR, _NEAR, _WORSE = range(3)  # the nulls of a metric with a tolerance


@dataclass
class _State:
    goal: Goal
    sought: Sought
    pairs: list[MeanBets | ExactBets]  # one per metric with a tolerance: cost i - cost j

    def keep(self, candidates: NDArray[np.intp]) -> None:
        kept = self.sought.keep(candidates)
        for bets in self.pairs:
            bets.keep(kept)


@dataclass(frozen=True)
class WithinRace(AtLevel):
    """Find the candidate with the smallest first metric of all nearly the best in the others.

    A candidate is acceptable if its mean in each other metric is within the tolerance of the least
    mean. Two kinds of e-processes speak against a candidate: that it is worse than an opponent by
    more than the tolerance, and that an opponent is acceptable and better in the first metric (the
    smallest of the e-values that this takes). Half of the weight each, shared by the
    opponents that there are. So the candidate sought is *ever* given up with probability `alpha`
    at most. A candidate that has been given up stays as long as it may be the best in another metric,
    by which the rest are measured.

    Where metrics have bounds (`racer.Metric(bounds=)`), e-processes are bets on bounded means, of
    these instances if each is used once (in random order: shuffle them), and nothing is assumed.
    Without, sums are divided by the root of their squares: exact for symmetric differences, and for
    many blocks. A failed cell counts as the upper bound, or four ranges of its block behind
    the block's worst.

    Parameters
    ----------
    alpha : float in (0, 0.5)
        Probability, over the whole race, of giving up the candidate that is sought.

    Raises
    ------
    SettingError
        A parameter out of range; at the start of a race, no objective `racer.Within`.

    References
    ----------
    Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting (JRSS B 2024);
    de la Peña: A general class of exponential inequalities for martingales (Annals of Probability
    1999).

    Examples
    --------
    >>> import racer
    >>> prices = {"small": 1.0, "medium": 3.0, "large": 9.0}
    >>> limits = {"small": 3, "medium": 6, "large": 6}
    >>> def evaluate(model, item, seed):
    ...     return {"wrong": float(seed % 7 >= limits[model]), "price": prices[model]}
    >>> how = {"wrong": racer.Metric(bounds=(0, 1)), "price": racer.Metric(exact=True)}
    >>> goal = racer.Within(how, wrong=0.05)
    >>> racer.race(list(prices), evaluate, budget=900, seed=1, goal=goal).best
    'medium'
    """

    by_means = True
    objectives: ClassVar[tuple[str, ...]] = ("within",)

    def start(self, setting: Setting) -> _State:
        goal, m = required_goal(setting, "within"), setting.n_candidates
        pairs: list[MeanBets | ExactBets] = []
        for limit, bounds, exact in zip(goal.limits, goal.bounds[1:], goal.exact[1:], strict=True):
            nulls = (limit, -limit, 0.0)
            if exact:
                pairs.append(ExactBets(nulls, (False, True, False)))
                continue
            possible = difference_bounds(bounds)
            pairs.append(MeanBets((m, m), nulls, bounds=possible, n_blocks=setting.n_blocks))
        return _State(goal, Sought.new(setting, goal), pairs)

    def decide(self, state: _State, blocks: Blocks) -> tuple[_State, Verdict]:
        state.keep(blocks.candidates)
        for row in np.asarray(blocks.metrics):
            costs = state.sought.add(row)
            for bets, column in zip(state.pairs, costs.T[1:], strict=True):
                bets.add(column[:, None] - column[None, :])
        for bets, column in zip(state.pairs, state.sought.means.T[1:], strict=True):
            bets.compare(column[:, None], column[None, :])
        far = np.stack([bets.log_e(_FAR) for bets in state.pairs])
        far = np.logaddexp.reduce(far, axis=0) - np.log(len(state.pairs))
        worse = np.min([bets.log_e(_WORSE) for bets in state.pairs], axis=0)
        # [j, k]: j is acceptable beside k, in each metric
        beside = np.min([bets.log_e(_NEAR).T for bets in state.pairs], axis=0)
        np.fill_diagonal(beside, np.inf)
        acceptable = beside.min(axis=1)
        np.fill_diagonal(far, -np.inf)
        return state, verdict_on_one(
            state.sought,
            self.alpha,
            unfit=far,
            acceptable=acceptable,
            worse=worse,
            beside=beside,
        )
