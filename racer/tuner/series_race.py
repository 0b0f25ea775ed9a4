"""One race of a tuner: a `Race` among some of its candidates, on some of its blocks."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from racer.deciders.decider import KnowsBudget, PlansDrops
from racer.deciders.verdicts import Protected
from racer.errors import warn
from racer.evaluate.outcome import all_failed
from racer.racing.race import QuietRace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from racer.evaluate.outcome import Outcome
    from racer.racing.events import BlockCompleted, RaceEnded
    from racer.racing.rules import Rules


class SeriesRace:
    """A race of a tuner's `entrants` (numbers), each protected until so many blocks are complete.

    `blocks` are the tuner's, in order; `patient` goes on although a test has eliminated none.
    """

    def __init__(
        self,
        entrants: Sequence[int],
        blocks: Iterator[int],
        protected_until: Sequence[int],
        rules: Rules,
        *,
        length: int | None = None,
        patient: bool = False,
        watch: Callable[[BlockCompleted | RaceEnded], object] | None = None,
        leaders: Sequence[int] = (),
    ) -> None:
        self.entrants = tuple(entrants)
        self._rules = rules
        self._protected_until = max(protected_until)
        # a decider that plans by the budget knows itself when to end
        self._patient = patient or isinstance(rules.decider, KnowsBudget)
        self._blocks = blocks
        self._drawn: deque[int] = deque()  # blocks of what is to come
        held = replace(rules, decider=Protected(rules.decider, tuple(protected_until)))
        self.race = QuietRace(
            range(len(self.entrants)),
            None if length is None else range(length),
            callbacks=[watch] if watch else [],
            **held.settings(),
        )
        self.race.leaders = tuple(i for i, c in enumerate(self.entrants) if c in leaders)
        self._idle_blocks = self._idle_tests = 0
        self.race.ask()
        self.block = -1 if self.ended else next(blocks)

    @property
    def alive(self) -> list[int]:
        """The entrants that are still in."""
        return [self.entrants[i] for i in self.race.alive]

    @property
    def ended(self) -> str | None:
        """Why the race is over, None while it goes on."""
        if self.race.ended is not None:
            return self.race.ended.value
        is_idle = self._rules.is_idle(self._idle_blocks, self._idle_tests)
        may_eliminate_all = self.race.n_blocks >= self._protected_until
        return "no-elimination" if is_idle and may_eliminate_all and not self._patient else None

    def tell(self, outcomes: Sequence[Outcome], *, held: bool = False) -> None:
        """Take in the block's outcomes, in the order of `alive`; warn if all have failed.

        One that is held back is kept from the decider.
        """
        before, tested = len(self.race.alive), self.race.tested_blocks
        block = self.block
        self.race.holding = held
        self.race.tell_block(outcomes)
        if all(outcome.value is None for outcome in outcomes):
            warn(f"block {block + 1} is set aside: {all_failed(outcomes)}")
        if len(self.race.alive) < before:
            self._idle_blocks = self._idle_tests = 0
        elif not held:
            self._idle_blocks += tested > 0
            self._idle_tests += self.race.tested_blocks > tested > 0
        if self.ended is None:
            self.block = self._drawn.popleft() if self._drawn else next(self._blocks)

    @property
    def leaders(self) -> list[int]:
        """The entrants whose times make the cap; none before the first test of a first race."""
        if not self.race.leaders and self.race.tested_blocks < self._rules.first_test:
            return []
        return [self.entrants[i] for i in self.race.reference]

    def settle_repeats(self, n_instances: int | None) -> None:
        """Count the blocks held back, or drop them, and use only the first `n_instances`."""
        self.race.settle_repeats(n_instances)
        if n_instances is None:
            return
        self._drawn = deque(block for block in self._drawn if block < n_instances)
        self._blocks = (block for block in self._blocks if block < n_instances)
        if self.ended is None and self.block >= n_instances:
            self.block = self._drawn.popleft() if self._drawn else next(self._blocks)

    def expected(self) -> Iterator[tuple[int, list[int]]]:
        """Yield the blocks that follow and who is likely to be in, best standing first.

        If the decider does not plan: while no elite can be eliminated, and one block more.
        """
        safe = max(self._protected_until, self._rules.first_test * self._rules.block_size)
        plans = isinstance(self._rules.decider, PlansDrops)
        most = None if plans else max(safe - self.race.n_blocks, 1)
        for more, ranked in enumerate(islice(self.race.expected(), most)):
            while len(self._drawn) <= more:
                block = next(self._blocks, None)
                if block is None:
                    return
                self._drawn.append(block)
            yield self._drawn[more], [self.entrants[i] for i in ranked]

    @property
    def ranked(self) -> list[int]:
        """The entrants that are still in, best standing first."""
        return [self.entrants[i] for i in self.race.ranked]
