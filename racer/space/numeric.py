"""Parameters whose values are numbers: Real and Integer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from racer._checks import flag, is_real, suggesting, whole
from racer.errors import SettingError
from racer.space.domains import UNKNOWN, Continuum, Domain, Empty, Lattice
from racer.space.expressions import Term
from racer.space.parameters import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from racer.space.parameters import Scale

__all__ = ["Integer", "Real"]

_MOST = 2**50  # numbers on a linear grid that a float between 0 and 1 can tell apart
_MOST_LOG = 10**12  # the same on a logarithmic grid
_ONE = Fraction(1)
_NOT_POSITIVE = Empty("has no logarithm: it needs bounds > 0")
_TOO_MANY = Empty("has too many values for floats: use a narrower range, or Real without step")


def _number(bound: Any, values: Mapping[str, Any]) -> Any:
    return bound.value(values) if isinstance(bound, Term) else bound


def _folded(bound: Any) -> Any:
    """Return the value of a term that depends on nothing, and anything else as it is."""
    return bound.value({}) if isinstance(bound, Term) and not bound.names() else bound


def _finite(number: Any) -> bool:
    return is_real(number) and math.isfinite(number)


def _exact(number: float) -> Fraction:
    """Return the number as its decimals say: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _lattice(first: Fraction, step: Fraction = _ONE, n: int = 1, **how: Any) -> Lattice:
    # whole multiples of one fraction: no value depends on how often a step was added
    parts = math.lcm(first.denominator, step.denominator)
    return Lattice(int(first * parts), int(step * parts), parts, n, **how)


def _evenly(low: float, high: float, step: float) -> Domain:
    """Return the numbers low, low + step, .. up to `high`.

    A last number that differs from `high` only by the rounding of the three is `high`.
    """
    first, exact = _exact(low), _exact(step)
    steps = (_exact(high) - first) / exact
    # twice what one operation loses of a number ..
    rounding = 2.0**-51 * (abs(low) + abs(high) + (high - low)) / step
    # .. and at most a thousandth of a step
    reaches = steps >= 0.5 and abs(steps - round(steps)) <= min(rounding, 1e-3)
    n = (round(steps) if reaches else math.floor(steps)) + 1
    return _lattice(first, exact, n, last=high if reaches else None) if n <= _MOST else _TOO_MANY


@dataclass(frozen=True, eq=False)
class Bounded(Record):
    """Base of `Real` and `Integer`: bounds, which may be terms."""

    scale: ClassVar[Scale] = "numeric"
    low: Any
    high: Any
    log: bool = False

    def terms(self) -> dict[str, Term]:
        """Return the bounds that depend on other parameters."""
        ends = (("low", self.low), ("high", self.high))
        return {which: bound for which, bound in ends if isinstance(bound, Term)}

    def names(self) -> frozenset[str]:
        return frozenset().union(*(term.names() for term in self.terms().values()))

    def domain(self, values: Mapping[str, Any]) -> Domain | None:
        low, high = _number(self.low, values), _number(self.high, values)
        if low is UNKNOWN or high is UNKNOWN:
            return None
        if not (_finite(low) and _finite(high)):
            return Empty("is not finite")
        return self._between(low, high) if low <= high else Empty("has its low above its high")

    def _between(self, low: float, high: float) -> Domain:
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        settings = {
            n: getattr(self, n)
            for n in ("low", "high", "log", "step", "digits")
            if hasattr(self, n)
        }
        return {n: v.to_json() if isinstance(v, Term) else v for n, v in settings.items()}

    def check_bounds(self, name: str, wanted: str) -> None:
        """Refuse bounds that cannot work, with the name of the parameter."""
        kind = type(self).__name__
        for which, bound in (("low", self.low), ("high", self.high)):
            if isinstance(bound, Term):
                continue
            if not _finite(bound) or (wanted == "whole" and not float(bound).is_integer()):
                raise SettingError(
                    f"{name}: {kind} with {which}={bound!r}: give a {wanted} number, or a bound "
                    "that depends on other parameters, by Param"
                )
            if self.log and bound <= 0:
                raise SettingError(
                    f"{name}: {kind} with {which}={bound!r} has no logarithm: "
                    "give bounds > 0, or log=False"
                )
        if self.names():
            return
        if self.low > self.high:
            raise SettingError(
                f"{name}: {kind} with low={self.low!r} above high={self.high!r}: exchange them"
            )
        domain = self.domain({})
        if isinstance(domain, Empty):
            raise SettingError(f"{name}: {kind} from {self.low!r} to {self.high!r} {domain.why}")
        step = getattr(self, "step", None)
        if step is not None and self.low < self.high and domain is not None and domain.n == 1:
            raise SettingError(
                f"{name}: {kind} from {self.low!r} to {self.high!r} with step={step!r} has one value: "
                "give a smaller step, or the value itself"
            )


@suggesting
@dataclass(frozen=True, eq=False)
class Real(Bounded):
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
        about ten significant digits; where `digits` are more than floats can resolve, about 14
        (of the range), or ten with `log` (of the value).
    step : float > 0, optional
        Values are low, low + step, ..; instead of log and digits. A last value that differs from
        `high` only by rounding is `high`.

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"rate": racer.Real(1e-4, 1.0, log=True)})
    >>> space.check({"rate": 0.01})
    {'rate': 0.01}
    """

    low: float | Term
    high: float | Term
    digits: int | None = None
    step: float | None = None

    def checked(self, name: str) -> Real:
        """Return it in plain numbers; SettingError, with the name, if it is wrong."""
        log, digits, step = flag(self.log, f"{name}: log"), self.digits, self.step
        if digits is not None:
            digits = whole(digits, f"{name}: digits", least=0)
            if digits > 300:
                raise SettingError(f"{name}: digits={digits}: give at most 300")
        if step is not None:
            if not (_finite(step) and step > 0):
                raise SettingError(f"{name}: step={step!r}: give a finite number > 0, or None")
            if log or digits is not None:
                raise SettingError(f"{name}: step={step!r} cannot be combined with log or digits")
            step = float(step)
        ends = (_folded(self.low), _folded(self.high))
        low, high = (float(bound) if _finite(bound) else bound for bound in ends)
        real = Real(low, high, log=log, digits=digits, step=step)
        real.check_bounds(name, "finite")
        return real

    def _between(self, low: float, high: float) -> Domain:
        low, high = float(low), float(high)
        if self.log and low <= 0:
            return _NOT_POSITIVE
        if not math.isfinite(high - low):
            return Empty("is wider than the largest float: use a narrower range")
        if self.step is not None:
            return _evenly(low, high, self.step)
        if self.digits is not None:
            step = Fraction(1, 10**self.digits)
            first, last = math.ceil(_exact(low) / step), math.floor(_exact(high) / step)
            if last < first:
                return Empty("has no value with so few digits: give more digits or a wider range")
            if last - first < _MOST and not (self.log and last > _MOST_LOG):
                return _lattice(first * step, step, last - first + 1, log=self.log)
            low, high = float(first * step), float(last * step)
        several = low < high
        return Continuum(low, high, self.log, self.digits) if several else _lattice(_exact(low))


@suggesting
@dataclass(frozen=True, eq=False)
class Integer(Bounded):
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

    Examples
    --------
    >>> import racer
    >>> space = racer.Space({"trees": racer.Integer(10, 1000, log=True)})
    >>> space.check({"trees": 100})
    {'trees': 100}
    """

    low: int | Term
    high: int | Term
    step: int = 1

    def checked(self, name: str) -> Integer:
        """Return it in plain numbers; SettingError, with the name, if it is wrong."""
        log = flag(self.log, f"{name}: log")
        step = whole(self.step, f"{name}: step", least=1)
        if log and step != 1:
            raise SettingError(f"{name}: step={step} does not go with log=True")
        low, high = _folded(self.low), _folded(self.high)
        Integer(low, high, log=log, step=step).check_bounds(name, "whole")
        low, high = (bound if isinstance(bound, Term) else int(bound) for bound in (low, high))
        return Integer(low, high, log=log, step=step)

    def _between(self, low: float, high: float) -> Domain:
        first, last = math.ceil(low), math.floor(high)
        n = (last - first) // self.step + 1
        if n < 1:
            return Empty("has no whole number in it")
        if self.log and first <= 0:
            return _NOT_POSITIVE
        if n > _MOST or (self.log and last > _MOST_LOG):
            return _TOO_MANY
        return _lattice(Fraction(first), Fraction(self.step), n, log=self.log, whole=True)
