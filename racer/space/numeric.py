"""Numbers as parameters, real and whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from racer._checks import flag, is_real, whole
from racer.errors import SettingError
from racer.space.arithmetic import UNKNOWN
from racer.space.domains import Choices, Continuum, Domain, Lattice
from racer.space.record import Record
from racer.space.terms import Term

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Integer", "Real"]

EMPTY = Choices(())
_MOST = 2**50  # numbers on a linear grid that a float between 0 and 1 can tell apart
_MOST_LOG = 10**12  # the same on a logarithmic grid


def _number(bound: Any, values: Mapping[str, Any]) -> Any:
    return bound.value(values) if isinstance(bound, Term) else bound


def _folded(bound: Any) -> Any:
    """Return the value of a term that depends on nothing, and anything else as it is."""
    return bound.value({}) if isinstance(bound, Term) and not bound.names() else bound


def _finite(number: Any) -> bool:
    try:
        return is_real(number) and math.isfinite(number)
    except OverflowError:  # an int beyond all floats
        return False


def _exact(number: float) -> Fraction:
    """Return the number as its decimals say: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _lattice(first: Fraction, step: Fraction, n: int, *, log: bool, whole: bool) -> Domain:
    parts = math.lcm(first.denominator, step.denominator)
    return Lattice(int(first * parts), int(step * parts), parts, n, log, whole)


@dataclass(frozen=True, eq=False)
class _Numeric:
    low: Any
    high: Any

    def names(self) -> frozenset[str]:
        """Return the parameters that the bounds depend on."""
        terms = [bound for bound in (self.low, self.high) if isinstance(bound, Term)]
        return frozenset().union(*(term.names() for term in terms))

    def domain(self, values: Mapping[str, Any]) -> Domain | None:
        """Return the values possible, given the others; None if it does not exist without them.

        The result is empty where low is above high.
        """
        low, high = _number(self.low, values), _number(self.high, values)
        if low is UNKNOWN or high is UNKNOWN:
            return None
        possible = _finite(low) and _finite(high) and low <= high
        return self._between(low, high) if possible else EMPTY

    def _between(self, low: float, high: float) -> Domain:
        raise NotImplementedError

    def check_bounds(self, name: str, *, log: bool, integer: bool) -> None:
        """Refuse bounds that cannot be, with the name of the parameter."""
        kind = type(self).__name__
        for which in ("low", "high"):
            bound = getattr(self, which)
            if isinstance(bound, Term):
                continue
            right = _finite(bound) and (not integer or float(bound).is_integer())
            if not right:
                wanted = "whole" if integer else "finite"
                raise SettingError(
                    f"{name}: {kind} with {which}={bound!r}: give a {wanted} number, or a bound "
                    "that depends on other parameters, by Param"
                )
            if log and bound <= 0:
                raise SettingError(
                    f"{name}: {kind} with {which}={bound!r} has no logarithm: "
                    "give bounds > 0, or log=False"
                )
        if not self.names():
            if self.low > self.high:
                raise SettingError(
                    f"{name}: {kind} with low={self.low!r} above high={self.high!r}: exchange them"
                )
            if self.domain({}) is EMPTY:
                raise SettingError(
                    f"{name}: {kind} from {self.low!r} to {self.high!r} has no value, or too many "
                    "to tell apart: check digits and step, or use a narrower range or Real"
                )


@dataclass(frozen=True, eq=False)
class Real(Record, _Numeric):
    """A number from low to high, both included.

    Parameters
    ----------
    low, high : float, or an expression of other parameters
        With expressions (``Param("n") / 2``), the parameter exists only when all that they name
        exist, and configurations for which low is above high are not possible.
    log : bool
        Sample uniformly in the logarithm; low > 0.
    digits : int >= 0, optional
        Decimals; values are multiples of 10**-digits between the bounds. Without, values have
        about ten significant digits; where `digits` are more than floats can tell apart, about 14
        (of the range), or ten with `log` (of the value).
    step : float > 0, optional
        Values are low, low + step, ..; instead of log and digits.
    """

    low: float | Term
    high: float | Term
    log: bool = False
    digits: int | None = None
    step: float | None = None

    def checked(self, name: str) -> Real:
        """Return it in plain numbers; SettingError, with the name, if it cannot be."""
        log = flag(self.log, f"{name}: log")
        digits = None if self.digits is None else whole(self.digits, f"{name}: digits", least=0)
        step = self.step
        if digits is not None and digits > 300:
            raise SettingError(f"{name}: digits={digits}: give at most 300")
        if step is not None:
            if not (_finite(step) and step > 0):
                raise SettingError(f"{name}: step={step!r}: give a finite number > 0, or None")
            if log or digits is not None:
                raise SettingError(f"{name}: step={step!r} goes with neither log nor digits")
            step = float(step)
        ends = (_folded(self.low), _folded(self.high))
        low, high = (float(bound) if _finite(bound) else bound for bound in ends)
        real = Real(low, high, log=log, digits=digits, step=step)
        real.check_bounds(name, log=log, integer=False)
        return real

    def _between(self, low: float, high: float) -> Domain:
        low, high = float(low), float(high)
        if (self.log and low <= 0) or not math.isfinite(high - low):
            return EMPTY
        start, end = _exact(low), _exact(high)
        if self.step is not None:
            step = _exact(self.step)
            n = (end - start) // step + 1
            return _lattice(start, step, n, log=False, whole=False) if n <= _MOST else EMPTY
        if self.digits is not None:
            step = Fraction(1, 10**self.digits)
            first, last = math.ceil(start / step), math.floor(end / step)
            if last < first:
                return EMPTY
            if last - first < _MOST and not (self.log and last > _MOST_LOG):
                return _lattice(first * step, step, last - first + 1, log=self.log, whole=False)
            low, high = float(first * step), float(last * step)
        if low == high:
            return _lattice(start, Fraction(1), 1, log=False, whole=False)
        return Continuum(low, high, self.log, self.digits)


@dataclass(frozen=True, eq=False)
class Integer(Record, _Numeric):
    """A whole number from low to high, both included.

    Parameters
    ----------
    low, high : int, or an expression of other parameters
        As for `Real`; fractions are rounded into the range.
    log : bool
        Sample uniformly in the logarithm: i is as probable as the numbers from i - 1/2 to
        i + 1/2 are; low > 0.
    step : int >= 1
        Values are low, low + step, ..; 1 with log.
    """

    low: int | Term
    high: int | Term
    log: bool = False
    step: int = 1

    def checked(self, name: str) -> Integer:
        """Return it in plain numbers; SettingError, with the name, if it cannot be."""
        log = flag(self.log, f"{name}: log")
        step = whole(self.step, f"{name}: step", least=1)
        if log and step != 1:
            raise SettingError(f"{name}: step={step} does not go with log=True")
        low, high = _folded(self.low), _folded(self.high)
        Integer(low, high, log=log, step=step).check_bounds(name, log=log, integer=True)
        low, high = (bound if isinstance(bound, Term) else int(bound) for bound in (low, high))
        return Integer(low, high, log=log, step=step)

    def _between(self, low: float, high: float) -> Domain:
        first, last = math.ceil(low), math.floor(high)
        n = (last - first) // self.step + 1
        if n < 1 or n > _MOST or (self.log and not 0 < first <= last <= _MOST_LOG):
            return EMPTY
        return _lattice(Fraction(first), Fraction(self.step), n, log=self.log, whole=True)
