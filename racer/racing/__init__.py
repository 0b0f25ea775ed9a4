"""One race, without input or output: ask for cells, tell their outcomes."""

from racer.racing.budget import Budget
from racer.racing.events import BlockCompleted, Callback, Elimination, Ended, RaceEnded
from racer.racing.race import Race
from racer.racing.result import RaceResult
from racer.racing.rules import Rules
from racer.racing.runtime import Runtime

__all__ = [
    "BlockCompleted",
    "Budget",
    "Callback",
    "Elimination",
    "Ended",
    "Race",
    "RaceEnded",
    "RaceResult",
    "Rules",
    "Runtime",
]
