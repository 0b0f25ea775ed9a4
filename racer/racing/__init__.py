"""One race, without input or output: `ask` for cells, `tell` their outcomes."""

from racer.core.budget import Budget
from racer.core.events import BlockCompleted, Callback, Elimination, Ended, RaceEnded
from racer.core.rules import Rules
from racer.core.runtime import Runtime
from racer.racing.race import Race
from racer.results.race import RaceResult

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
