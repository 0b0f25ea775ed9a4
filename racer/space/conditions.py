"""Conditions on a configuration: what makes a parameter exist, or a combination forbidden.

A condition is a tree of frozen records that can be kept as plain data. What a configuration does
not have is unknown, and so is a comparison with it; the rest is Kleene's logic (unknown or True
is True). Only True makes a parameter exist, and only True forbids.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from racer._checks import is_real
from racer.errors import SettingError
from racer.space.arithmetic import UNKNOWN
from racer.space.values import token

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["And", "Compare", "Condition", "Constant", "Exists", "In", "Not", "Or", "Valued"]

_SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class Valued(Protocol):
    """What can be compared: it has a value in each configuration."""

    def value(self, values: Mapping[str, Any], /) -> Any:
        """Return the value, or UNKNOWN."""
        ...

    def names(self) -> frozenset[str]:
        """Return the parameters it depends on."""
        ...


class Condition(ABC):
    """Something that holds in a configuration, does not, or is unknown. Join with ``& | ~``."""

    @abstractmethod
    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Return True, False, or None for unknown."""

    @abstractmethod
    def names(self) -> frozenset[str]:
        """Return the parameters it depends on."""

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

    def names(self) -> frozenset[str]:
        """Return nothing."""
        return frozenset()

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
            return (token(left) == token(right)) is (self.operation == "==")
        if not (is_real(left) and is_real(right)):
            return None
        smaller = left < right if self.operation[0] == "<" else left > right
        return bool(smaller or (self.operation[1:] == "=" and left == right))

    def names(self) -> frozenset[str]:
        """Return what both sides depend on."""
        return self.left.names() | self.right.names()

    def swapped(self) -> Compare:
        """Return the same comparison with its sides exchanged."""
        return Compare(_SWAPPED[self.operation], self.right, self.left)

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
        return None if value is UNKNOWN else token(value) in {token(v) for v in self.among}

    def names(self) -> frozenset[str]:
        """Return what the term depends on."""
        return self.term.names()

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

    def names(self) -> frozenset[str]:
        """Return what the part depends on."""
        return self.part.names()

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True, eq=False)
class _Joined(Condition):
    parts: tuple[Condition, ...]

    def names(self) -> frozenset[str]:
        """Return what the parts depend on."""
        return frozenset().union(*(part.names() for part in self.parts))

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

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Return False if any part is False, else unknown if any is."""
        return self._join(values, decisive=False)

    def __str__(self) -> str:
        return " and ".join(f"({part})" for part in self.parts)


class Or(_Joined):
    """At least one part holds."""

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        """Return True if any part is True, else unknown if any is."""
        return self._join(values, decisive=True)

    def __str__(self) -> str:
        return " or ".join(f"({part})" for part in self.parts)


def _parts(kind: type[_Joined], condition: Condition) -> tuple[Condition, ...]:
    if not isinstance(condition, Condition):
        raise SettingError(f"{condition!r} is no condition: put comparisons in parentheses")
    return condition.parts if isinstance(condition, kind) else (condition,)
