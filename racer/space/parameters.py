"""The protocol of parameters, and the parameters with listed values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

from racer._checks import is_real, is_whole, suggesting
from racer.errors import SettingError
from racer.space.domains import Choices, as_lists, plain, token
from racer.space.expressions import Term

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from racer.space.domains import Domain

__all__ = ["Categorical", "Ordinal", "Parameter", "Scale"]

Scale = Literal["nominal", "ordinal", "numeric"]

_PLAIN = "text, finite numbers, True, False, None or tuples of these"


@runtime_checkable
class Parameter(Protocol):
    """A parameter of a `Space`: the four kinds of racer, and any object that has these members.

    A class of your own needs to inherit from nothing. It is sampled, conditioned on and searched
    like racer's own; two things are up to you: Optuna has no distribution for it, and a store
    describes it by `to_json` without building it again (`racer.resume(.., space=)`).

    Examples
    --------
    >>> import racer
    >>> isinstance(racer.Real(0, 1), racer.space.Parameter)
    True
    """

    @property
    def scale(self) -> Scale:
        """The scale of measurement, which decides how values are compared and searched.

        "nominal" values (a few, without an order) are equal or not, and a search draws another of
        them; "ordinal" ones (a few, in ascending order of u) have ``<`` besides, and "numeric"
        ones, int or float, have arithmetic: near an elite, a search draws near its u.
        """

    def names(self) -> frozenset[str]:
        """Return the other parameters that the possible values depend on."""

    def checked(self, name: str, /) -> Parameter:
        """Return it with settings in plain values; SettingError, with the name, if it is wrong."""

    def domain(self, values: Mapping[str, Any], /) -> Domain | None:
        """Return the possible values, given those of `names`; None if it needs one that is absent.

        Nominal and ordinal parameters have finitely many, which depend on no others.
        """

    def to_json(self) -> dict[str, Any]:
        """Return, as plain data, all that distinguishes it from others of its class."""


def as_parameter(given: Any, name: str) -> Parameter:
    """Return the checked parameter; a plain value is a fixed one. SettingError has the name."""
    if isinstance(given, type):
        raise SettingError(f"{name}: {given.__name__} is a class: give {given.__name__}(..)")
    if isinstance(given, Parameter):
        parameter = given.checked(name)
        _check(parameter, name)
        return parameter
    if given is None or isinstance(given, str | bool) or is_real(given):
        return Categorical((given,)).checked(name)
    hint = f"; did you mean Categorical({given!r})?" if isinstance(given, list | tuple) else ""
    if isinstance(given, tuple) and len(given) == 2 and all(map(is_real, given)):
        kinds = ("Integer", "Real") if all(map(is_whole, given)) else ("Real",)
        hint = f"; did you mean {' or '.join(f'{kind}{given!r}' for kind in kinds)}?"
    raise SettingError(
        f"{name}: {given!r} is not a parameter: give Real(low, high), Integer(low, high), "
        "Categorical(choices), Ordinal(levels), an Optuna distribution, a fixed value, or an "
        f"object with all members of racer.space.Parameter{hint}"
    )


def _check(parameter: Parameter, name: str) -> None:
    """Refuse a parameter that contradicts itself, as one from outside may."""
    if parameter.scale not in get_args(Scale):
        raise SettingError(
            f"{name}: scale={parameter.scale!r}: give one of {', '.join(get_args(Scale))}"
        )
    if parameter.names():
        if parameter.scale != "numeric":
            raise SettingError(f"{name}: {parameter.scale} values may not depend on others")
        return
    domain = parameter.domain({})
    if domain is None or not domain.n >= 1:
        raise SettingError(f"{name}: {parameter!r} has no value")
    if parameter.scale != "numeric" and domain.n == math.inf:
        raise SettingError(f"{name}: {parameter.scale} values must be finitely many")
    for u in (0.0, 0.5, 1.0):
        value = domain.decode(u)
        try:
            at = domain.encode(value)
            same = {token(v) for v in (value, plain(value), domain.clean(value), domain.decode(at))}
        except (TypeError, ValueError) as error:
            raise SettingError(
                f"{name}: its own value {value!r} is refused: {_reason(value, error)}"
            ) from error
        if len(same) > 1 or not 0.0 <= at <= 1.0:
            raise SettingError(
                f"{name}: its value {value!r} at u={u} is encoded as {at} and decoded as "
                f"{domain.decode(at)!r}: decode(encode(value)) must be the value"
            )


def _reason(value: Any, error: Exception) -> str:
    """Return why a value of a parameter from outside is refused."""
    try:
        plain(value)
    except TypeError:
        return f"give {_PLAIN}, and look anything else up by name in `evaluate`"
    return repr(error)


def listed(parameter: Parameter) -> Domain | None:
    """Return the values of a nominal or ordinal parameter, and None for a numeric one."""
    return None if parameter.scale == "numeric" else parameter.domain({})


class Record:
    """Equal to another record when the fields are; terms compare as they are written."""

    def _fields(self) -> tuple[Any, ...]:
        fields = vars(self).items()
        return (type(self), *((k, repr(v) if isinstance(v, Term) else token(v)) for k, v in fields))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())


class Listed(Record):
    """Base of `Categorical` and `Ordinal`: listed values."""

    what: ClassVar[str]

    def names(self) -> frozenset[str]:
        return frozenset()

    def domain(self, values: Mapping[str, Any]) -> Choices:  # noqa: ARG002
        return Choices(tuple(getattr(self, self.what)))

    def to_json(self) -> dict[str, Any]:
        return {self.what: as_lists(self.domain({}).among)}


@suggesting
@dataclass(frozen=True, eq=False)
class Categorical(Listed):
    """One of some values without an order.

    Parameters
    ----------
    choices : sequence of str, int, float, bool, None, or tuples of these
        Different from each other; a single one is a fixed value.

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"solver": racer.Categorical(["newton", "bfgs"])})
    >>> space.check({"solver": "bfgs"})
    {'solver': 'bfgs'}
    """

    scale: ClassVar[Scale] = "nominal"
    what: ClassVar[str] = "choices"
    choices: Sequence[Any]

    def checked(self, name: str) -> Categorical:
        """Return it in plain values; SettingError, with the name, if it is wrong."""
        return Categorical(_listed(self.choices, name, "choices"))


@suggesting
@dataclass(frozen=True, eq=False)
class Ordinal(Listed):
    """One of some values in an order, such as "low", "medium", "high".

    Parameters
    ----------
    levels : sequence of str, int, float, bool, None, or tuples of these
        From the lowest to the highest. ``Param("heat") < "high"`` compares by this order.

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"effort": racer.Ordinal(["low", "medium", "high"])})
    >>> space.check({"effort": "medium"})
    {'effort': 'medium'}
    """

    scale: ClassVar[Scale] = "ordinal"
    what: ClassVar[str] = "levels"
    levels: Sequence[Any]

    def checked(self, name: str) -> Ordinal:
        """Return it in plain values; SettingError, with the name, if it is wrong."""
        return Ordinal(_listed(self.levels, name, "levels"))


def _listed(given: Any, name: str, what: str) -> tuple[Any, ...]:
    if isinstance(given, str | bytes | Mapping | set | frozenset) or not hasattr(given, "__iter__"):
        raise SettingError(f"{name}: {what}={given!r}: give a list of values")
    choices: dict[Hashable, Any] = {}
    for value in given:
        try:
            choice = plain(value)
        except TypeError:
            raise SettingError(
                f"{name}: {what} have {value!r}: give {_PLAIN}, and look anything else up by name "
                "in `evaluate`"
            ) from None
        if token(choice) in choices:
            raise SettingError(f"{name}: {what} have {choice!r} twice: give each once")
        choices[token(choice)] = choice
    if not choices:
        raise SettingError(f"{name}: {what} are empty: give at least one value")
    return tuple(choices.values())
