"""What the engine asks of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_ROWS = 256  # points at a time, so that what a model spreads out stays small


class Model(Protocol):
    """A log-density on an unconstrained vector of d numbers, up to a constant."""

    @property
    def start(self) -> NDArray[np.float64]:
        """Where to begin, shape (d,)."""
        ...

    def log_density(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-density at k points, shape (k, d), as shape (k,)."""
        ...

    def gradient(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its gradient at k points, shape (k, d)."""
        ...


class Curved(Model, Protocol):
    """A log-concave one that knows its own curvature."""

    def precision(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the Hessian at one point, shape (d, d)."""
        ...


def in_parts(
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]], points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Apply a method of a model to many points, some at a time; where it overflows, NaN."""
    with np.errstate(all="ignore"):
        parts = [of(points[k : k + _ROWS]) for k in range(0, len(points), _ROWS)]
    return np.concatenate(parts)


def log_density(model: Model, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-density, -inf where it is not a number."""
    value = in_parts(model.log_density, points)
    value[~(value < np.inf)] = -np.inf
    return value
