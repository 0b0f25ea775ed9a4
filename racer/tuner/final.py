"""The final stage: find the candidate to return by evaluations that chose none before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from racer.model.failing import sure
from racer.racing.asktell import Asked
from racer.seeding import rng_for
from racer.tuner.present import share_kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.racing.asktell import Flow
    from racer.tuner.history import History, Pairs
    from racer.tuner.ranking import Ranking

_KEPT = 0.15  # of the budget, where somebody failed who succeeded elsewhere
_RISK = 0.01  # probability of a failure that is not worth an evaluation
_ROUNDS = 12  # so many of the rest are asked for at once
_AT_ONCE = 4  # evaluations of the leader, before it is looked at again


def kept(history: History, total: int) -> int:
    """Return how many of `total` evaluations the final stage needs now."""
    return round((_KEPT - share_kept(history.plan)) * total) if is_needed(history) else 0


def is_needed(history: History) -> bool:
    """Whether a candidate failed that succeeded elsewhere; not for several metrics or run times."""
    rules = history.plan.rules
    return rules.goal is None and rules.runtime is None and history.lost.is_partial


class FinalStage:
    """Sends candidates to instances on which they may fail, and to blocks that others have seen.

    Where a candidate has failed: the leader where it probably fails, any that would be better if it
    passes where that is doubtful, and both on shared blocks; then the leader on all that is new to
    it, the most doubtful first. Who stands is returned. `order` has it and the others, best first.
    """

    def __init__(self, history: History, ranking: Ranking, elites: Sequence[int]) -> None:
        self._history, self._ranking = history, ranking
        self._rng = rng_for(history.plan.seed, "final")
        self._some = {*elites}
        self.order: tuple[int, ...] = tuple(elites)

    @property
    def _room(self) -> int:
        return self._history.left() or 0

    def run(self) -> Flow:
        """Yield cells until a leader has stood, and the rest of the budget is spent."""
        self._look()
        leader: int | None = None
        while self._room > 0:
            # challengers while the leader's own check, a cell on each new instance, stays paid for
            if leader is None and self._room > len(self._new(self._lead)):
                pairs = self._challenge()
            else:
                leader = self._pool[self._lead] if leader is None else leader
                pairs = self._verify(self._pool.index(leader)) or self._challenge()
            if not (pairs := self._history.affordable(pairs[: self._room])):
                break
            used = self._history.evaluations
            yield from _evaluate(self._history, pairs)
            # nothing was new: to ask again would never end
            if self._history.evaluations == used:
                break
            self._some.update(candidate for candidate, _ in pairs)
            self._look()
            # it failed its check, and its successor has to stand the same
            if leader is not None and self._has_lost(leader):
                leader = self._pool[self._lead]
        self._put_in_order(leader)

    def _look(self) -> None:
        """Look at all candidates that succeeded: expected costs, failures, and both."""
        history = self._history
        good = (c for c in range(len(history.configs)) if c not in history.rejected)
        self._pool = [c for c in good if history.known.mean(c) is not None]
        if not self._pool:
            return
        found = self._ranking.outlook(self._pool)
        self._cost, self._sd, self._failing, self._score = found
        self._lead = int(self._score.argmin())

    def _has_lost(self, leader: int) -> bool:
        """Return whether a leader has been found to fail where the best expected does not."""
        if leader not in self._pool:
            return True
        fails = sure(self._failing)
        return bool(fails[self._pool.index(leader)] > fails[self._lead])

    def _put_in_order(self, leader: int | None) -> None:
        order = [self._pool[k] for k in self._score.argsort(kind="stable")]
        order = [c for c in order if c in self._some] or order
        if leader is not None and not self._has_lost(leader):
            order = [leader, *(c for c in order if c != leader)]
        self.order = tuple(order)

    def _new(self, k: int, taken: Pairs = ()) -> list[int]:
        """Return a block of each instance that is new to a candidate, the most doubtful first."""
        candidate = self._pool[k]
        blocks = {*self._history.known.of(candidate), *(b for c, b in taken if c == candidate)}
        place, used = self._history.plan.stream.instance_or_block, self._history.blocks_used
        seen = {place(b) for b in blocks}
        some = [b for b in range(self._failing.shape[1]) if place(b) not in seen]
        # rounded, so that blocks of about equal risk keep a fixed order, used ones first
        risk = self._failing[k].round(3)
        return sorted(some, key=lambda b: (-risk[place(b)], b >= used, b))

    def _doubt(self, k: int, taken: Pairs) -> Pairs:
        """Return the cell on which a candidate most probably fails, if that is worth it."""
        place, blocks = self._history.plan.stream.instance_or_block, self._new(k, taken)[:1]
        return [(self._pool[k], b) for b in blocks if self._failing[k, place(b)] > _RISK]

    def _shared(self, k: int, taken: Pairs) -> Pairs:
        """Return the next cell of a comparison with the leader: on its blocks, or new to both."""
        known, candidate = self._history.known, self._pool[k]
        seen = {*known.of(candidate), *(b for c, b in taken if c == candidate)}
        of_leader = known.of(self._pool[self._lead])
        length = self._history.plan.stream.length
        # of so many blocks at least one is new to both
        most = len(seen) + len(of_leader) + 1
        new = range(most if length is None else min(most, length))
        blocks = (b for b in (*sorted(of_leader), *new) if b not in seen)
        return [(candidate, b) for b in blocks if b not in known.repeated][:1]

    def _challenge(self) -> Pairs:
        """Return cells of the leader, of candidates better if they pass, and of runners-up."""
        lead, n, pairs = self._lead, max(self._room // _ROUNDS, 1), list[tuple[int, int]]()
        pairs += self._doubt(lead, pairs)
        ahead = self._score[lead]
        if sure(self._failing)[lead]:  # whoever passes is better, the most expensive as well
            ahead = min(ahead, 2.0 * self._cost.max() - self._cost.min())
        gain = np.maximum(ahead - self._cost, 0.0)
        # it counts as far as the candidate is likely to pass on every instance
        gain *= (1.0 - self._failing).prod(axis=1)
        gain[lead] = 0.0
        for k in (-gain).argsort(kind="stable")[: 2 * n].tolist():
            if gain[k] > 0.0:
                pairs += self._doubt(k, pairs) or self._shared(k, pairs)
        for _ in range(n):
            # Thompson sampling: a runner-up is compared as often as it may be the best
            drawn = self._score + self._sd * self._rng.standard_normal(len(self._score))
            drawn[lead] = np.inf
            for k in (int(drawn.argmin()), lead):
                pairs += self._shared(k, pairs)
        return pairs

    def _verify(self, k: int) -> Pairs:
        """Return cells of the leader on instances that are new to it."""
        n = max(self._room // _ROUNDS, _AT_ONCE)
        return [(self._pool[k], block) for block in self._new(k)[:n]]


def _evaluate(history: History, pairs: Pairs) -> Flow:
    yield Asked(partial(history.cells_of, pairs))
    for _, block in pairs:
        history.use(block)
