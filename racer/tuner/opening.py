"""A budget that is too small for races in series: few evaluations of many candidates."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from racer.model.effects import effects
from racer.racing.asktell import Asked
from racer.tuner.drafts import MANY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import Any

    from racer.tuner.history import History

    Candidates = Sequence[int]
    Draw = Callable[..., Generator[Asked, Any, Sequence[int]]]

_PER_PARAMETER = 20  # evaluations before races in series, for each parameter beyond `MANY` ..
_EXPLORED = 0.7  # .. at most, of all; not fewer than ..
_LEAST = 100  # .. these, whose design has 15 candidates
SMALL = 600  # evaluations: with fewer, no races in series
FINALISTS = 4
_SHARE = 0.9  # of the evaluations; the rest is for a race among the best
_NOISY = 0.15  # of them, more for the race where candidates differ by nothing but noise
_DESIGN = 0.15  # of the evaluations: candidates from the whole space, each on one block
_BATCH = 6  # candidates at a time ..
_LARGE_BATCH = 24  # .. before races: the model is fitted less often
_CENTRES = 3  # around which they are drawn
_HOPELESS = 5  # batches of which no evaluation succeeds, before it is given up
_TRIES = 6  # candidates, to find one that succeeds on a block on which others fail
_LEAST_CLARITY = 0.5  # with nothing but noise; 1 without any


def to_explore(parameters: int, total: int) -> int:
    """Return how many of `total` evaluations explore a space of many parameters before races."""
    part = min(_PER_PARAMETER * (parameters - MANY), round(_EXPLORED * total))
    return part if part >= _LEAST else 0


class Opening:
    """Evaluate candidates on as many blocks as the best one has seen, worse candidates on fewer.

    `draw(n, elites, clarity, ..)` adds candidates around the elites, or from the whole space without
    any, and returns the candidates to be evaluated; `ranked(candidates)` puts candidates in order,
    the best expected first. Each batch begins with another block, so that the model has more than a
    single instance; of the candidates left in it, the better half goes on to the next block. The
    best candidate so far sees one block more after each batch (as the incumbent of Hutter et al.,
    ParamILS, JAIR 2009, does).
    """

    def __init__(
        self,
        history: History,
        draw: Draw,
        ranked: Callable[[Candidates], tuple[int, ...]],
        kept: Callable[[int], int],
    ) -> None:
        self._history, self._draw, self._ranked = history, draw, ranked
        self._kept = kept
        self._seen = 1  # blocks, by the best candidate
        self._until = 0  # evaluations
        self._unsolved: set[int] = set()  # blocks: no candidate is sought that succeeds there

    def run(self, total: int, finalists: int) -> Generator[Asked, Any, tuple[int, ...]]:
        """Yield cells until the rest of `total` evaluations is for a race of `finalists`.

        Return the candidates that succeeded somewhere, best first; the best initial
        candidate is among the finalists.
        """
        elites = yield from self.explore(total, finalists)
        given = [c for c in elites if c < len(self._history.plan.initial)][:1]
        order = dict.fromkeys((*elites[: max(finalists - 1, 1)], *given, *elites))
        return tuple(c for c in order if self._is_good(c))

    def explore(self, total: int, finalists: int) -> Generator[Asked, Any, tuple[int, ...]]:
        """Yield cells until the rest of `total` evaluations is for a race of `finalists`.

        Return the candidates that succeeded somewhere, best first. With no finalists, `total` is
        spent.
        """
        history = self._history
        design = max(round(_DESIGN * total), 2)
        batch = yield from self._draw(design, (), 1.0, each=1, block=0)
        if len(history.configs) < 2:
            return ()
        least = history.evaluations + len(batch)
        self._until = max(total - self._reserve(total, finalists), least)
        elites: tuple[int, ...] = ()
        turn = 0
        size = _BATCH if finalists else _LARGE_BATCH
        while batch:
            yield from self._climb(batch, turn)
            elites = self._best()
            if elites:
                yield from self._show_more(elites[0])
                yield from self._find_success(design)
            if (room := self._room) <= 0 or (turn >= _HOPELESS and not elites):
                break
            turn += 1
            reliability = self._reliability()
            clarity = _LEAST_CLARITY + (1.0 - _LEAST_CLARITY) * reliability
            reserve = self._reserve(total, finalists, 1.0 - reliability)
            self._until = total - reserve
            block, some = self._order(turn)[0], elites[:_CENTRES]
            batch = yield from self._draw(min(size, room), some, clarity, each=2, block=block)
        return elites

    def _reserve(self, total: int, finalists: int, noise: float = 0.0) -> int:
        """Return how many evaluations are kept for the race, no more than it can use.

        The more, the larger is the part of noise in their differences.
        """
        if not finalists:
            return 0
        plan = self._history.plan
        share = 1.0 - _SHARE + _NOISY * noise
        reserve = max(round(share * total), 2 * (plan.first_test - 1))
        length = plan.stream.length
        if length is not None:
            reserve = min(reserve, finalists * (length - 1))
        return max(reserve, self._kept(total))

    @property
    def _room(self) -> int:
        """How many evaluations may be asked for; one while the budget is in unknown seconds."""
        left = self._history.left()
        return min(self._until - self._history.evaluations, 1 if left is None else left)

    def _is_good(self, candidate: int) -> bool:
        """Return True if a candidate succeeded somewhere, and was rejected nowhere."""
        history = self._history
        return candidate not in history.rejected and history.known.mean(candidate) is not None

    def _best(self) -> tuple[int, ...]:
        """Return the candidates that succeeded somewhere, the best expected first."""
        some = list(filter(self._is_good, range(len(self._history.configs))))
        return self._ranked(some) if some else ()

    def _climb(self, batch: Candidates, turn: int) -> Generator[Asked, Any, None]:
        """Evaluate a batch on one block after the other, the better half of it each time."""
        history = self._history
        sign = -1.0 if history.plan.rules.maximize else 1.0
        for block in self._order(turn):
            yield from self._evaluate(batch, block)
            told = [(history.known.of(c).get(block), c) for c in batch if c not in history.rejected]
            costs = [(o.value is None, sign * (o.value or 0.0), c) for o, c in told if o]
            batch = [c for _, _, c in sorted(costs)[: len(batch) // 2]]

    def _order(self, turn: int) -> list[int]:
        """Return the blocks in the order of a turn."""
        blocks = min(self._seen, self._most_blocks)
        return [(turn + at) % blocks for at in range(blocks)]

    def _find_success(self, design: int) -> Generator[Asked, Any, None]:
        """Evaluate candidates from the whole space on blocks on which all have failed so far.

        While that is not known, a candidate that fails there is no worse than others.
        """
        known = self._history.known
        for block in range(self._seen):
            others = [c for c in range(design) if self._is_good(c) and block not in known.of(c)]
            for candidate in others[:_TRIES]:
                if known.is_usable(block) or block in self._unsolved:
                    break
                yield from self._evaluate([candidate], block)
            if not known.is_usable(block):
                self._unsolved.add(block)

    def _show_more(self, best: int) -> Generator[Asked, Any, None]:
        """Evaluate the best on the blocks that the former best has seen, or else on another.

        That shows also whether an instance used again brings anything new, where that is not known.
        """
        history = self._history
        known = history.known.of(best)
        blocks = range(min(self._seen, self._most_blocks))
        missing = [block for block in blocks if block not in known]
        if not missing and self._seen < self._most_blocks + history.repeats.is_open:
            missing = [self._seen]
            self._seen += 1
        for block in missing:
            yield from self._evaluate([best], block)

    def _evaluate(self, candidates: Candidates, block: int) -> Generator[Asked, Any, None]:
        """Yield the cells of candidates on a block, as many as there is room for."""
        history = self._history
        cells = history.cells(candidates, block, history.limit)
        while cells and (room := self._room) > 0:
            now = cells[: room if history.prices is None else 1]
            if not history.affords([cell.candidate for cell in now], block):
                self._until = 0  # the money is spent
                return
            yield Asked(partial(list, now))
            history.use(block)
            cells = cells[len(now) :]

    @property
    def _most_blocks(self) -> int:
        """How many blocks there are, or, until it is known whether more bring news, instances."""
        repeats = self._history.repeats
        used_once = self._history.plan.is_exact or repeats.is_open
        return repeats.n_instances if used_once else sys.maxsize

    def _reliability(self) -> float:
        """Return the part of the variance of costs within blocks that is not noise, from 0 to 1."""
        everyone = range(len(self._history.configs))
        costs = self._history.known.all_costs(everyone, self._history.plan.stream.instance)
        known = np.isfinite(costs)
        costs = np.where(known, costs, np.nan)[:, known.sum(axis=0) > 1]
        if costs.shape[1] < 2:
            return 1.0
        costs = costs[(~np.isnan(costs)).any(axis=1)]
        found = effects(costs)
        noise = float(np.median(found.variance * (~np.isnan(costs)).sum(axis=0)))
        spread = float(found.value.var(ddof=1))
        return max(1.0 - noise / spread, 0.0) if spread > 0.0 else 0.0
