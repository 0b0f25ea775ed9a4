"""The worlds that scripts play in, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.simulate import HeavyTailedWorld, NormalWorld, RuntimeWorld, UnequalInstancesWorld

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["WORLDS"]

WORLDS: Mapping[
    str, type[NormalWorld | HeavyTailedWorld | UnequalInstancesWorld | RuntimeWorld]
] = {
    "normal": NormalWorld,
    "heavy-tailed": HeavyTailedWorld,  # Student's t with 2 degrees of freedom
    "unequal": UnequalInstancesWorld,
    "runtime": RuntimeWorld,
}
