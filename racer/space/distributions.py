"""Optuna's distributions as parameters, and back. Optuna is imported only to go back."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from racer.errors import MissingExtraError, SettingError
from racer.space.expressions import Term
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Ordinal

if TYPE_CHECKING:
    from collections.abc import Callable

    from optuna.distributions import BaseDistribution

    from racer.space.parameters import Parameter


_FROM: dict[str, Callable[[Any], Parameter]] = {
    "FloatDistribution": lambda d: Real(d.low, d.high, log=d.log, step=d.step),
    "IntDistribution": lambda d: Integer(d.low, d.high, log=d.log, step=d.step),
    "CategoricalDistribution": lambda d: Categorical(d.choices),
}


def from_distribution(given: Any) -> Any:
    """Return an Optuna distribution as a parameter, and anything else as it is."""
    for cls in type(given).__mro__:
        if cls.__module__.partition(".")[0] == "optuna" and cls.__name__ in _FROM:
            return _FROM[cls.__name__](given)
    return given


def to_distribution(name: str, parameter: Parameter) -> BaseDistribution:
    """Return the parameter as an Optuna distribution; SettingError if Optuna lacks one."""
    try:
        from optuna import distributions as optuna  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "to_optuna() needs Optuna, which is not installed: pip install 'racer-tuning[optuna]'"
        ) from error

    if isinstance(parameter, Categorical | Ordinal):
        return optuna.CategoricalDistribution(parameter.domain({}).among)
    if not isinstance(parameter, Real | Integer):
        raise SettingError(
            f"{name}: Optuna has no distribution for {parameter!r}: leave it out, or ask for it "
            "with trial.suggest_float, suggest_int or suggest_categorical"
        )
    low, high = parameter.low, parameter.high
    if isinstance(low, Term) or isinstance(high, Term):
        raise SettingError(
            f"{name}: Optuna has no bounds that depend on other parameters: ask for it with "
            "trial.suggest_float or trial.suggest_int, bounds computed"
        )
    if isinstance(parameter, Integer):
        return optuna.IntDistribution(int(low), int(high), log=parameter.log, step=parameter.step)
    step = parameter.step
    if parameter.digits is not None and not parameter.log:
        step = float(f"1e-{parameter.digits}")
    if step is not None:
        values = parameter.domain({})
        if values is not None:
            low, high = values.decode(0.0), values.decode(1.0)
        if not _accepts(low, high, step):
            step = None
    return optuna.FloatDistribution(low, high, log=parameter.log, step=step)


def _accepts(low: float, high: float, step: float) -> bool:
    """Return whether Optuna accepts low, low + step, .. and `high`, the last of these.

    By decimals, its steps have to reach `high`; by floats, all values have to be whole numbers of
    steps, although a value, the low, their difference and its quotient are rounded.
    """
    first = Decimal(repr(low))
    rounding = (math.ulp(max(abs(low), abs(high))) + math.ulp(high - low)) / 2.0
    rounding += float(abs(Decimal(low) - first))
    # Optuna refuses values that are off by so much of a step
    if low == high or rounding / step + math.ulp((high - low) / step) >= 1e-8:
        return False
    return (Decimal(repr(high)) - first) % Decimal(repr(step)) == 0
