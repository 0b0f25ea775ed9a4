"""Spaces: parameters, conditions, forbidden combinations, and drawing from them."""

from racer.space.expressions import Condition, Param, greatest, least
from racer.space.registry import Categorical, Integer, Ordinal, Real
from racer.space.space import Space

__all__ = [
    "Categorical",
    "Condition",
    "Integer",
    "Ordinal",
    "Param",
    "Real",
    "Space",
    "greatest",
    "least",
]
