"""What is left of the budget after the races and the finish: more blocks of the elites."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from racer.racing.asktell import Asked
from racer.tuner.history import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from racer.evaluate.outcome import Cell
    from racer.racing.asktell import Flow
    from racer.tuner.history import History, Pairs


def spend(history: History, elites: Sequence[int], *, evenly: bool) -> Flow:
    """Evaluate the best, then the next best, or all `evenly`, on unseen blocks.

    Rejected ones no further; evenly, a block is paid for as a whole.
    """
    for group in [elites] if evenly else [[candidate] for candidate in elites]:
        while (left := history.left() or 0) and (pairs := _unseen(history, group, left)):
            n = sum(block == pairs[0][1] for _, block in pairs) if evenly else AT_ONCE
            now, spent = history.affordable(pairs[: min(n, left)]), history.known.spent
            if not now or (evenly and len(now) < n):
                break
            yield Asked(partial(history.cells_of, now), partial(ahead, history, elites, pairs[n:]))
            history.use(now[-1][1])
            if history.is_free(spent):
                break


def _unseen(history: History, group: Sequence[int], left: int) -> Pairs:
    """Return the pairs of a group's candidates with blocks that these have not seen, by block."""
    some = {c: history.known.of(c) for c in group if c not in history.rejected}
    length = history.plan.stream.length
    until = max(map(len, some.values()), default=0) + left if length is None else length
    pairs = ((c, block) for block in range(until) for c in some if block not in some[c])
    return [*pairs][: max(left, len(some))]


def ahead(history: History, elites: Sequence[int], pairs: Pairs) -> Iterator[list[Cell]]:
    """Yield the cells that come next: of the same candidates, then on held-out instances."""
    for pair in pairs:
        yield history.cells_of([pair])
    tested = [candidate for candidate in elites if candidate not in history.rejected]
    yield from history.all_held_out(tested[: history.plan.search.test_elites])
