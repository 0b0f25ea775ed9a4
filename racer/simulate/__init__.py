"""Races on costs that are drawn or recorded: nothing runs, and the truth is known."""

from racer.simulate.play import Play, play
from racer.simulate.worlds import (
    Drawn,
    HeavyTailedWorld,
    NormalWorld,
    RecordedWorld,
    RuntimeWorld,
    UnequalInstancesWorld,
    World,
)

__all__ = [
    "Drawn",
    "HeavyTailedWorld",
    "NormalWorld",
    "Play",
    "RecordedWorld",
    "RuntimeWorld",
    "UnequalInstancesWorld",
    "World",
    "play",
]
