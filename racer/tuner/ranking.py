"""The order of candidates of a tuning: by the model, by the posterior, by failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.core.table import with_success
from racer.model.effects import effects
from racer.model.failing import FAR, sure
from racer.results.covariance import covariances
from racer.results.metrics import Metrics
from racer.results.posterior import goes_by_means, likeliest, n_blocks_of, posterior_of
from racer.results.tuning import compared

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from racer.stats.best import BestPosterior
    from racer.tuner.history import History
    from racer.tuner.proposals import Proposals

RECENT = 500  # candidates that are learnt from, beside those still in


class Outlook(NamedTuple):
    """What is expected of candidates: costs, their standard errors (k,); failures (k, places).

    Costs include the price of failures by chance; `score` also the price of all others.
    """

    cost: NDArray[np.float64]
    sd: NDArray[np.float64]
    failing: NDArray[np.float64]
    score: NDArray[np.float64]


class Ranking:
    """Candidates in order, by all outcomes in a history; the model of `proposals` learns from them.

    With `by_block` it learns costs in units of each block, else in one unit.
    """

    def __init__(self, history: History, proposals: Proposals, *, by_block: bool) -> None:
        self._history, self._proposals, self._by_block = history, proposals, by_block

    def expected_best_first(self, candidates: Sequence[int]) -> tuple[int, ...]:
        """Order candidates by the model's expectation after all outcomes."""
        history, aim = self._history, self._history.plan.rules.aim
        if aim is not None and aim.goal is not None:
            about, instance = self._about(candidates), history.plan.stream.instance
            tables = aim.tables(history.known, aim.deciding).values()
            costs = np.array([t.all_costs(about, instance) for t in tables])
            of = np.array(about), costs, candidates, self._length
            return self._proposals.learn_metrics(*of)
        found = self.outlook(candidates)
        order = found.score.argsort(kind="stable")
        return tuple(candidates[i] for i in order.tolist())

    def outlook(self, candidates: Sequence[int]) -> Outlook:
        """Learn costs and failures of candidates; return the outlook of some.

        Costs are learnt only from candidates that fail on the fewest instances: in the unit of
        failing ones, which may be far better, all others are equally far behind.
        """
        history, about = self._history, self._about(candidates)
        instance, runtime = history.plan.stream.instance, history.plan.rules.runtime
        costs = history.known.all_costs(about, instance)
        if runtime is not None:
            costs = np.where(np.isinf(costs), np.inf, runtime.as_costs(costs))
        failing, chance = self._failing(about)
        if (penalty := history.lost.penalty) is not None:
            # a penalty in place of a cost (PAR10, say) is a failure, not a size to learn from
            costs = np.where(costs == penalty, np.inf, costs)
        fails = sure(failing)
        good = np.isfinite(costs).any(axis=0)
        passes = good & (fails == fails[good].min(initial=failing.shape[1]))
        if not passes.any():
            passes = np.ones(len(about), dtype=np.bool_)
        learnt, some = np.array(about)[passes], costs[:, passes]
        known = effects(some[~np.isnan(some).all(axis=1)], self._length, by_block=self._by_block)
        at = np.searchsorted(about, candidates)
        asked = np.unique(at[passes[at]])
        cost, sd = np.where(passes, 0.0, FAR), np.ones(len(about))
        cost[asked] = self._proposals.learn(learnt, known, np.array(about)[asked].tolist())
        sd[passes] = np.sqrt(known.variance)
        cost += chance
        return Outlook(cost[at], sd[at], failing[at], (cost + FAR * fails)[at])

    def _about(self, candidates: Sequence[int]) -> list[int]:
        """Return the candidates that are learnt from: the latest, and some."""
        history = self._history
        recent = range(max(len(history.configs) - RECENT, 0), len(history.configs))
        return sorted({*candidates, *(c for c in recent if history.known.of(c))})

    @property
    def _length(self) -> int | None:
        """How many blocks there are that somebody may solve; None: without end."""
        length, known = self._history.plan.stream.length, self._history.known
        if length is None:
            return None
        return length - sum(not known.is_usable(b) for b in range(self._history.blocks_used))

    def _failing(self, about: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how probably candidates fail, (k, instances or blocks), and its price (k,)."""
        lost = self._history.lost
        if not lost.failed.any():
            return np.zeros((len(about), lost.n_places)), np.zeros(len(about))
        return self._proposals.failing(about, lost)

    def fastest_first(self, elites: tuple[int, ...]) -> tuple[int, ...]:
        """Order elites by the criterion of run times, if that is the cost, on their common blocks."""
        runtime = self._history.plan.rules.runtime
        if runtime is None or len(elites) < 2:
            return elites
        times = with_success(self._history.known.costs(elites))
        if not len(times):
            return elites
        order = runtime.as_costs(times).mean(axis=0).argsort(kind="stable")
        return tuple(elites[i] for i in order.tolist())

    def favourite(self, elites: Sequence[int], leader: int) -> int:
        """Return the candidate with the largest probability to be the best, as the result does."""
        history = self._history
        some = compared(history.known, len(history.configs), elites, history.plan.stream)
        return likeliest(self._posterior(some), leader)

    def _posterior(self, among: Collection[int]) -> BestPosterior:
        """Return the posterior of the best among some."""
        history, plan = self._history, self._history.plan
        known, n, rules = history.known, len(history.configs), plan.rules
        if rules.aim is not None and rules.goal is not None:
            metrics = Metrics(rules.aim, known, n, n_blocks_of(known, plan.stream))
            return metrics.posterior(rules.goal, among)
        by_means = goes_by_means(rules, is_exact=plan.is_exact)
        some = (covariances(plan.space, history.configs), among)
        return posterior_of(known, n, plan.stream, rules, 0.0, *some, by_means=by_means)
