"""Plans for a race of known length: how much it may use, and how many candidates it has room for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from racer.errors import SettingError

if TYPE_CHECKING:
    from racer.deciders.decider import Blocks, Setting

_EPSILON = 1e-9  # rounding error of a number that is whole


def required_budget(setting: Setting, name: str) -> int:
    """Return the evaluations to plan with; SettingError if they are not limited."""
    if setting.budget is None:
        raise SettingError(
            f"decider={name!r} needs a budget of evaluations: give budget=.. as a number, or "
            "Budget(evaluations=..)"
        )
    return setting.budget


def used_after(used: int, blocks: Blocks) -> int:
    """Return the evaluations used: as the race counts them, or one per cell shown."""
    return used + blocks.costs.size if blocks.used is None else blocks.used


def room(n_candidates: int, used: int, budget: int, power: float = 1.0) -> int:
    """Return m^((1 - u)^power), rounded up and 2 at least, u the fraction of the budget used."""
    left = max(0.0, 1.0 - used / budget)
    return max(2, math.ceil(math.pow(n_candidates, left**power) - _EPSILON))
