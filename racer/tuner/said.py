"""What a tuning says of itself, beside what a race does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.report.sections import Grid, Section, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.tuner.events import RaceCompleted


def races(held: Sequence[RaceCompleted]) -> Section:
    """Return the races; means are of all that was known of the best, so not of the same blocks."""
    head = ("race", "kind", "candidates", "alive", "blocks", "best", "its mean", "ended")
    rows = [
        (
            *(race.race, race.kind, race.candidates, race.alive, race.blocks),
            *("-" if race.best is None else f"#{race.best}", number(race.best_mean, 4), race.ended),
        )
        for race in held
    ]
    note = "Means of different races are not of the same blocks."
    return Section("Races", (Grid.of(head, rows, left="kind ended"), note))
