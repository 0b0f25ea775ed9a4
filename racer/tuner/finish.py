"""What races leave of the budget: for the candidates that may be the best by the model."""

from __future__ import annotations

from functools import partial
from itertools import chain, count
from typing import TYPE_CHECKING

from racer.racing.asktell import Asked
from racer.tuner.ledger import AT_ONCE
from racer.tuner.ranking import RECENT
from racer.tuner.rest import ahead

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from racer.racing.asktell import Flow
    from racer.tuner.ledger import Ledger, Pairs

    Ranked = Callable[[Sequence[int]], tuple[int, ...]]

_ROUNDS = (2, 1)  # for each elite so many candidates, in equal parts of the rest


class Finish:
    """Halve the candidates that the model expects to be the best, also of those eliminated.

    A race eliminates some by few blocks, and its elites may have been lucky on theirs. `ranked`
    puts candidates in order, the best expected first. `ledger.finalists` are the last ones, in order.
    """

    def __init__(self, ledger: Ledger, ranked: Ranked) -> None:
        self.n_candidates = 0
        self._ledger, self._ranked = ledger, ranked

    def run(self, elites: Sequence[int]) -> Flow:
        """Yield cells until the budget is spent."""
        ledger = self._ledger
        some = self._first(elites)
        for at, size in enumerate(_ROUNDS):
            until = ledger.evaluations + -(-(ledger.left() or 0) // (len(_ROUNDS) - at))
            some = some if at == 0 else self._best(some)
            some = ledger.finalists = some[: size * len(elites)]
            self.n_candidates = self.n_candidates or len(some)
            while (room := min(until - ledger.evaluations, ledger.left() or 0)) > 0:
                if ledger.plan.is_exact:  # as has turned out on the way
                    return
                pairs, spent = self._next(room), ledger.known.spent
                now, later = ledger.affordable(pairs[:AT_ONCE]), pairs[AT_ONCE:]
                if not now:
                    return
                yield Asked(partial(ledger.cells_of, now), partial(ahead, ledger, some, later))
                for _, block in now:
                    ledger.use(block)
                if ledger.is_free(spent):
                    return
        ledger.finalists = self._best(some)

    def _first(self, elites: Sequence[int]) -> tuple[int, ...]:
        """Return the elites and the latest, in order."""
        everyone = range(len(self._ledger.configs))
        return self._best((*{*elites, *everyone[-RECENT:]},))

    def _best(self, candidates: Sequence[int]) -> tuple[int, ...]:
        """Return those that succeeded, the best expected first."""
        known, rejected = self._ledger.known, self._ledger.rejected
        some = [c for c in candidates if c not in rejected and known.mean(c) is not None]
        return self._ranked(sorted(some))

    def _next(self, room: int) -> Pairs:
        """Return the next cells: candidates with the fewest blocks, on blocks that most have seen."""
        ledger = self._ledger
        known = {
            c: {*ledger.known.of(c)} for c in self._ledger.finalists if c not in ledger.rejected
        }
        seen = [0] * ledger.blocks_used
        for candidate in range(len(ledger.configs)):
            for block in ledger.known.of(candidate):
                seen[block] += 1
        usable = [b for b, n in enumerate(seen) if n and ledger.known.is_usable(b)]
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
