"""Races on costs that are drawn or recorded: nothing runs, and the truth is known."""

from racer._entry import public_room
from racer.simulate.answers import answers
from racer.simulate.plan import Power
from racer.simulate.play import Play, play
from racer.simulate.worlds import (
    CrossingRuntimesWorld,
    Drawn,
    HeavyTailedWorld,
    InteractionWorld,
    NormalWorld,
    RareFailuresWorld,
    RecordedWorld,
    RuntimeWorld,
    UnequalInstancesWorld,
    World,
)

__all__ = [
    "CrossingRuntimesWorld",
    "Drawn",
    "HeavyTailedWorld",
    "InteractionWorld",
    "NormalWorld",
    "Play",
    "Power",
    "RareFailuresWorld",
    "RecordedWorld",
    "RuntimeWorld",
    "UnequalInstancesWorld",
    "World",
    "answers",
    "play",
]

public_room(vars())
