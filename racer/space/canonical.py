"""Plain values: what a configuration may hold, and when two of them are the same."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable


class _Unknown(Enum):
    UNKNOWN = "unknown"


UNKNOWN: Final = _Unknown.UNKNOWN
"""The value of what a configuration does not have."""


def plain(value: Any) -> Any:
    """Return `value` as plain Python (None, bool, finite number, str, tuples), or TypeError."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, tuple | list):
        return tuple(plain(part) for part in value)
    raise TypeError(value)


def token(value: Any) -> Hashable:
    """Return something equal for equal values only: 1 is 1.0, but True is not 1."""
    if isinstance(value, tuple | list):
        return tuple(token(part) for part in value)
    return (isinstance(value, bool), value)


def as_lists(value: Any) -> Any:
    """Return a plain value as JSON has it: tuples as lists."""
    return [as_lists(part) for part in value] if isinstance(value, tuple) else value
