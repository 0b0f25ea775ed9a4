"""Terms: values computed from parameters, for bounds that depend on others and for conditions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from racer._checks import is_real
from racer.errors import SettingError
from racer.space.canonical import UNKNOWN, as_lists, plain
from racer.space.conditions import And, Compare, Condition, Exists, In, Valued

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "OPERATIONS",
    "Arithmetic",
    "Literal",
    "Param",
    "Term",
    "as_condition",
    "as_literal",
    "as_term",
    "greatest",
    "least",
]

_INFIX = ("+", "-", "*", "/", "%%", "%/%", "^")


def _divide(left: float, right: float) -> float:
    if right == 0:
        return math.copysign(math.inf, left) if left else math.nan
    return left / right


def _power(left: float, right: float) -> float:
    if left == 0 and right < 0:
        return math.inf  # as 1 / 0
    try:
        return math.pow(left, right)
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf


def _round(number: float, digits: float = 0) -> float:
    return round(number, int(digits)) if digits else round(number)


# Name: (the least and the largest number of operands, what it computes).
OPERATIONS: Mapping[str, tuple[int, float, Callable[..., float]]] = MappingProxyType(
    {
        "+": (2, 2, lambda left, right: left + right),
        "-": (2, 2, lambda left, right: left - right),
        "*": (2, 2, lambda left, right: left * right),
        "/": (2, 2, _divide),
        "%%": (2, 2, lambda left, right: left % right),
        "%/%": (2, 2, lambda left, right: left // right),
        "^": (2, 2, _power),
        "neg": (1, 1, lambda number: -number),
        "min": (1, math.inf, lambda *numbers: min(numbers)),
        "max": (1, math.inf, lambda *numbers: max(numbers)),
        "round": (1, 2, _round),
        "floor": (1, 1, math.floor),
        "ceiling": (1, 1, math.ceil),
        "trunc": (1, 1, math.trunc),
        "abs": (1, 1, abs),
    }
)


def _compute(operation: str, numbers: Sequence[float]) -> Any:
    """Return the number, or UNKNOWN where there is none (0/0, a remainder of 0)."""
    try:
        number = OPERATIONS[operation][2](*numbers)
    except (ArithmeticError, ValueError):
        return UNKNOWN
    return UNKNOWN if number != number else number  # noqa: PLR0124  (NaN)


class Term(Valued):
    """A value computed from parameters. Operators build larger terms, comparisons conditions."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        return Compare("==", self, as_term(other))

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return Compare("!=", self, as_term(other))

    def __lt__(self, other: object) -> Condition:
        return Compare("<", self, as_term(other))

    def __le__(self, other: object) -> Condition:
        return Compare("<=", self, as_term(other))

    def __gt__(self, other: object) -> Condition:
        return Compare(">", self, as_term(other))

    def __ge__(self, other: object) -> Condition:
        return Compare(">=", self, as_term(other))

    def is_in(self, values: Iterable[Any]) -> Condition:
        """Say that the value is one of these."""
        if isinstance(values, str):
            raise SettingError(f"is_in({values!r}): give a list of values")
        return In(self, tuple(as_literal(value) for value in values))

    def __add__(self, other: Term | float) -> Term:
        return Arithmetic("+", (self, as_term(other)))

    def __radd__(self, other: float) -> Term:
        return Arithmetic("+", (as_term(other), self))

    def __sub__(self, other: Term | float) -> Term:
        return Arithmetic("-", (self, as_term(other)))

    def __rsub__(self, other: float) -> Term:
        return Arithmetic("-", (as_term(other), self))

    def __mul__(self, other: Term | float) -> Term:
        return Arithmetic("*", (self, as_term(other)))

    def __rmul__(self, other: float) -> Term:
        return Arithmetic("*", (as_term(other), self))

    def __truediv__(self, other: Term | float) -> Term:
        return Arithmetic("/", (self, as_term(other)))

    def __rtruediv__(self, other: float) -> Term:
        return Arithmetic("/", (as_term(other), self))

    def __mod__(self, other: Term | float) -> Term:
        return Arithmetic("%%", (self, as_term(other)))

    def __floordiv__(self, other: Term | float) -> Term:
        return Arithmetic("%/%", (self, as_term(other)))

    def __pow__(self, other: Term | float) -> Term:
        return Arithmetic("^", (self, as_term(other)))

    def __neg__(self) -> Term:
        return Arithmetic("neg", (self,))

    def __round__(self, digits: int = 0) -> Term:
        return Arithmetic("round", (self, as_term(digits)) if digits else (self,))

    def __floor__(self) -> Term:
        return Arithmetic("floor", (self,))

    def __ceil__(self) -> Term:
        return Arithmetic("ceiling", (self,))

    def __trunc__(self) -> Term:
        return Arithmetic("trunc", (self,))


@dataclass(frozen=True, eq=False)
class Param(Term):
    """The value of a parameter, to write bounds and conditions with.

    Examples
    --------
    >>> from racer import Integer, Param, Space
    >>> space = Space(
    ...     {"ants": Integer(2, 100), "elite": Integer(1, Param("ants") - 1)},
    ...     conditions={"elite": (Param("ants") > 10) & (Param("ants") != 13)},
    ... )
    >>> space.check({"ants": 2})
    {'ants': 2}
    """

    name: str

    def value(self, values: Mapping[str, Any]) -> Any:
        """Return what the configuration has there."""
        return values.get(self.name, UNKNOWN)

    def names(self) -> frozenset[str]:
        """Return its own name."""
        return frozenset((self.name,))

    def exists(self) -> Condition:
        """Say that the parameter exists, whatever its value."""
        return Exists(self.name)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"param": self.name}

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, eq=False)
class Literal(Term):
    """A constant."""

    constant: Any

    def value(self, values: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """Return it."""
        return self.constant

    def to_json(self) -> Any:
        """Return it, tuples as lists."""
        return as_lists(self.constant)

    def __str__(self) -> str:
        return repr(self.constant)


@dataclass(frozen=True, eq=False)
class Arithmetic(Term):
    """One of OPERATIONS on numbers."""

    operation: str
    parts: tuple[Term, ...]

    def value(self, values: Mapping[str, Any]) -> Any:
        """Return the number, or UNKNOWN where there is none."""
        numbers = [part.value(values) for part in self.parts]
        return _compute(self.operation, numbers) if all(map(is_real, numbers)) else UNKNOWN

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"do": self.operation, "with": [part.to_json() for part in self.parts]}

    def __str__(self) -> str:
        parts = [str(part) for part in self.parts]
        if self.operation in _INFIX:
            return f"({f' {self.operation} '.join(parts)})"
        return (
            f"-{parts[0]}" if self.operation == "neg" else f"{self.operation}({', '.join(parts)})"
        )


def as_literal(value: Any) -> Any:
    """Return a value to compare with, as a plain one."""
    try:
        return plain(value)
    except TypeError:
        raise SettingError(
            f"{value!r} cannot be used in a condition or bound: give text, a finite number, True, "
            "False, None, a tuple of these, or Param(name)"
        ) from None


def as_term(value: Any) -> Term:
    """Return a term as it is, and anything else as a literal."""
    return value if isinstance(value, Term) else Literal(as_literal(value))


def least(*terms: Term | float) -> Term:
    """Return the smallest of numbers and parameters, as a term for bounds.

    Examples
    --------
    >>> print(least(Param("population"), 10))
    min(population, 10)
    """
    return Arithmetic("min", tuple(as_term(term) for term in terms))


def greatest(*terms: Term | float) -> Term:
    """Return the largest of numbers and parameters, as a term for bounds.

    Examples
    --------
    >>> print(greatest(Param("population"), 10))
    max(population, 10)
    """
    return Arithmetic("max", tuple(as_term(term) for term in terms))


def as_condition(given: Any, what: str) -> Condition:
    """Return a condition; a dict means that each parameter has that value, or one of that list."""
    if isinstance(given, Condition):
        return given
    if isinstance(given, Mapping) and given:
        parts: list[Condition] = []
        for name, wanted in given.items():
            several = isinstance(wanted, list | set | frozenset | range)
            parts.append(Param(name).is_in(wanted) if several else Param(name) == wanted)
        return parts[0] if len(parts) == 1 else And(tuple(parts))
    if callable(given):
        raise SettingError(
            f"{what} is a function, which cannot be stored: write it with Param, such as "
            'Param("algorithm") == "acs", or as {"algorithm": ["acs", "eas"]}'
        )
    raise SettingError(
        f"{what} is {given!r}: give {{parameter: value or list of values}} or an expression such "
        'as Param("algorithm") == "acs"'
    )
