"""Terms, which are computed from parameters, and conditions on a configuration.

Conditions are in Kleene's logic: only True lets exist or forbids.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from racer._checks import is_real
from racer.errors import SettingError
from racer.space.arithmetic import OPERATIONS, rounded
from racer.space.domains import UNKNOWN, as_lists, plain, token

if TYPE_CHECKING:
    from collections.abc import Hashable

__all__ = ["Condition", "Expression", "Param", "Term", "greatest", "least"]

SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def compares(operation: str, left: Any, right: Any) -> bool:
    """Return whether a comparison of two values holds."""
    return bool(_COMPARISONS[operation](left, right))


class Expression:
    """A tree of frozen records whose fields are expressions, tuples of these, or plain values."""

    def names(self) -> frozenset[str]:
        """Return the parameters it depends on."""
        fields = (f if isinstance(f, tuple) else (f,) for f in vars(self).values())
        parts = [part for field in fields for part in field if isinstance(part, Expression)]
        return frozenset().union(*(part.names() for part in parts))

    def to_json(self) -> Any:
        """Return it as plain data; a condition is True, False, or [kind, ..]."""
        raise SettingError(f"{self!r} cannot be stored: use the expressions of racer.space")


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
        return self.truth

    def to_json(self) -> bool:
        return self.truth

    def __str__(self) -> str:
        return str(self.truth)


@dataclass(frozen=True, eq=False)
class Exists(Condition):
    """The parameter exists."""

    name: str

    def holds(self, values: Mapping[str, Any]) -> bool:
        return self.name in values

    def names(self) -> frozenset[str]:
        return frozenset((self.name,))

    def to_json(self) -> list[Any]:
        return ["exists", self.name]

    def __str__(self) -> str:
        return f"{self.name} exists"


@dataclass(frozen=True, eq=False)
class Compare(Condition):
    """Two terms compared, unknown when either is; only numbers have an order."""

    operation: str
    left: Term
    right: Term

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        left, right = self.left.value(values), self.right.value(values)
        if left is UNKNOWN or right is UNKNOWN:
            return None
        if self.left.is_computed or self.right.is_computed:
            left, right = rounded(left), rounded(right)
        if self.operation in {"==", "!="}:
            return compares(self.operation, token(left), token(right))
        if not (is_real(left) and is_real(right)):
            return None
        return compares(self.operation, left, right)

    def swapped(self) -> Compare:
        """Return the same comparison with its sides exchanged."""
        return Compare(SWAPPED[self.operation], self.right, self.left)

    def to_json(self) -> list[Any]:
        return [self.operation, self.left.to_json(), self.right.to_json()]

    def __str__(self) -> str:
        return f"{self.left} {self.operation} {self.right}"


@dataclass(frozen=True, eq=False)
class In(Condition):
    """A term is one of these values; unknown when the term is."""

    term: Term
    among: tuple[Any, ...]

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        value = self.term.value(values)
        if value is UNKNOWN:
            return None
        return token(rounded(value) if self.term.is_computed else value) in self._tokens

    @cached_property
    def _tokens(self) -> frozenset[Hashable]:
        among = map(rounded, self.among) if self.term.is_computed else self.among
        return frozenset(map(token, among))

    def to_json(self) -> list[Any]:
        return ["in", self.term.to_json(), as_lists(self.among)]

    def __str__(self) -> str:
        if len(self.among) == 1:
            return f"{self.term} == {self.among[0]!r}"
        return f"{self.term} in {list(self.among)!r}"


@dataclass(frozen=True, eq=False)
class Not(Condition):
    """The part does not hold; unknown stays so."""

    part: Condition

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        truth = self.part.holds(values)
        return None if truth is None else not truth

    def to_json(self) -> list[Any]:
        return ["not", self.part.to_json()]

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True, eq=False)
class _Joined(Condition):
    """Parts, any of which decides if its truth is `decisive`; else unknown if any is."""

    word: ClassVar[str]
    decisive: ClassVar[bool]
    parts: tuple[Condition, ...]

    def holds(self, values: Mapping[str, Any]) -> bool | None:
        unknown = False
        for part in self.parts:
            truth = part.holds(values)
            if truth is self.decisive:
                return truth
            unknown = unknown or truth is None
        return None if unknown else not self.decisive

    def to_json(self) -> list[Any]:
        return [self.word, *(part.to_json() for part in self.parts)]

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({part})" for part in self.parts)


class And(_Joined):
    """All parts hold."""

    word: ClassVar[str] = "and"
    decisive: ClassVar[bool] = False


class Or(_Joined):
    """At least one part holds."""

    word: ClassVar[str] = "or"
    decisive: ClassVar[bool] = True


def _parts(kind: type[_Joined], condition: Condition) -> tuple[Condition, ...]:
    if not isinstance(condition, Condition):
        raise SettingError(f"{condition!r} is not a condition: put comparisons in parentheses")
    return condition.parts if isinstance(condition, kind) else (condition,)


_SELECTING = ("min", "max", "neg", "abs")  # exact


_Comparison = Callable[["Term", Any], Condition]
_Operator = Callable[["Term", "Term | float"], "Term"]


def _comparison(operation: str) -> _Comparison:
    def method(self: Term, other: Any) -> Condition:
        return Compare(operation, self, as_term(other))

    return method


def _arithmetic(operation: str) -> _Operator:
    def method(self: Term, other: Term | float) -> Term:
        return Arithmetic(operation, (self, as_term(other)))

    return method


def _reflected(operation: str) -> _Operator:
    def method(self: Term, other: Term | float) -> Term:
        return Arithmetic(operation, (as_term(other), self))

    return method


class Term(Expression, ABC):
    """A value computed from parameters. Operators build larger terms, comparisons conditions."""

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    @abstractmethod
    def value(self, values: Mapping[str, Any]) -> Any:
        """Return the value in a configuration, or UNKNOWN."""

    def unrounded(self, values: Mapping[str, Any]) -> Any:
        """Return the value to compute with."""
        return self.value(values)

    @property
    def is_computed(self) -> bool:
        """Whether the value may have been rounded."""
        return False

    def __bool__(self) -> bool:
        raise SettingError(
            f"({self}) depends on the configuration, and is neither true nor false by itself: compare "
            "it with a value, and join conditions with & | ~ instead of and, or, not"
        )

    __eq__: ClassVar[_Comparison] = _comparison("==")  # type: ignore[assignment]
    __ne__: ClassVar[_Comparison] = _comparison("!=")  # type: ignore[assignment]
    __lt__: ClassVar[_Comparison] = _comparison("<")
    __le__: ClassVar[_Comparison] = _comparison("<=")
    __gt__: ClassVar[_Comparison] = _comparison(">")
    __ge__: ClassVar[_Comparison] = _comparison(">=")
    __add__: ClassVar[_Operator] = _arithmetic("+")
    __radd__: ClassVar[_Operator] = _reflected("+")
    __sub__: ClassVar[_Operator] = _arithmetic("-")
    __rsub__: ClassVar[_Operator] = _reflected("-")
    __mul__: ClassVar[_Operator] = _arithmetic("*")
    __rmul__: ClassVar[_Operator] = _reflected("*")
    __truediv__: ClassVar[_Operator] = _arithmetic("/")
    __rtruediv__: ClassVar[_Operator] = _reflected("/")
    __mod__: ClassVar[_Operator] = _arithmetic("%%")
    __rmod__: ClassVar[_Operator] = _reflected("%%")
    __floordiv__: ClassVar[_Operator] = _arithmetic("%/%")
    __rfloordiv__: ClassVar[_Operator] = _reflected("%/%")
    __pow__: ClassVar[_Operator] = _arithmetic("^")
    __rpow__: ClassVar[_Operator] = _reflected("^")

    def is_in(self, values: Iterable[Any]) -> Condition:
        """Return the condition that the value is one of these."""
        if isinstance(values, str):
            raise SettingError(f"is_in({values!r}): give a list of values")
        return In(self, tuple(as_literal(value) for value in values))

    def __neg__(self) -> Term:
        return Arithmetic("neg", (self,))

    def __abs__(self) -> Term:
        return Arithmetic("abs", (self,))

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

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not name:
            raise SettingError(f"Param({name!r}): give the name of a parameter")

    def value(self, values: Mapping[str, Any]) -> Any:
        """Return the configuration's value."""
        return values.get(self.name, UNKNOWN)

    def names(self) -> frozenset[str]:
        """Return its own name."""
        return frozenset((self.name,))

    def exists(self) -> Condition:
        """Return the condition that the parameter exists, with any value."""
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
        return self.constant

    def to_json(self) -> Any:
        return as_lists(self.constant)

    def __str__(self) -> str:
        return repr(self.constant)


@dataclass(frozen=True, eq=False)
class Arithmetic(Term):
    """One of OPERATIONS on numbers."""

    operation: str
    parts: tuple[Term, ...]

    def value(self, values: Mapping[str, Any]) -> Any:
        """Return the number, to 15 digits if it is computed.

        UNKNOWN if undefined (0/0, a remainder of 0).
        """
        if self.operation in _SELECTING:
            return self._of([part.value(values) for part in self.parts])
        return rounded(self.unrounded(values))

    def unrounded(self, values: Mapping[str, Any]) -> Any:
        """Return the number to compute with."""
        # these cut numbers as they are on paper
        if self.operation in ("%%", "%/%", "round", "floor", "ceiling", "trunc"):
            return self._of([part.value(values) for part in self.parts])
        return self._of([part.unrounded(values) for part in self.parts])

    @cached_property
    def is_computed(self) -> bool:
        """Whether the number may have been rounded."""
        return self.operation not in _SELECTING or any(part.is_computed for part in self.parts)

    def _of(self, numbers: list[Any]) -> Any:
        if not all(map(is_real, numbers)):
            return UNKNOWN
        try:
            number = OPERATIONS[self.operation][2](*numbers)
        except (ArithmeticError, ValueError):
            return UNKNOWN
        return UNKNOWN if number != number else number  # noqa: PLR0124  (NaN)

    def to_json(self) -> dict[str, Any]:
        return {"do": self.operation, "with": [part.to_json() for part in self.parts]}

    def __str__(self) -> str:
        parts = [str(part) for part in self.parts]
        if self.operation in ("+", "-", "*", "/", "%%", "%/%", "^"):
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
