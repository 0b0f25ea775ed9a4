"""Plans for a race of known length: how much it may use, and how many candidates it has room for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from racer._checks import whole
from racer.errors import SettingError

if TYPE_CHECKING:
    from racer.deciders.decider import Blocks, Setting

_EPSILON = 1e-9  # rounding error of a number that is whole


def check_limit(limit: int | None, name: str) -> None:
    """Raise SettingError unless a limit is None or a whole number >= 1."""
    if limit is not None:
        whole(limit, name, least=1)


def smaller(one: int | None, other: int | None) -> int | None:
    """Return the smaller of two limits; None means no limit."""
    return min((limit for limit in (one, other) if limit is not None), default=None)


def required_budget(setting: Setting, evaluations: int | None, name: str, example: str) -> int:
    """Return the evaluations to plan with, at most `evaluations`; SettingError without a limit."""
    budget = smaller(evaluations, setting.budget)
    if budget is None:
        raise SettingError(
            f"decider={name!r} needs a budget of evaluations: give budget=.. as a number, or "
            f"{example}(evaluations=..)"
        )
    return budget


def used_after(used: int, blocks: Blocks) -> int:
    """Return the evaluations used: as the race counts them, or one per cell shown."""
    return used + blocks.costs.size if blocks.used is None else blocks.used


def room(n_candidates: int, used: int, budget: int, power: float = 1.0) -> int:
    """Return m^((1 - u)^power), rounded up and 2 at least, u the fraction of the budget used."""
    left = max(0.0, 1.0 - used / budget)
    return max(2, math.ceil(math.pow(n_candidates, left**power) - _EPSILON))
