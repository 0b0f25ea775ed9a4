"""Spaces: parameters, conditions, forbidden combinations, and drawing from them."""

from racer.space.domains import Domain
from racer.space.expressions import Condition, Param, greatest, least
from racer.space.parameters import Parameter
from racer.space.registry import Categorical, Integer, Ordinal, Real
from racer.space.space import Space

__all__ = [
    "Categorical",
    "Condition",
    "Domain",
    "Integer",
    "Ordinal",
    "Param",
    "Parameter",
    "Real",
    "Space",
    "greatest",
    "least",
]
