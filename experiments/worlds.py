"""The worlds that scripts play in, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.simulate import (
    CrossingRuntimesWorld,
    HeavyTailedWorld,
    InteractionWorld,
    NormalWorld,
    RareFailuresWorld,
    RuntimeWorld,
    UnequalInstancesWorld,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from racer.simulate import World

__all__ = ["WORLDS"]

WORLDS: Mapping[str, Callable[..., World]] = {
    "normal": NormalWorld,
    "heavy-tailed": HeavyTailedWorld,  # Student's t with 2 degrees of freedom
    "unequal": UnequalInstancesWorld,
    "runtime": RuntimeWorld,
    "interaction": InteractionWorld,  # candidates respond differently to the instance
    "crossing": CrossingRuntimesWorld,  # the same in the logarithm of run times
    "rare-failures": RareFailuresWorld,
}
