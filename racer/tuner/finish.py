"""What races leave of the budget: for the candidates that may be the best by the model."""

from __future__ import annotations

from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING

from racer.racing.asktell import Asked
from racer.tuner.history import AT_ONCE
from racer.tuner.leftover import ahead
from racer.tuner.ranking import RECENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.racing.asktell import Flow
    from racer.tuner.history import History, Pairs

    Ranked = Callable[[Sequence[int]], tuple[int, ...]]


class Finish:
    """Evaluate the candidates that the model expects to be the best, also among the eliminated.

    A race eliminates some by few blocks, and its elites may have been lucky on theirs. `ranked`
    puts candidates in order, the best expected first. `history.finalists` are the last ones, in order.
    """

    def __init__(self, history: History, ranked: Ranked) -> None:
        self.n_candidates = 0
        self._history, self._ranked = history, ranked

    def run(self, elites: Sequence[int]) -> Flow:
        """Yield cells until the budget is spent."""
        history = self._history
        everyone = range(len(history.configs))
        some = self._best((*{*elites, *everyone[-RECENT:]},))[: len(elites)]
        history.finalists, self.n_candidates = some, len(some)
        while room := history.left() or 0:
            if history.plan.is_exact:  # as has turned out on the way
                return
            pairs, spent = self._next(room), history.known.spent
            now, later = history.affordable(pairs[:AT_ONCE]), pairs[AT_ONCE:]
            if not now:
                return
            yield Asked(partial(history.cells_of, now), partial(ahead, history, some, later))
            for _, block in now:
                history.use(block)
            # nothing was used up: it would go on for ever
            if history.is_free(spent):
                return
        history.finalists = self._best(some)

    def _best(self, candidates: Sequence[int]) -> tuple[int, ...]:
        """Return the candidates that succeeded, the best expected first."""
        known, rejected = self._history.known, self._history.rejected
        some = [c for c in candidates if c not in rejected and known.mean(c) is not None]
        return self._ranked(sorted(some))

    def _next(self, room: int) -> Pairs:
        """Return the next cells: candidates with the fewest blocks, on blocks that most have seen."""
        history = self._history
        known = {
            c: {*history.known.of(c)} for c in self._history.finalists if c not in history.rejected
        }
        seen = [0] * history.blocks_used
        for candidate in range(len(history.configs)):
            for block in history.known.of(candidate):
                seen[block] += 1
        usable = [b for b, n in enumerate(seen) if n and history.known.is_usable(b)]
        order = sorted(usable, key=lambda block: -seen[block])
        blocks = {
            c: chain([b for b in order if b not in known[c]], count(len(seen))) for c in known
        }
        pairs: list[tuple[int, int]] = []
        while known and len(pairs) < room:
            candidate = min(known, key=lambda c: len(known[c]))
            block = next(blocks[candidate])
            known[candidate].add(block)
            pairs.append((candidate, block))
        return pairs
