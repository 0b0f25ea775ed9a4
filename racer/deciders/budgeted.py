"""What deciders that plan ahead know of the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer._checks import whole
from racer.errors import SettingError

if TYPE_CHECKING:
    from racer.deciders.decider import Blocks

__all__ = ["check_limit", "least", "needed", "used_after"]


def check_limit(limit: int | None, name: str) -> None:
    """Raise SettingError unless a limit is None or a whole number >= 1."""
    if limit is not None:
        whole(limit, name, least=1)


def least(given: int | None, told: int | None) -> int | None:
    """Return the smaller of two limits; None is no limit."""
    return min((limit for limit in (given, told) if limit is not None), default=None)


def needed(evaluations: int | None, name: str, example: str) -> int:
    """Return the budget of a race that begins; SettingError without one."""
    if evaluations is None:
        raise SettingError(
            f"decider={name!r} needs a budget of evaluations: give budget=.. as a number, or "
            f"{example}(evaluations=..)"
        )
    return evaluations


def used_after(used: int, blocks: Blocks) -> int:
    """Return the evaluations used: as the race says, or by the cells that were shown."""
    return used + blocks.costs.size if blocks.used is None else blocks.used
