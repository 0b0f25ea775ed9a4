"""The plan of a tuning: its space, instances, rules and schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from racer.tuner.schedule import Schedule

if TYPE_CHECKING:
    from racer.core.blocks import Stream
    from racer.core.rules import Rules
    from racer.space.space import Space


@dataclass(frozen=True)
class Plan:
    """All that makes a tuning, checked, as in `Tuner`; `first_test` fits few instances."""

    space: Space
    instances: tuple[Any, ...] | None
    test_instances: tuple[Any, ...]
    initial: tuple[dict[str, Any], ...]
    elites: int | None
    test_elites: int | None  # evaluated on held-out instances; None: all
    parallel_races: int | None  # under way at once, at most; None: one
    rules: Rules
    first_test: int
    stream: Stream

    @property
    def seed(self) -> int:
        """The seed that repeats the tuning."""
        return self.rules.seed or 0

    @property
    def has_parallel_races(self) -> bool:
        """Whether several races are to keep many workers busy."""
        return (self.parallel_races or 1) > 1

    @property
    def is_exact(self) -> bool:
        """Whether nothing is random: each instance is used once, as may turn out on the way."""
        return self.stream.length is not None

    @property
    def is_noisy(self) -> bool:
        """Whether luck may decide a race: of one metric, with noise, of times that are not capped."""
        return not (self.is_exact or self.rules.goal or self.rules.runtime)

    def schedule(self, total: int | None) -> Schedule:
        """Return the schedule with so many evaluations in all; None: not known yet."""
        return Schedule.of(
            len(self.space.free),
            total,
            elites=self.elites,
            n_metrics=1 if self.rules.goal is None else self.rules.goal.n_metrics,
            first_test=self.first_test,
            length=self.stream.length,
            conditional=len(self.space.conditions) / len(self.space.parameters),
        )
