"""Fidelities: the values of a resource at which an evaluation is cheaper than in full."""

from __future__ import annotations

import math
import reprlib
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from racer._checks import is_real, is_whole, suggesting
from racer.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Fidelity"]


@suggesting
@dataclass(frozen=True)
class Fidelity:
    """A resource of an evaluation, such as epochs, with the values of cheap and of full ones.

    Cheap evaluations only choose which new configurations are evaluated in full. Every statement
    of a result rests on full ones.

    Parameters
    ----------
    name : str
        The resource, for messages and tables.
    values : sequence of number > 0
        At least two, ascending. `evaluate` gets one as its fourth argument; the last is a full
        evaluation. One at `value` counts as `value` / `values[-1]` evaluations of the budget.

    Raises
    ------
    SettingError
        No name; fewer than two values, or values that are not positive and ascending.

    References
    ----------
    Jamieson and Talwalkar, Non-stochastic best arm identification and hyperparameter
    optimization, AISTATS 2016 (successive halving).

    Examples
    --------
    >>> import racer
    >>> fidelity = racer.Fidelity("epochs", (1, 3, 9, 27))
    >>> space = racer.Space({"rate": racer.Real(0, 1)})
    >>> def evaluate(config, instance, seed, epochs):
    ...     return abs(config["rate"] - 0.3) + seed % 7 / 100 + 1 / epochs
    >>> result = racer.tune(space, evaluate, budget=60, seed=1, fidelity=fidelity)
    >>> abs(result.best["rate"] - 0.3) < 0.1
    True
    """

    name: str
    values: Sequence[float]  # a tuple, once it is made

    def __post_init__(self) -> None:
        name: object = self.name
        if not isinstance(name, str) or not name.strip():
            raise SettingError(
                f"Fidelity({reprlib.repr(name)}, ..): give the name of the resource, 'epochs'"
            )
        given: Any = self.values
        listed = list(given) if isinstance(given, list | tuple | range | np.ndarray) else []
        sound = len(listed) > 1 and all(is_real(v) and 0 < v < math.inf for v in listed)
        if not sound or not all(low < high for low, high in pairwise(listed)):
            raise SettingError(
                f"Fidelity({self.name!r}, {reprlib.repr(given)}): give at least two numbers > 0, "
                "ascending, the last of a full evaluation: (1, 3, 9, 27)"
            )
        # as plain numbers, which a store can hold
        object.__setattr__(
            self, "values", tuple(int(v) if is_whole(v) else float(v) for v in listed)
        )

    @property
    def rungs(self) -> Sequence[float]:
        """The values of cheap evaluations, ascending."""
        return self.values[:-1]

    def share(self, value: float) -> Fraction:
        """Return how much of a full evaluation one at `value` is."""
        return Fraction(value) / Fraction(self.values[-1])

    def label(self, value: float) -> str:
        """Return a value with its resource: epochs 3."""
        return f"{self.name} {value:g}"
