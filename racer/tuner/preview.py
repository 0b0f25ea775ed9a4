"""Races that have been proposed and have not begun, held on outcomes that are known early.

They decide nothing. When such a race begins, it is held again with the same outcomes; until then
they say which cells it will need.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache, partial
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence

    from racer.evaluate.outcome import Cell, CellKey, Outcome
    from racer.racing.asktell import Ahead, Asked, Early
    from racer.tuner.match import Known, Match

    Flow = Generator[Asked, Any, str]


class Proposed(NamedTuple):
    """A race among `entrants` that has been proposed: `cells` evaluations, down to the survivors.

    `used` is how many blocks were known then (None: as many as when it begins); `is_all`: the cells
    are all that were left.
    """

    entrants: tuple[int, ...]
    cells: int
    survivors: int
    stretch: float = 1.0
    used: int | None = None
    is_all: bool = False

    def without(self, rejected: Collection[int]) -> Proposed | None:
        """Return the race among those that have not been rejected since; None if it is none."""
        left = tuple(c for c in self.entrants if c not in rejected)
        return self._replace(entrants=left) if len(left) > 1 else None


class Queue:
    """The races that have been proposed and have not begun, in order.

    `begun` is the number of the first race of this phase of a tuning; `clarity` how many of those
    that could go the last race that is over has eliminated, as a share.
    """

    def __init__(self, known: Known) -> None:
        self.begun: int = 0
        self.clarity: float = 1.0
        self._known = known
        self._races: dict[Proposed, Callable[[], Preview]] = {}

    def __len__(self) -> int:
        return len(self._races)

    @property
    def entrants(self) -> Iterator[int]:
        """The candidates of all these races."""
        return chain.from_iterable(race.entrants for race in self._races)

    @property
    def cells(self) -> int:
        """How many evaluations these races may use."""
        return sum(race.cells for race in self._races)

    def append(self, race: Proposed, match: Callable[[Known], Match]) -> None:
        """Add a race, and how its match is made of what is known."""
        self._races[race] = cache(partial(Preview, match, self._known))

    def pop(self) -> Proposed:
        """Remove the first race, and return it."""
        race = next(iter(self._races))
        del self._races[race]
        return race

    def clear(self) -> None:
        """Remove all races."""
        self._races.clear()

    def seen_from(self, match: Match, flow: Flow) -> Flow:
        """Yield the requests of a race, each followed by what it and those after it may need."""
        previews = [*self._races.values()]
        while True:
            try:
                asked = next(flow)
            except StopIteration as end:
                return str(end.value)
            asked.later = partial(_later, asked.later, match, previews)
            yield asked


class Overlay:
    """What is known of candidates, and what is known early."""

    def __init__(self, known: Known) -> None:
        self.early: Mapping[int, Mapping[int, Outcome]] = {}  # by candidate, then by block
        self._known = known

    def of(self, candidate: int) -> Mapping[int, Outcome]:
        """Return the outcomes of a candidate, by block."""
        known, early = self._known.of(candidate), self.early.get(candidate)
        return known if early is None else {**known, **early}


class Preview:
    """A race that has not begun, held as far as outcomes are known."""

    def __init__(self, match: Callable[[Known], Match], known: Known) -> None:
        self._known = Overlay(known)
        self._match = match(self._known)
        self._flow = self._match.run(lambda *_: None)
        self._asked = next(self._flow, None)

    def coming(
        self, early: Early, found: Mapping[int, Mapping[int, Outcome]]
    ) -> Iterator[list[Cell]]:
        """Go on with what is known early, `found` by candidate; yield the cells that follow."""
        self._known.early = found
        while (asked := self._asked) is not None:
            missing = [c for c in asked.cells if c.block not in self._known.of(c.candidate)]
            if missing:
                yield missing
                yield from asked.later(early)
                return
            self._asked = next(self._flow, None)

    def unlikely(self) -> Iterator[list[Cell]]:
        """Yield the cells that may follow, if the race is not over."""
        if self._asked is not None:
            yield from self._match.unlikely()


def _later(
    later: Ahead, match: Match, previews: Sequence[Callable[[], Preview]], early: Early
) -> Iterator[list[Cell]]:
    """Yield the cells that follow in a race and in those after it, a block of each in turn.

    The likely ones of all races come first. Elites may need the same cell in several races.
    """
    found: dict[int, dict[int, Outcome]] = defaultdict(dict)
    for (is_held_out, block, candidate), outcome in early.items():
        if not is_held_out:
            found[candidate][block] = outcome
    likely = [iter(later(early)), *(preview().coming(early, found) for preview in previews)]
    unlikely = [match.unlikely(), *(preview().unlikely() for preview in previews)]
    yielded: set[CellKey] = set()
    for cells in chain(_in_turn(likely), _in_turn(unlikely)):
        if new := [cell for cell in cells if cell.key not in yielded]:
            yielded.update(cell.key for cell in new)
            yield new


def _in_turn(races: Sequence[Iterator[list[Cell]]]) -> Iterator[list[Cell]]:
    """Yield the next block of each race in turn."""
    return chain.from_iterable(zip_longest(*races, fillvalue=[]))
