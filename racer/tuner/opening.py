"""A budget that is too small for races in series: few evaluations of many candidates."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from racer.model.effects import effects
from racer.racing.asktell import Asked

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import Any

    from racer.tuner.ledger import Ledger

    Candidates = Sequence[int]

SMALL = 600  # evaluations: with fewer, no races in series
_SHARE = 0.9  # of the evaluations; the rest is for a race among the best
_DESIGN = 0.15  # of the evaluations: candidates from the whole space, each on one block
_BATCH = 6  # candidates at a time
_CENTRES = 3  # around which they are drawn
_FINALISTS = 4
_HOPELESS = 5  # batches of which no evaluation succeeds, before it is given up
_LEAST_CLARITY = 0.5  # with nothing but noise; 1 without any


class Opening:
    """Evaluate candidates on as many blocks as the best one has seen, those behind on fewer.

    `draw(n, elites, clarity)` adds candidates around the elites, or from the whole space without
    any; `ranked(candidates)` puts some in order, the best expected first; `favourite()` is the
    candidate with the largest probability to be the best. Each batch begins with
    another block, so that what is learnt is not the landscape of a single instance; of those left
    in it, the better half goes on to the next block. The best candidate so far sees one block more
    after each batch (as the incumbent of Hutter et al., ParamILS, JAIR 2009, does).
    """

    def __init__(
        self,
        ledger: Ledger,
        draw: Callable[[int, Candidates, float], object],
        ranked: Callable[[Candidates], tuple[int, ...]],
        favourite: Callable[[], int],
    ) -> None:
        self._ledger, self._draw, self._ranked = ledger, draw, ranked
        self._favourite = favourite
        self._seen = 1  # blocks, by the best candidate

    def run(self, total: int) -> Generator[Asked, Any, tuple[int, ...]]:
        """Yield cells until what is left of so many evaluations is for a race; return its entrants."""
        ledger = self._ledger
        design = max(round(_DESIGN * total), 2)
        until = max(total - self._reserve(total), design)
        self._draw(design, (), 1.0)
        batch: Candidates = range(len(ledger.configs))
        if len(batch) < 2:
            return ()
        elites: tuple[int, ...] = ()
        turn = 0
        while batch:
            yield from self._climb(batch, turn, until - ledger.evaluations)
            elites = self._best()
            if elites:
                yield from self._show_more(elites[0], until - ledger.evaluations)
            if ledger.evaluations >= until or (turn >= _HOPELESS and not elites):
                break
            first, turn = len(ledger.configs), turn + 1
            clarity = _LEAST_CLARITY + (1.0 - _LEAST_CLARITY) * self._reliability()
            self._draw(_BATCH, elites[:_CENTRES], clarity)
            batch = range(first, len(ledger.configs))
        if not elites:
            return ()
        first = yield from self._confirm(total - len(elites[:_FINALISTS]))
        return (first, *(c for c in elites if c != first))[:_FINALISTS]

    def _reserve(self, total: int) -> int:
        """Return how many evaluations are kept for the race, no more than it can use."""
        plan = self._ledger.plan
        reserve = max(round((1.0 - _SHARE) * total), 2 * (plan.first_test - 1))
        length = plan.stream.length
        return reserve if length is None else min(reserve, _FINALISTS * (length - 1))

    def _confirm(self, until: int) -> Generator[Asked, Any, int]:
        """Evaluate the candidate that is probably the best on as many blocks as a test takes.

        Another one may turn out to be on the way. Return the last.
        """
        ledger = self._ledger
        while True:
            found = self._favourite()
            known = ledger.known.of(found)
            blocks = min(ledger.plan.first_test, self._most_blocks())
            missing = [block for block in range(int(blocks)) if block not in known]
            if not missing or ledger.evaluations >= until:
                return found
            yield from self._evaluate([found], missing[0])

    def _best(self) -> tuple[int, ...]:
        """Return the candidates that succeeded somewhere, the best expected first."""
        ledger = self._ledger
        some = [
            c
            for c in range(len(ledger.configs))
            if c not in ledger.rejected and ledger.known.mean(c) is not None
        ]
        return self._ranked(some) if some else ()

    def _climb(self, batch: Candidates, turn: int, room: int) -> Generator[Asked, Any, None]:
        """Evaluate a batch on one block after the other, the better half of it each time."""
        known, blocks = self._ledger.known, self._seen
        for at in range(blocks):
            batch = batch[: max(room, 0)]
            if not batch:
                return
            block = (turn + at) % blocks
            room -= yield from self._evaluate(batch, block)
            told = [(known.of(c)[block].value, c) for c in batch if c not in self._ledger.rejected]
            sign = -1.0 if self._ledger.plan.rules.maximize else 1.0
            order = sorted((value is None, sign * (value or 0.0), c) for value, c in told)
            batch = [c for _, _, c in order[: len(batch) // 2]]

    def _show_more(self, best: int, room: int) -> Generator[Asked, Any, None]:
        """Evaluate the best on the blocks that the one before has seen, or else on another."""
        known = self._ledger.known.of(best)
        missing = [block for block in range(self._seen) if block not in known]
        if not missing and self._seen < self._most_blocks():
            missing = [self._seen]
            self._seen += 1
        for block in missing[: max(room, 0)]:
            yield from self._evaluate([best], block)

    def _evaluate(self, candidates: Candidates, block: int) -> Generator[Asked, Any, int]:
        """Yield the cells of candidates on a block; return how many there were."""
        ledger = self._ledger
        cells = ledger.cells(candidates, block, ledger.limit)
        if cells:
            yield Asked(partial(list, cells))
            ledger.blocks_used = max(ledger.blocks_used, block + 1)
        return len(cells)

    def _most_blocks(self) -> float:
        """Return how many blocks bring news: while that is not known, each instance once."""
        stream, repeats = self._ledger.plan.stream, self._ledger.repeats
        if stream.length is not None or repeats.is_open or repeats.found:
            return stream.n_instances or np.inf
        return np.inf

    def _reliability(self) -> float:
        """Return the part of the variance of costs within blocks that is not noise, from 0 to 1."""
        everyone = range(len(self._ledger.configs))
        costs = self._ledger.known.all_costs(everyone, self._ledger.plan.stream.instance)
        known = np.isfinite(costs)
        costs = np.where(known, costs, np.nan)[:, known.sum(axis=0) > 1]
        if costs.shape[1] < 2:
            return 1.0
        costs = costs[(~np.isnan(costs)).any(axis=1)]
        found = effects(costs)
        noise = float(np.median(found.variance * (~np.isnan(costs)).sum(axis=0)))
        spread = float(found.value.var(ddof=1))
        return max(1.0 - noise / spread, 0.0) if spread > 0.0 else 0.0
