"""Sphere and Rastrigin over instances that differ in level, in scale and in their optimum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from racer import Real, Space
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["KINDS", "Kind", "Problem", "problem", "space"]

Kind = Literal["sphere", "rastrigin"]
KINDS: tuple[Kind, ...] = ("sphere", "rastrigin")
DIMENSIONS = 5
INSTANCES = 100
FOR_TUNING = 50
LOG_SCALE = 0.25  # sd of the logarithm of an instance's scale


def space() -> Space:
    """Return five reals in [-5, 5]."""
    return Space({f"x{i}": Real(-5.0, 5.0) for i in range(DIMENSIONS)})


@dataclass(frozen=True, eq=False)
class Problem:
    """A function over instances; the first `FOR_TUNING` are for tuning.

    Attributes
    ----------
    kind : {"sphere", "rastrigin"}
    bias, scale : ndarray, shape (INSTANCES,)
    shift : ndarray, shape (INSTANCES, DIMENSIONS)
        Of the optimum.
    """

    kind: Kind
    bias: NDArray[np.float64]
    scale: NDArray[np.float64]
    shift: NDArray[np.float64]

    def __call__(self, config: Mapping[str, float], instance: int, seed: int) -> float:
        """Return bias + scale f(x - shift) + noise of sd 1; the noise is that of x and the seed."""
        x = np.fromiter(config.values(), dtype=np.float64)
        noise = np.random.default_rng([seed, *x.view(np.uint64).tolist()]).standard_normal()
        return float(self.bias[instance] + self._value(x, instance) + noise)

    def _value(self, x: NDArray[np.float64], instance: int) -> float:
        return float(self.scale[instance] * self._base(x - self.shift[instance]))

    def _base(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.kind == "sphere":
            return np.asarray((z**2).sum(axis=-1))
        return np.asarray((10.0 + z**2 - 10.0 * np.cos(2.0 * np.pi * z)).sum(axis=-1))

    def quality(self, config: Mapping[str, float]) -> float:
        """Return the mean of scale f(x - shift) over all instances: no noise, no bias."""
        x = np.fromiter(config.values(), dtype=np.float64)
        return float((self.scale * self._base(x - self.shift)).mean())


def problem(kind: Kind, seed: int) -> Problem:
    """Draw the instances."""
    rng = rng_for(seed, "tuning problem")
    return Problem(
        kind,
        rng.normal(0.0, 20.0, INSTANCES),
        np.exp(rng.normal(0.0, LOG_SCALE, INSTANCES)),
        rng.normal(0.0, 0.15, (INSTANCES, DIMENSIONS)),
    )
