"""What a parameter may be, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from racer.space.numeric import Bounded
from racer.space.parameters import Categorical, Ordinal

if TYPE_CHECKING:
    from racer.space.parameters import Parameter


def described(parameter: Parameter) -> str:
    """Return the values that a parameter may have."""
    if isinstance(parameter, Bounded):
        more = {n: v for n, v in vars(parameter).items() if n not in {"low", "high"} and v}
        said = ", ".join(
            name if value is True else f"{name} {value}"
            for name, value in more.items()
            if (name, value) != ("step", 1)
        )
        between = f"{_shown(parameter.low)} to {_shown(parameter.high)}"
        return f"{between}, {said}" if said else between
    if isinstance(parameter, Ordinal):
        return " < ".join(map(str, parameter.levels))
    if isinstance(parameter, Categorical):
        return ", ".join(map(str, parameter.choices))
    return ", ".join(f"{name}={value!r}" for name, value in parameter.to_json().items())


def _shown(bound: object) -> str:
    return f"{bound:.15g}" if isinstance(bound, float) else str(bound)
