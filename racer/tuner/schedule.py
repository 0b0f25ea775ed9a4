"""The schedule: number of races, their candidates, their parts of the budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

_GROWTH = 5  # races in which the blocks that a candidate is expected to see grow by one each
_PER_RACE = 14  # evaluations per squared number of races: with more, more races
_DECISIVE = 1_000  # evaluations in all, up to which races leave no more than the elites
_MOST_CANDIDATES = 2_000  # in a race: a budget without sense makes more races, not larger ones
_ELITES = 4  # for each of several metrics, half as many more ..
_MANY = 2_000  # .. from so many evaluations on
_MOST_RACES = 100  # planned; more follow if the budget still pays for them


@dataclass(frozen=True)
class Schedule:
    """The plan of a tuning: `first_test` and `length` are blocks, `races` a number to begin with.

    `stretch`: the multiple of its evaluations that a race gives to a planning decider;
    `conditional` the fraction of the parameters that exist under conditions.

    López-Ibáñez et al. (2016), 2.1: at least 2 + log2(d) races and as many elites; here a larger
    budget means more races, too.
    """

    races: int
    elites: int
    first_test: int
    length: int | None
    stretch: float = 1.0
    conditional: float = 0.0

    @classmethod
    def of(
        cls,
        free: int,
        total: int | None,
        *,
        elites: int | None,
        first_test: int,
        length: int | None,
        conditional: float = 0.0,
        n_metrics: int = 1,
    ) -> Schedule:
        """Return the plan for `free` parameters and `total` evaluations (None: unknown).

        Of several metrics there are `_ELITES` elites for each, as many as a front may need.
        """
        usual = 2 + int(math.log2(max(free, 1)))
        stretch = max((total or 0) / _DECISIVE, 1.0) if length is None else 1.0  # no noise
        if elites is None:
            more = 1.5 if (total or 0) >= _MANY else 1.0
            elites = usual if n_metrics == 1 else max(usual, round(more * _ELITES * n_metrics))
        plan = cls(usual, elites, first_test, length, stretch, conditional)
        most = min(math.isqrt((total or 0) // _PER_RACE), _MOST_RACES)
        races, needed = plan.races, plan.minimum
        while races < most and (needed := needed + plan.least(races)) <= (total or 0):
            races += 1
        return replace(plan, races=races)

    def part(self, race: int, left: int) -> int:
        """Return how many evaluations the race of that number (from 0) may use of the rest."""
        return left // max(self.races - race, 1)

    def first_part(self, left: int) -> int:
        """Return how many the first race may use, as `part`.

        More where a candidate has only some of the parameters, but none that later races need.
        """
        part, spare = self.part(0, left), left - (self.minimum - self.least(0))
        return max(part, min(round((1.0 + self.conditional) * part), spare))

    def blocks(self, race: int) -> int:
        """Return how many blocks a candidate is expected to see in that race."""
        expected = self.first_test + min(_GROWTH, race + 1)
        return expected if self.length is None else min(expected, self.length)

    def new_ones(self, race: int, cells: int, *, known: int) -> int:
        """Return how many new candidates some cells pay for, beside the `known` elites."""
        size = min(cells // self.blocks(race), _MOST_CANDIDATES)
        return max(size if self._elites_are_free(race) else size - known, 0)

    def least(self, race: int) -> int:
        """Return the fewest cells with which a race makes sense: for one new candidate."""
        return (1 if self._elites_are_free(race) else self.elites + 1) * self.blocks(race)

    def _elites_are_free(self, race: int) -> bool:
        """Return whether all is known of elites: with few instances, each used once."""
        return race > 0 and self.length is not None and self.length <= self.blocks(race)

    @property
    def minimum(self) -> int:
        """The smallest budget with which each race makes sense."""
        return sum(map(self.least, range(self.races)))
