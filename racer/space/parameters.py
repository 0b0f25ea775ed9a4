"""The protocol of parameters, and the parameters with listed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from racer._checks import is_real, is_whole, suggesting
from racer.errors import SettingError
from racer.space.domains import Choices, as_lists, plain, token
from racer.space.expressions import Term

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from racer.space.domains import Domain

__all__ = ["Categorical", "Ordinal"]

Scale = Literal["nominal", "ordinal", "numeric"]

_PLAIN = "text, finite numbers, True, False, None or tuples of these"


class Parameter(Protocol):
    """A parameter of a `Space`."""

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
        """Return the possible values, given the values of `names`; None if one it needs is absent.

        Nominal and ordinal parameters have finitely many, which depend on no others.
        """

    def to_json(self) -> dict[str, Any]:
        """Return, as plain data, all that distinguishes it from others of its class."""


def as_parameter(given: Any, name: str) -> Parameter:
    """Return the checked parameter; a plain value is a fixed one. SettingError has the name."""
    if isinstance(given, type):
        raise SettingError(f"{name}: {given.__name__} is a class: give {given.__name__}(..)")
    if isinstance(given, Record):
        parameter: Any = given
        return parameter.checked(name)  # type: ignore[no-any-return]
    if given is None or isinstance(given, str | bool) or is_real(given):
        return Categorical((given,)).checked(name)
    hint = f"; did you mean Categorical({given!r})?" if isinstance(given, list | tuple) else ""
    if isinstance(given, tuple) and len(given) == 2 and all(map(is_real, given)):
        kinds = ("Integer", "Real") if all(map(is_whole, given)) else ("Real",)
        hint = f"; did you mean {' or '.join(f'{kind}{given!r}' for kind in kinds)}?"
    raise SettingError(
        f"{name}: {given!r} is not a parameter: give Real(low, high), Integer(low, high), "
        f"Categorical(choices), Ordinal(levels), an Optuna distribution or a fixed value{hint}"
    )


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
