"""What may be tuned: parameters, when they exist, what is forbidden, and how to draw from that."""

from racer.space.conditions import Condition
from racer.space.neighbourhood import Neighbourhood
from racer.space.parameters import Categorical, Integer, Ordinal, Parameter, Real
from racer.space.space import Space
from racer.space.terms import Param, greatest, least

__all__ = [
    "Categorical",
    "Condition",
    "Integer",
    "Neighbourhood",
    "Ordinal",
    "Param",
    "Parameter",
    "Real",
    "Space",
    "greatest",
    "least",
]
