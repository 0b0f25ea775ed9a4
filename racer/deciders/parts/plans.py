"""Plans for a race of known length: how much it may use, and how many candidates it has room for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from racer.errors import SettingError

if TYPE_CHECKING:
    from racer.deciders.decider import Blocks, Setting

_EPSILON = 1e-9  # rounding error of a number that is whole
_FAR = 1_000_000  # blocks: enough for any decision


def required_budget(setting: Setting, name: str) -> float:
    """Return the evaluations to plan with, inf if not known yet; SettingError without any budget."""
    if setting.has_share:
        return math.inf
    if setting.budget is None:
        raise SettingError(
            f"decider={name!r} needs a budget: give budget=.. as a number of evaluations, or "
            "racer.Budget(..)"
        )
    return setting.budget


def used_after(used: int, blocks: Blocks) -> int:
    """Return the evaluations used: as the race counts them, or one per cell shown."""
    return used + blocks.costs.size if blocks.used is None else blocks.used


def budget_after(budget: float, used: int, blocks: Blocks) -> float:
    """Return the evaluations to plan with: of money or seconds as many as at the price so far."""
    if blocks.used_share is None:
        return budget
    return used / blocks.used_share if blocks.used_share > 0.0 else math.inf


def blocks_left(setting: Setting, alive: int, blocks: int, used: int) -> int | None:
    """Return how many blocks are left if no candidate leaves; None if that is not known."""
    left = [] if setting.n_blocks is None else [setting.n_blocks - blocks]
    if setting.budget is not None:
        left.append((setting.budget - used) // alive)
    return min(left) if left else None


def last_blocks(setting: Setting, alive: int, blocks: int, used: int) -> int | None:
    """Return `blocks_left`, 0 at least; None also if these are enough for any decision."""
    left = blocks_left(setting, alive, blocks, used)
    return None if left is None or left > _FAR else max(left, 0)


def room(n_candidates: int, used: int, budget: float, power: float = 1.0) -> int:
    """Return m^((1 - u)^power), rounded up and 2 at least, u the fraction of the budget used."""
    left = max(0.0, 1.0 - used / budget)
    return max(2, math.ceil(math.pow(n_candidates, left**power) - _EPSILON))
