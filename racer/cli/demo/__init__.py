"""The job of `racer demo`: which settings of SciPy's differential evolution work best."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from racer.cli.demo.problems import BOUND, Problem, problems
from racer.seeding import rng_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Problem", "configurations", "evaluate", "problems"]

CHOICES: dict[str, tuple[Any, ...]] = {
    "strategy": ("best1bin", "best2bin", "rand1bin", "randtobest1bin", "currenttobest1bin"),
    "popsize": (3, 5, 8, 15),
    "mutation": (0.5, 0.7, 0.9, (0.5, 1.0)),
    "recombination": (0.3, 0.5, 0.7, 0.9),
    "init": ("latinhypercube", "sobol", "halton", "random"),
}
DEFAULT: dict[str, Any] = {
    "strategy": "best1bin",
    "popsize": 15,
    "mutation": (0.5, 1.0),
    "recombination": 0.7,
    "init": "latinhypercube",
}
EVALUATIONS_PER_DIMENSION = 60


def configurations(n: int, seed: int) -> list[dict[str, Any]]:
    """Return SciPy's default settings and n - 1 others, drawn from a grid without repetition."""
    grid = [
        dict(zip(CHOICES, values, strict=True)) for values in itertools.product(*CHOICES.values())
    ]
    grid.remove(DEFAULT)
    chosen = rng_for(seed, "demo").choice(len(grid), size=n - 1, replace=False)
    return [DEFAULT, *(grid[i] for i in chosen.tolist())]


class _Counted:
    """The best value within the first `budget` evaluations, ignoring later ones."""

    def __init__(self, problem: Problem, budget: int) -> None:
        self._problem = problem
        self._left = budget
        self.best = math.inf

    def __call__(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        values = self._problem(x)
        paid = values[: self._left]
        self._left -= len(paid)
        if len(paid):
            self.best = min(self.best, float(paid.min()))
        return values


def evaluate(config: dict[str, Any], problem: Problem, seed: int) -> float:
    """Return log10 of the error, at least 1e-8, of a run of 60 evaluations per dimension."""
    from scipy.optimize import Bounds, differential_evolution  # noqa: PLC0415

    d = problem.dimension
    budget = EVALUATIONS_PER_DIMENSION * d
    counted = _Counted(problem, budget)
    differential_evolution(
        counted,  # type: ignore[arg-type]  # the stubs do not know vectorized=True
        Bounds([-BOUND] * d, [BOUND] * d),
        **config,
        maxiter=math.ceil(budget / max(5, config["popsize"] * d)),
        tol=0.0,
        polish=False,
        vectorized=True,
        updating="deferred",
        rng=np.random.default_rng(seed),
    )
    return math.log10(max(counted.best, 1e-8))
