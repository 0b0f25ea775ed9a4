"""Arithmetic of expressions, in numbers as they are on paper."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DIGITS = 15  # so many of a float are as on paper


def rounded(number: Any, size: float | None = None) -> Any:
    """Return a number to 15 digits, counted from `size` if given, so that 1 - 0.07 is 0.93.

    From 1e15 on, floats have no more digits: they stay as they are, as anything else does.
    """
    if type(number) is not float:
        return number
    # `size` is the size of the terms: 15 digits of a small difference would be mostly noise
    size = abs(number) if size is None else size
    if not 0.0 < size < 10.0**_DIGITS:
        return number
    return round(number, _DIGITS - 1 - math.floor(math.log10(size))) + 0.0


def _add(left: float, right: float) -> float:
    """Return the sum, to 15 digits of the larger number: so 1 - 0.9 - 0.1 is 0."""
    total: float = rounded(left + right, max(abs(left), abs(right)))
    return total


def _times(left: float, right: float) -> float:
    """Return how many times the right number is in the left, rounded down."""
    if isinstance(left, int) and isinstance(right, int):
        return left // right
    return float(math.floor(rounded(left / right)))


def _modulo(left: float, right: float) -> float:
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    return _add(left, -right * _times(left, right))


def _divide(left: float, right: float) -> float:
    if right == 0:
        return math.copysign(math.inf, left) if left else math.nan
    return left / right


def _power(left: float, right: float) -> float:
    if left == 0 and right < 0:
        return math.inf  # as 1 / 0
    try:
        return math.pow(left, right)
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf


def _round(number: float, digits: float = 0) -> float:
    return round(number, int(digits)) if digits else round(number)


# Name: (the least and the largest number of operands, what it computes).
OPERATIONS: Mapping[str, tuple[int, float, Callable[..., float]]] = {
    "+": (2, 2, _add),
    "-": (2, 2, lambda left, right: _add(left, -right)),
    "*": (2, 2, operator.mul),
    "/": (2, 2, _divide),
    "%%": (2, 2, _modulo),
    "%/%": (2, 2, _times),
    "^": (2, 2, _power),
    "neg": (1, 1, operator.neg),
    "min": (1, math.inf, lambda *numbers: min(numbers)),
    "max": (1, math.inf, lambda *numbers: max(numbers)),
    "round": (1, 2, _round),
    "floor": (1, 1, math.floor),
    "ceiling": (1, 1, math.ceil),
    "trunc": (1, 1, math.trunc),
    "abs": (1, 1, abs),
}
