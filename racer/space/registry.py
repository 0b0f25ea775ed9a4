"""The types of parameters that a store can hold, each by its name in small letters: a line each."""
# ruff: noqa: PLC0414 (`as` makes an import public)

from racer.space.numeric import Integer as Integer
from racer.space.numeric import Real as Real
from racer.space.parameters import Categorical as Categorical
from racer.space.parameters import Ordinal as Ordinal
