"""One race, without input or output: ask what must be known, tell what came of it."""

from racer.racing.budget import Budget
from racer.racing.events import BlockCompleted, Callback, Elimination, Ended, RaceEnded
from racer.racing.race import Race
from racer.racing.result import RaceResult

__all__ = [
    "BlockCompleted",
    "Budget",
    "Callback",
    "Elimination",
    "Ended",
    "Race",
    "RaceEnded",
    "RaceResult",
]
