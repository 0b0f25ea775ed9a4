"""Parameters as Optuna has them, as shares of their ranges and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from racer.space.distributions import from_distribution
from racer.space.domains import Choices, Continuum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from racer.space.domains import Domain

__all__ = ["Axes", "Axis", "joined"]

_ALIGNED = 1e-8  # of a step: as Optuna has it
_FEW = 32  # values that can be told one by one


class Axis:
    """One parameter: the values of a distribution as shares u of its range, 0 <= u <= 1.

    Parameters
    ----------
    distribution : optuna.distributions.BaseDistribution

    Attributes
    ----------
    n_choices : int
        Of a categorical parameter, 0 for a numerical one.
    """

    def __init__(self, distribution: BaseDistribution) -> None:
        self.distribution = distribution
        self.n_choices = 0
        self._domain: Domain | _Wide
        if isinstance(distribution, CategoricalDistribution):
            self.n_choices = len(distribution.choices)
            self._domain = Choices(tuple(range(self.n_choices)))
        else:
            self._domain = _numbers(distribution)

    @property
    def n_few(self) -> int:
        """How many values there are, 0 if they are too many to look at each."""
        return int(self._domain.n) if self._domain.n <= _FEW else 0

    def encode(self, value: Any) -> float:
        """Return the place of a value in the range; NaN if it is not in the distribution."""
        try:
            internal = self.distribution.to_internal_repr(value)
        except ValueError:
            return math.nan
        if not self.distribution._contains(internal):  # noqa: SLF001  (Optuna offers nothing else)
            return math.nan
        return self._domain.encode(int(internal) if self.n_choices else internal)

    def decode(self, u: float) -> Any:
        """Return the value at u, as the objective gets it."""
        value = self._domain.decode(u)
        if self.n_choices:
            return self.distribution.to_external_repr(value)
        return int(value) if isinstance(self.distribution, IntDistribution) else float(value)


def _numbers(distribution: Any) -> Domain | _Wide:
    exact: Domain = from_distribution(distribution).domain({})
    return exact if exact.n else _Wide.of(distribution)


@dataclass(frozen=True)
class _Wide:
    """Numbers on a grid that has too many to tell apart: to as many digits as a float has."""

    low: float
    high: float
    step: float
    reals: Continuum

    @classmethod
    def of(cls, distribution: Any) -> _Wide:
        low, high = distribution.low, distribution.high
        reals = Continuum(float(low), float(high), distribution.log)
        return cls(low, high, distribution.step or 1, reals)

    @property
    def n(self) -> float:
        return math.inf

    def decode(self, u: float) -> float:
        steps = round((self.reals.decode(u) - self.low) / self.step)
        return min(self.low + steps * self.step, self.high)

    def encode(self, value: float) -> float:
        return self.reals.encode(value)


class Axes:
    """Several parameters, by name: configurations as vectors, NaN for what they do not have.

    Parameters
    ----------
    distributions : mapping
        From names to distributions.
    """

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self.distributions = dict(distributions)
        self.axes = {name: Axis(d) for name, d in distributions.items()}
        self.choices = np.array([axis.n_choices for axis in self.axes.values()], dtype=np.intp)

    def __len__(self) -> int:
        return len(self.axes)

    def encode(self, params: Mapping[str, Any]) -> NDArray[np.float64]:
        """Return a configuration as a vector, shape (d,)."""
        return np.array(
            [
                axis.encode(params[name]) if name in params else math.nan
                for name, axis in self.axes.items()
            ]
        )

    def decode(self, vector: NDArray[np.float64]) -> dict[str, Any]:
        """Return the configuration at a vector without NaN."""
        places = zip(self.axes.items(), vector.tolist(), strict=True)
        return {name: axis.decode(u) for (name, axis), u in places}


def joined(one: BaseDistribution, other: BaseDistribution) -> BaseDistribution:
    """Return a distribution with the values of two that a parameter had, the other one later.

    Where they differ in more than their ranges, this is the later one.
    """
    if one == other or type(one) is not type(other):
        return other
    if isinstance(one, FloatDistribution) and isinstance(other, FloatDistribution):
        if (one.log, one.step) == (other.log, other.step):
            low, high = min(one.low, other.low), max(one.high, other.high)
            step = one.step if _aligned(one, other) else None
            return FloatDistribution(low, high, log=one.log, step=step)
    elif (
        isinstance(one, IntDistribution)
        and isinstance(other, IntDistribution)
        and (one.log, one.step) == (other.log, other.step)
    ):
        low, high = min(one.low, other.low), max(one.high, other.high)
        return IntDistribution(low, high, log=one.log, step=one.step if _aligned(one, other) else 1)
    return other


def _aligned(one: Any, other: Any) -> bool:
    if one.step is None:
        return True
    steps = (other.low - one.low) / one.step
    return bool(abs(steps - round(steps)) < _ALIGNED)
