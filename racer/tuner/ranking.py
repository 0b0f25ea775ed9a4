"""The order of candidates of a tuning: by the model, by the posterior, by what failed."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from racer.core.table import with_success
from racer.model.effects import effects
from racer.model.failing import FAR, price
from racer.results.base import goes_by_means, likeliest, n_blocks_of, posterior_of
from racer.results.likeness import likeness
from racer.results.metrics import Metrics
from racer.results.tuning import compared

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from racer.stats.best import BestPosterior
    from racer.tuner.ledger import Ledger
    from racer.tuner.proposals import Proposals

_COMPARED = 100  # candidates of a race among which copies are looked for
_FEW = 8  # candidates that do not fail: with fewer, costs are learnt from all
_RECENT = 500  # candidates that are learnt from, beside those still in


class Ranking:
    """Candidates in order, by all outcomes in a ledger; the model of `proposals` learns from them.

    With `by_block` it learns costs in units of each block, else in one unit.
    """

    def __init__(self, ledger: Ledger, proposals: Proposals, *, by_block: bool) -> None:
        self._ledger, self._proposals, self._by_block = ledger, proposals, by_block

    def expected_best_first(self, candidates: Sequence[int]) -> tuple[int, ...]:
        """Order candidates by the model's expectation after all outcomes."""
        ledger = self._ledger
        recent = range(max(len(ledger.configs) - _RECENT, 0), len(ledger.configs))
        about = sorted({*candidates, *(c for c in recent if ledger.known.of(c))})
        length, runtime = ledger.plan.stream.length, ledger.plan.rules.runtime
        if length is not None:
            length -= sum(not ledger.known.is_usable(block) for block in range(ledger.blocks_used))
        if (aim := ledger.plan.rules.aim) is not None and aim.goal is not None:
            tables = aim.tables(ledger.known, aim.deciding).values()
            costs = np.array([t.all_costs(about, ledger.plan.stream.instance) for t in tables])
            return self._proposals.learn_metrics(np.array(about), costs, candidates, length)
        costs = ledger.known.all_costs(about, ledger.plan.stream.instance)
        if runtime is not None:
            costs = np.where(np.isinf(costs), np.inf, runtime.as_costs(costs))
        score = self.price(about)
        passes = (score < score.min() + FAR) & np.isfinite(costs).any(axis=0)
        if passes.sum() < _FEW:  # in the unit of those that fail, others are equally far behind
            passes[:] = True
        learnt, some = np.array(about)[passes], costs[:, passes]
        known = effects(some[~np.isnan(some).all(axis=1)], length, by_block=self._by_block)
        asked = sorted({*learnt.tolist()} & {*candidates})
        score[np.isin(about, asked)] += self._proposals.learn(learnt, known, asked)
        score[~passes] += FAR
        order = score[np.searchsorted(about, candidates)].argsort(kind="stable")
        return tuple(candidates[i] for i in order.tolist())

    def failing(self, about: Sequence[int]) -> NDArray[np.float64] | None:
        """Return how probably candidates fail, (k, instances or blocks); None if none has failed."""
        known, stream = self._ledger.known, self._ledger.plan.stream
        if not known.failures:
            return None
        repeated = known.repeated
        rows = [row for row in known.rows if row.block not in repeated]
        there = [stream.instance(row.block) for row in rows]
        places = [r.block if i is None else i for r, i in zip(rows, there, strict=True)]
        cells = (
            np.concatenate([row.candidates for row in rows]),
            np.repeat(places, [len(row.values) for row in rows]),
            np.concatenate([np.isnan(row.values) for row in rows]),
        )
        return self._proposals.failing(about, cells, stream.n_instances or max(places) + 2)

    def price(self, about: Sequence[int]) -> NDArray[np.float64]:
        """Return what the expected failures of candidates cost, in spreads of a block."""
        found = self.failing(about)
        return np.zeros(len(about)) if found is None else price(found)

    def more_reliable(self, stay: Sequence[int], entrants: Sequence[int]) -> tuple[int, ...]:
        """Return candidates without failures that should beat the survivors, if some failed.

        A race compares a failure with the rest of its block: where all that are left fail
        on an instance, it weighs nothing there.
        """
        known = self._ledger.known
        failed = {c for c in entrants if any(o.value is None for o in known.of(c).values())}
        if failed.isdisjoint(stay) or failed.issuperset(entrants):
            return ()
        ranked = self.expected_best_first(sorted(entrants))
        ahead = takewhile(lambda c: c not in stay, ranked)
        return tuple(c for c in ahead if c not in failed)

    def distinct(self, stay: tuple[int, ...], gone: Sequence[int], n: int) -> tuple[int, ...]:
        """Return those that stay, but copies of others behind the best of those eliminated last."""
        latest = list(gone)[: max(_COMPARED - len(stay), 0)]
        some = sorted([*stay, *latest])
        costs = self._ledger.known.all_costs(some, self._ledger.plan.stream.instance)
        copies = self._proposals.note_copies(some, costs)
        found = copies.distinct(stay)
        if len(found) < min(n, len(stay)) and latest:
            found = copies.distinct((*found, *self.expected_best_first(sorted(latest))))[:n]
        return tuple(dict.fromkeys((*found, *stay)))

    def fastest_first(self, elites: tuple[int, ...]) -> tuple[int, ...]:
        """Order elites by the criterion of run times, if that is the cost, on their common blocks."""
        runtime = self._ledger.plan.rules.runtime
        if runtime is None or len(elites) < 2:
            return elites
        times = with_success(self._ledger.known.costs(elites))
        if not len(times):
            return elites
        order = runtime.as_costs(times).mean(axis=0).argsort(kind="stable")
        return tuple(elites[i] for i in order.tolist())

    def favourite(self, elites: Sequence[int], leader: int) -> int:
        """Return the candidate with the largest probability to be the best, as the result does."""
        ledger = self._ledger
        some = compared(ledger.known, len(ledger.configs), elites, ledger.plan.stream)
        return likeliest(self._posterior(some), leader)

    def likeliest(self) -> int:
        """Return the likeliest of all candidates to be the best, with none more alike than others."""
        return self._posterior(are_alike=True).best

    def _posterior(
        self, among: Collection[int] | None = None, *, are_alike: bool = False
    ) -> BestPosterior:
        """Return the posterior of the best; `are_alike`: with any two candidates equally alike."""
        ledger, plan = self._ledger, self._ledger.plan
        known, n, rules = ledger.known, len(ledger.configs), plan.rules
        if rules.aim is not None and rules.goal is not None:
            metrics = Metrics(rules.aim, known, n, n_blocks_of(known, plan.stream))
            return metrics.posterior(rules.goal, among)
        covariances = None if are_alike else likeness(plan.space, ledger.configs)
        by_means = goes_by_means(rules, is_exact=plan.is_exact)
        some = (covariances, among)
        return posterior_of(known, n, plan.stream, rules, 0.0, *some, by_means=by_means)
