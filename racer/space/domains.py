"""Plain values, and domains: values as positions u, 0 <= u <= 1; `decode(encode(v))` is v."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import numpy as np

from racer._checks import is_real

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

__all__ = ["Domain"]

_SLACK = 1e-6  # of a step: 0.1 + 0.2 is 0.3


class _Unknown(Enum):
    UNKNOWN = "unknown"


UNKNOWN: Final = _Unknown.UNKNOWN
"""The value of an absent parameter."""


def plain(value: Any) -> Any:
    """Return `value` as plain Python (None, bool, finite number, str, tuples), or TypeError."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, tuple | list):
        return tuple(plain(part) for part in value)
    raise TypeError(value)


def token(value: Any) -> Hashable:
    """Return something equal for equal values only: 1 is 1.0, but True is not 1."""
    if type(value) is float:  # most of them
        return (False, value)
    if isinstance(value, tuple | list):
        return tuple(token(part) for part in value)
    return (isinstance(value, bool), value)


def as_lists(value: Any) -> Any:
    """Return a plain value as JSON has it: tuples as lists."""
    return [as_lists(part) for part in value] if isinstance(value, tuple) else value


class Domain(Protocol):
    """The values that a parameter may take; each is plain, as `Space.check` returns it.

    `decode(encode(value))` is `value`. Where `n` is finite, drawing u uniformly should give each
    value a fair chance; the k-th of n choices without an order has u from k/n to (k+1)/n.

    Examples
    --------
    >>> import racer
    >>> domain = racer.Integer(1, 4).domain({})
    >>> domain.n, domain.decode(0.99), list(domain.values())
    (4, 4, [1, 2, 3, 4])
    """

    @property
    def n(self) -> float:
        """How many values there are; infinity for the reals."""

    def decode(self, u: float) -> Any:
        """Return the value at u."""

    def encode(self, value: Any) -> float:
        """Return a u that decodes to `value`."""

    def clean(self, value: Any) -> Any:
        """Return `value` as `decode` does; ValueError with the reason if it is not possible."""

    def values(self) -> Iterator[Any]:
        """Yield all values in ascending order of u; only called where `n` is finite."""


def show(number: float) -> str:
    """Return a number as it is read most easily."""
    return str(number) if isinstance(number, int) else f"{number:.12g}"


@dataclass(frozen=True)
class Choices:
    """Some values, in an order; u falls into one of n equal cells."""

    among: tuple[Any, ...]

    @property
    def n(self) -> int:
        return len(self.among)

    def decode(self, u: float) -> Any:
        return self.among[min(int(u * self.n), self.n - 1)]

    def encode(self, value: Any) -> float:
        return (self._index(value) + 0.5) / self.n

    def _index(self, value: Any) -> int:
        try:
            return self._places[token(value)]
        except KeyError:
            raise ValueError(f"give one of {', '.join(map(repr, self.among))}") from None

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {token(choice): k for k, choice in enumerate(self.among)}

    def clean(self, value: Any) -> Any:
        return self.among[self._index(value)]

    def values(self) -> Iterator[Any]:
        return iter(self.among)


@dataclass(frozen=True)
class Empty(Choices):
    """An empty domain, with the reason."""

    among: tuple[Any, ...] = field(default=(), init=False)
    why: str


@dataclass(frozen=True)
class Lattice:
    """The n numbers (first + k step) / parts, k = 0, .., n - 1, exact; u falls into one of n cells.

    `last` stands for the last number where rounding parts them. Cells have equal size; with `log`,
    value v has the cell v - step/2 to v + step/2 on a log scale.
    """

    first: int
    step: int
    parts: int
    n: int
    log: bool = False
    whole: bool = False
    last: float | None = None

    def at(self, k: int) -> float:
        """Return the k-th number."""
        if self.last is not None and k == self.n - 1:
            return self.last
        numerator = self.first + k * self.step
        return numerator // self.parts if self.whole else numerator / self.parts

    def nearest(self, value: float) -> int:
        """Return the k of the number nearest to `value`."""
        over, under = value.as_integer_ratio()
        distance, unit = over * self.parts - self.first * under, under * self.step
        return min(max((2 * distance + unit) // (2 * unit), 0), self.n - 1)

    def _logs(self) -> tuple[float, float]:
        half = self.step / self.parts / 2.0
        return math.log(self.at(0) - half), math.log(self.at(self.n - 1) + half)

    def decode(self, u: float) -> float:
        if not self.log:
            return self.at(min(int(u * self.n), self.n - 1))
        low, high = self._logs()
        return self.at(self.nearest(math.exp(low + u * (high - low))))

    def encode(self, value: float) -> float:
        if not self.log:
            return (self.nearest(value) + 0.5) / self.n
        low, high = self._logs()
        return (math.log(value) - low) / (high - low)

    def clean(self, value: Any) -> float:
        if not is_real(value):
            raise ValueError(self._says())
        inside = min(max(value, self.at(0)), self.at(self.n - 1))
        number = self.at(self.nearest(inside))
        if abs(number - value) > _SLACK * (self.step / self.parts):
            nearest = f"; the nearest is {show(number)}" if inside == value else ""
            raise ValueError(self._says() + nearest)
        return number

    def _says(self) -> str:
        low, high = show(self.at(0)), show(self.at(self.n - 1))
        if self.n == 1:
            return f"give {low}"
        if self.whole and self.step == 1:
            return f"give a whole number from {low} to {high}"
        return f"give a number from {low} to {high} in steps of {show(self.step / self.parts)}"

    def values(self) -> Iterator[float]:
        return map(self.at, range(self.n))


@dataclass(frozen=True)
class Continuum:
    """The numbers from low to high, to `digits` or ten digits of the range (`log`: the value)."""

    n: ClassVar[float] = math.inf
    low: float
    high: float
    log: bool = False
    decimals: int | None = None

    @cached_property
    def _usual_decimals(self) -> int:
        return self._decimals_of(self.high - self.low)

    def _decimals_of(self, size: float) -> int:
        as_asked = self.decimals is not None and not self.log
        # after the first digit; thirteen survive a way to [0, 1] and back
        decimals = (13 if as_asked else 9) - math.floor(math.log10(size))
        return decimals if self.decimals is None else min(decimals, self.decimals)

    def _rounded(self, value: float) -> float:
        decimals = self._decimals_of(value) if self.log else self._usual_decimals
        try:
            value = round(float(value), decimals) + 0.0
        except OverflowError:  # near the largest float
            value = float(value)
        return value if self.low <= value <= self.high else min(max(value, self.low), self.high)

    def decode(self, u: float) -> float:
        if not self.log:
            return self._rounded(self.low + u * (self.high - self.low))
        low, high = math.log(self.low), math.log(self.high)
        return self._rounded(min(max(math.exp(low + u * (high - low)), self.low), self.high))

    def encode(self, value: float) -> float:
        value = self._rounded(value)
        if not self.log:
            return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        low, high = math.log(self.low), math.log(self.high)
        return min(max((math.log(value) - low) / (high - low), 0.0), 1.0)

    def clean(self, value: Any) -> float:
        slack = 0.0 if self.decimals is None else _SLACK * 10.0**-self.decimals
        # an end is what it is with 15 digits
        part = 5e-15 if self.decimals is None else 0.0
        low, high = self.low - part * abs(self.low), self.high + part * abs(self.high)
        if not is_real(value) or not low - slack <= value <= high + slack:
            raise ValueError(self._says())
        if self.decimals is not None:
            off = abs(round(float(value), self.decimals) - value)
            if off > slack:
                raise ValueError(f"{self._says()} with at most {self.decimals} decimals")
        return self._rounded(value)

    def _says(self) -> str:
        return f"give a number from {show(self.low)} to {show(self.high)}"

    def values(self) -> Iterator[float]:
        raise ValueError("the reals cannot be counted")
