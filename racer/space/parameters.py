"""The four kinds of parameters: records that a space checks, for it knows their names."""

from __future__ import annotations

from typing import Any

from racer._checks import is_real
from racer.errors import SettingError
from racer.space.discrete import Categorical, Ordinal
from racer.space.numeric import Integer, Real

__all__ = ["Categorical", "Integer", "Ordinal", "Parameter", "Real", "as_parameter"]

Parameter = Real | Integer | Categorical | Ordinal


def as_parameter(given: Any, name: str) -> Parameter:
    """Return the checked parameter; a plain value is a fixed one.

    Raises
    ------
    SettingError
        It is no parameter, or one that cannot be; the message has the name.
    """
    if isinstance(given, Real | Integer | Categorical | Ordinal):
        return given.checked(name)
    if given is None or isinstance(given, str | bool) or is_real(given):
        return Categorical((given,)).checked(name)
    if isinstance(given, type):
        raise SettingError(f"{name}: {given.__name__} is a class: give {given.__name__}(..)")
    hint = f"; did you mean Categorical({given!r})?" if isinstance(given, list | tuple) else ""
    raise SettingError(
        f"{name}: {given!r} is no parameter: give Real(low, high), Integer(low, high), "
        f"Categorical(choices), Ordinal(levels), an Optuna distribution, or a fixed value{hint}"
    )
