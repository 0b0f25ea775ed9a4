"""What a tuning says of itself, beside what a race does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.report.sections import Grid, Section, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from racer.tuner.events import RaceCompleted


def races(held: Sequence[RaceCompleted], after: int) -> Section:
    """Return the races, and how many evaluations came `after` the last one."""
    head = ("race", "kind", "candidates", "alive", "blocks", "best", "its mean", "ended")
    rows = [
        (
            *(race.race, race.kind, race.candidates, race.alive, race.blocks),
            *("-" if race.best is None else f"#{race.best}", number(race.best_mean, 4), race.ended),
        )
        for race in held
    ]
    note = (
        "Means of different races are not of the same blocks. Eliminations count the blocks of "
        "all races."
    )
    if after:
        note += f" After the last race {after} evaluations went to the elites, the best first."
    return Section("Races", (Grid.of(head, rows, left="kind ended"), note))
