"""Conditions on a configuration, in Kleene's logic: only True lets exist or forbids."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from racer._checks import is_real
from racer.errors import SettingError
from racer.space.canonical import UNKNOWN, as_lists, token

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "==": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
    }
)


def compares(operation: str, left: Any, right: Any) -> bool:
    """Say whether a comparison of two values holds."""
    return bool(_OPERATORS[operation](left, right))


class Expression:
    """A tree of frozen records whose fields are expressions, tuples of these, or plain values."""

    def names(self) -> frozenset[str]:
        """Return the parameters it depends on."""
        fields = (f if isinstance(f, tuple) else (f,) for f in vars(self).values())
        parts = [part for field in fields for part in field if isinstance(part, Expression)]
        return frozenset().union(*(part.names() for part in parts))

    def to_json(self) -> Any:
        """Return it as plain data; a condition is True, False, or [what, ..]."""
        raise SettingError(f"{self!r} cannot be stored: use the expressions of racer.space")


class Valued(Expression, ABC):
    """What can be compared: it has a value in each configuration."""

    @abstractmethod
    def value(self, values: Mapping[str, Any]) -> Any:
        """Return the value in a configuration, or UNKNOWN."""


class Condition(Expression, ABC):
    """Something that holds in a configuration, does not, or is unknown. Join with ``& | ~``.

    Examples
    --------
    >>> import racer
    >>> uses_momentum = (racer.Param("solver") == "sgd") & (racer.Param("rate") > 0.1)
    >>> space = racer.Space(
    ...     {
    ...         "solver": racer.Categorical(["sgd", "adam"]),
    ...         "rate": racer.Real(0, 1),
    ...         "momentum": racer.Real(0, 1),
    ...     },
    ...     conditions={"momentum": uses_momentum},
    ... )
    >>> space.check({"solver": "adam", "rate": 0.5})
    {'solver': 'adam', 'rate': 0.5}
    """

    @abstractmethod
    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Return True, False, or None for unknown."""

    def __and__(self, other: Condition) -> Condition:
        return And((*_parts(And, self), *_parts(And, other)))

    def __or__(self, other: Condition) -> Condition:
        return Or((*_parts(Or, self), *_parts(Or, other)))

    def __invert__(self) -> Condition:
        return Not(self)

    def __bool__(self) -> bool:
        raise SettingError(
            f"({self}) is a condition, neither true nor false by itself: join conditions with "
            "& | ~ instead of and, or, not; write a < b < c as (a < b) & (b < c)"
        )


@dataclass(frozen=True, eq=False)
class Constant(Condition):
    """Always, or never."""

    truth: bool

    def holds(self, values: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Return it."""
        return self.truth

    def to_json(self) -> bool:
        """Return it."""
        return self.truth

    def __str__(self) -> str:
        return str(self.truth)


@dataclass(frozen=True, eq=False)
class Exists(Condition):
    """The parameter exists."""

    name: str

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Say whether the configuration has it."""
        return self.name in values

    def names(self) -> frozenset[str]:
        """Return the parameter."""
        return frozenset((self.name,))

    def to_json(self) -> list[Any]:
        """Return it as plain data."""
        return ["exists", self.name]

    def __str__(self) -> str:
        return f"{self.name} exists"


@dataclass(frozen=True, eq=False)
class Compare(Condition):
    """Two terms compared; only numbers have an order."""

    operation: str
    left: Valued
    right: Valued

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Compare; unknown when either side is."""
        left, right = self.left.value(values), self.right.value(values)
        if left is UNKNOWN or right is UNKNOWN:
            return None
        if self.operation in {"==", "!="}:
            return compares(self.operation, token(left), token(right))
        if not (is_real(left) and is_real(right)):
            return None
        return compares(self.operation, left, right)

    def swapped(self) -> Compare:
        """Return the same comparison with its sides exchanged."""
        return Compare(SWAPPED[self.operation], self.right, self.left)

    def to_json(self) -> list[Any]:
        """Return it as plain data."""
        return [self.operation, self.left.to_json(), self.right.to_json()]

    def __str__(self) -> str:
        return f"{self.left} {self.operation} {self.right}"


@dataclass(frozen=True, eq=False)
class In(Condition):
    """A term is one of these values."""

    term: Valued
    among: tuple[Any, ...]

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Look it up; unknown when the term is."""
        value = self.term.value(values)
        return None if value is UNKNOWN else token(value) in self._tokens

    @cached_property
    def _tokens(self) -> frozenset[Hashable]:
        return frozenset(token(value) for value in self.among)

    def to_json(self) -> list[Any]:
        """Return it as plain data."""
        return ["in", self.term.to_json(), as_lists(self.among)]

    def __str__(self) -> str:
        if len(self.among) == 1:
            return f"{self.term} == {self.among[0]!r}"
        return f"{self.term} in {list(self.among)!r}"


@dataclass(frozen=True, eq=False)
class Not(Condition):
    """The part does not hold."""

    part: Condition

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Negate; unknown stays so."""
        truth = self.part.holds(values)
        return None if truth is None else not truth

    def to_json(self) -> list[Any]:
        """Return it as plain data."""
        return ["not", self.part.to_json()]

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True, eq=False)
class _Joined(Condition):
    parts: tuple[Condition, ...]
    word: ClassVar[str]

    def to_json(self) -> list[Any]:
        return [self.word, *(part.to_json() for part in self.parts)]

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({part})" for part in self.parts)

    def _join(self, values: Mapping[str, Any], *, decisive: bool) -> bool | None:
        unknown = False
        for part in self.parts:
            truth = part.holds(values)
            if truth is decisive:
                return decisive
            unknown = unknown or truth is None
        return None if unknown else not decisive


class And(_Joined):
    """All parts hold."""

    word = "and"

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Return False if any part is False, else unknown if any is."""
        return self._join(values, decisive=False)


class Or(_Joined):
    """At least one part holds."""

    word = "or"

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Return True if any part is True, else unknown if any is."""
        return self._join(values, decisive=True)


def _parts(kind: type[_Joined], condition: Condition) -> tuple[Condition, ...]:
    if not isinstance(condition, Condition):
        raise SettingError(f"{condition!r} is not a condition: put comparisons in parentheses")
    return condition.parts if isinstance(condition, kind) else (condition,)
