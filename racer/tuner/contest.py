"""One race of a tuner: a `Race` among some of all candidates, on blocks of the run."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from racer.deciders.decider import KnowsBudget
from racer.deciders.guards import Protected
from racer.errors import RacerWarning, warn
from racer.evaluate.cell import all_failed
from racer.racing.budget import Budget
from racer.racing.race import Race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from racer.deciders.decider import Decider
    from racer.evaluate.cell import Outcome
    from racer.racing.events import BlockCompleted, RaceEnded

__all__ = ["Contest", "Rules"]

_PATIENCE = 1  # looks in a row, after the first, in which nobody goes: then a race is given up


class Rules(NamedTuple):
    """How a race is held."""

    decider: Decider
    seed: int
    first_test: int
    each_test: int
    min_survivors: int
    length: int | None  # blocks that there are in all; None: without end
    patient: bool = False
    maximize: bool = False


class Contest:
    """A race among candidates of the run; it knows no more of them than what it is told.

    Parameters
    ----------
    entrants : sequence of int
        Candidates, by their numbers in the run; at least two.
    blocks : iterator of int
        Blocks of the run in the order in which the race uses them.
    until : sequence of int
        For each entrant, the number of blocks before which it cannot go.
    budget : int
        Cells that the race may use, those included that are known beforehand.
    rules : Rules
    watch : callable, optional
        Told of the race's events.
    """

    def __init__(
        self,
        entrants: Sequence[int],
        blocks: Iterator[int],
        until: Sequence[int],
        budget: int,
        rules: Rules,
        watch: Callable[[BlockCompleted | RaceEnded], object] | None = None,
    ) -> None:
        self.entrants = tuple(entrants)
        self._until = max(until)
        # a decider that plans by the budget knows itself when to end
        self._patient = rules.patient or isinstance(rules.decider, KnowsBudget)
        self._blocks = blocks
        self.race = Race(
            range(len(self.entrants)),
            None if rules.length is None else range(rules.length),
            decider=Protected(rules.decider, tuple(until)),
            budget=Budget(evaluations=budget),
            maximize=rules.maximize,
            seed=rules.seed,
            deterministic=rules.length is not None,
            first_test=rules.first_test,
            each_test=rules.each_test,
            min_survivors=rules.min_survivors,
            callbacks=[watch] if watch else [],
        )
        self._each_test = rules.each_test
        self._idle = 0
        self.block = -1 if self.ended else next(blocks)

    @property
    def alive(self) -> list[int]:
        """Who is still in."""
        return [self.entrants[i] for i in self.race.alive]

    @property
    def blocks(self) -> int:
        """How many blocks are complete."""
        return len(self.race.table.rows)

    @property
    def ended(self) -> str | None:
        """Why the race is over, None while it goes on."""
        if self.race.ended is not None:
            return self.race.ended.value
        idle = self._idle >= _PATIENCE * self._each_test and self.blocks >= self._until
        return "no-elimination" if idle and not self._patient else None

    def tell(self, outcomes: Sequence[Outcome]) -> None:
        """Take in the outcomes of the block, in the order of `alive`.

        Warns
        -----
        RacerWarning
            All have failed, so that the block is set aside.
        """
        before, looked = len(self.race.alive), self.race.has_looked
        if any(outcome.value is not None for outcome in outcomes):
            self.race.tell_outcomes(outcomes)
        else:
            self._set_aside(outcomes)
        same = len(self.race.alive) == before
        self._idle = self._idle + 1 if looked and same else 0
        if self.ended is None:
            self.block = next(self._blocks)

    def _set_aside(self, outcomes: Sequence[Outcome]) -> None:
        block = self.block
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RacerWarning)  # the race knows only its own blocks
            self.race.tell_outcomes(outcomes)
        warn(
            f"block {block} is set aside: {all_failed(outcomes)}",
        )

    @property
    def tells_apart(self) -> bool:
        """Whether anything speaks for one rather than another of those still in."""
        return self.race.result().best_index is not None
