"""Continuous test problems: functions x dimensions, each shifted and rotated its own way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

BOUND = 5.0  # every coordinate lies in [-BOUND, BOUND]


def _ellipsoid(z: NDArray[np.float64]) -> NDArray[np.float64]:
    scale = 10.0 ** np.linspace(0.0, 4.0, len(z))
    return np.asarray(scale @ z**2)


def _rosenbrock(z: NDArray[np.float64]) -> NDArray[np.float64]:
    y = z + 1.0  # the optimum, at 1 in the usual form, moved to 0
    return np.asarray((100.0 * (y[1:] - y[:-1] ** 2) ** 2 + (1.0 - y[:-1]) ** 2).sum(axis=0))


def _rastrigin(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((z**2 - 10.0 * np.cos(2.0 * np.pi * z) + 10.0).sum(axis=0))


def _ackley(z: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = np.exp(-0.2 * np.sqrt((z**2).mean(axis=0)))
    waves = np.exp(np.cos(2.0 * np.pi * z).mean(axis=0))
    return np.asarray(20.0 * (1.0 - spread) + np.e - waves)


def _griewank(z: NDArray[np.float64]) -> NDArray[np.float64]:
    y = 20.0 * z
    order = np.sqrt(np.arange(1.0, len(z) + 1.0))[:, None]
    return np.asarray((y**2).sum(axis=0) / 4000.0 - np.cos(y / order).prod(axis=0) + 1.0)


FUNCTIONS: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "ellipsoid": _ellipsoid,
    "rosenbrock": _rosenbrock,
    "rastrigin": _rastrigin,
    "ackley": _ackley,
    "griewank": _griewank,
}


@dataclass(frozen=True)
class Problem:
    """A function of `FUNCTIONS` with its minimum, 0, moved and its axes turned, by `variant`."""

    function: str
    dimension: int
    variant: int

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values of points x, shape (dimension, k), all >= 0."""
        shift, rotation = _placement(self)
        return FUNCTIONS[self.function](rotation @ (x - shift))


@lru_cache(maxsize=256)
def _placement(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    d = problem.dimension
    rng = rng_for(problem.variant, problem.function, d)
    shift = rng.uniform(-0.7 * BOUND, 0.7 * BOUND, size=(d, 1))
    rotation, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return shift, rotation


def problems(variants: int = 4) -> list[Problem]:
    """Return 5 functions x 3 dimensions x `variants` problems, kinds taking turns."""
    return [
        Problem(function, dimension, variant)
        for variant in range(variants)
        for dimension in (3, 5, 10)
        for function in FUNCTIONS
    ]
