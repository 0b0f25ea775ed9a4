"""Optuna's distributions as parameters, and back. Optuna is imported only to go back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from racer.errors import MissingExtraError, SettingError
from racer.space.expressions import Term
from racer.space.numeric import Integer, Real
from racer.space.parameters import Categorical, Ordinal

if TYPE_CHECKING:
    from collections.abc import Callable

    from optuna.distributions import BaseDistribution

    from racer.space.parameters import Parameter


_MOST = 10**6  # values with a step: of more, Optuna does not tell a value from its neighbours


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
    """Return the parameter as an Optuna distribution; SettingError if there is none for it."""
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
        lattice = parameter.domain({})
        if lattice is not None:
            low, high = lattice.decode(0.0), lattice.decode(1.0)
            if 1 < lattice.n <= _MOST:
                step = float(f"1e-{parameter.digits}")
    return optuna.FloatDistribution(low, high, log=parameter.log, step=step)
