"""Arithmetic in bounds and conditions: the operations, and what they do at their edges."""

from __future__ import annotations

import math
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["OPERATIONS", "UNKNOWN", "compute"]


class _Unknown(Enum):
    """The value of what a configuration does not have."""

    UNKNOWN = "unknown"


UNKNOWN: Final = _Unknown.UNKNOWN


def _divide(left: float, right: float) -> float:
    if right == 0:
        return math.copysign(math.inf, left) if left else math.nan
    return left / right


def _power(left: float, right: float) -> float:
    return math.pow(left, right)


def _round(number: float, digits: float = 0) -> float:
    return round(number, int(digits)) if digits else round(number)


# Name: (the least and the largest number of operands, what it computes).
OPERATIONS: MappingProxyType[str, tuple[int, float, Callable[..., float]]] = MappingProxyType(
    {
        "+": (2, 2, lambda left, right: left + right),
        "-": (2, 2, lambda left, right: left - right),
        "*": (2, 2, lambda left, right: left * right),
        "/": (2, 2, _divide),
        "%%": (2, 2, lambda left, right: left % right),
        "%/%": (2, 2, lambda left, right: left // right),
        "^": (2, 2, _power),
        "neg": (1, 1, lambda number: -number),
        "min": (1, math.inf, lambda *numbers: min(numbers)),
        "max": (1, math.inf, lambda *numbers: max(numbers)),
        "round": (1, 2, _round),
        "floor": (1, 1, math.floor),
        "ceiling": (1, 1, math.ceil),
        "trunc": (1, 1, math.trunc),
        "abs": (1, 1, abs),
    }
)


def compute(operation: str, numbers: Sequence[float]) -> Any:
    """Return the number, or UNKNOWN where there is none (0/0, a remainder of 0, overflow)."""
    try:
        number = OPERATIONS[operation][2](*numbers)
    except (ArithmeticError, ValueError):
        return UNKNOWN
    return UNKNOWN if number != number else number  # noqa: PLR0124  (NaN)
