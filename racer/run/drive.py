"""The loop: ask, evaluate, tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.errors import RaceInterrupted
from racer.evaluate.workers import generators_put_back

if TYPE_CHECKING:
    from racer.evaluate.workers import Workers
    from racer.racing.race import Race
    from racer.racing.result import RaceResult

__all__ = ["drive"]


def drive(race: Race, workers: Workers) -> RaceResult:
    """Run a race to its end.

    Raises
    ------
    RaceInterrupted
        Ctrl-C; the error carries what is known so far.
    """
    try:
        with generators_put_back():
            while cells := race.ask():
                for cell, outcome in workers.outcomes(cells):
                    race.tell(cell, outcome)
    except KeyboardInterrupt:
        raise RaceInterrupted(race.result()) from None
    return race.result()
