"""What is left of the budget after the races and the finish: more blocks of the elites."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from racer.racing.asktell import Asked
from racer.tuner.ledger import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from racer.evaluate.outcome import Cell
    from racer.racing.asktell import Early, Flow
    from racer.tuner.ledger import Ledger, Pairs


def spend_in_order(ledger: Ledger, elites: Sequence[int]) -> Flow:
    """Evaluate the best, then the next best, on unseen blocks; those rejected no further."""
    for candidate in elites:
        while candidate not in ledger.rejected and (left := ledger.left() or 0):
            known, length = ledger.known.of(candidate), ledger.plan.stream.length
            until = len(known) + left if length is None else length
            pairs = [(candidate, block) for block in range(until) if block not in known][:left]
            now, later = ledger.affordable(pairs[:AT_ONCE]), pairs[AT_ONCE:]
            if not now:
                break
            spent = ledger.known.spent
            yield Asked(partial(ledger.cells_of, now), partial(_ahead, ledger, elites, later))
            ledger.use(now[-1][1])
            if ledger.is_free(spent):
                break


def spend_evenly(ledger: Ledger, elites: Sequence[int]) -> Flow:
    """Evaluate all elites on one block after the other; those rejected no further."""
    length = ledger.plan.stream.length
    for block in count() if length is None else range(length):
        some = _left_of(ledger, elites)
        missing = ledger.missing(some, block, None)
        if not some or not ledger.pays(len(missing) or 1):
            return
        if not ledger.affords(missing or some[:1], block):
            return
        if missing:
            spent = ledger.known.spent
            yield Asked(partial(ledger.cells, missing, block, None))
            if ledger.is_free(spent):
                return
            ledger.use(block)


def _left_of(ledger: Ledger, elites: Sequence[int]) -> list[int]:
    """Return the elites that have not been rejected."""
    return [candidate for candidate in elites if candidate not in ledger.rejected]


def _ahead(ledger: Ledger, elites: Sequence[int], pairs: Pairs, _: Early) -> Iterator[list[Cell]]:
    """Yield the cells after those of now: of the same candidate, then on held-out instances."""
    for pair in pairs:
        yield ledger.cells_of([pair])
    yield from ledger.all_held_out(_left_of(ledger, elites)[: ledger.plan.search.test_elites])
