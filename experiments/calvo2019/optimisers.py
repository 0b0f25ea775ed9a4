"""Optimisers of SciPy and random search, each run until a number of evaluations is spent.

Each goes on for as long as it is let: local ones start again from a random point, the others with
a new seed. What counts is the best value found so far after each evaluation. All minima are 0; a
problem is solved, and the run over, at 1e-8.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import optimize

from racer.cli.demo.problems import BOUND, Problem
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["OPTIMISERS", "SOLVED", "best_so_far"]

SOLVED = 1e-8


class _OverError(Exception):
    """All evaluations are spent, or the problem is solved."""


class _Counted:
    """A problem that keeps its values and ends the run; what is found outside the box is inf."""

    def __init__(self, problem: Problem, evaluations: int) -> None:
        self._problem, self._evaluations = problem, evaluations
        self.values: list[float] = []

    def __call__(self, x: NDArray[np.float64]) -> float:
        value = float(self._problem(np.asarray(x, dtype=np.float64)[:, None])[0])
        inside = bool((np.abs(x) <= BOUND * (1.0 + 1e-12)).all())
        self.values.append(max(value, SOLVED) if inside else np.inf)
        if len(self.values) == self._evaluations or self.values[-1] == SOLVED:
            raise _OverError
        return value


def _random_search(f: _Counted, box: optimize.Bounds, rng: np.random.Generator) -> None:
    f(rng.uniform(box.lb, box.ub))


def _local(method: Literal["Nelder-Mead", "Powell", "L-BFGS-B"]) -> Callable[..., None]:
    def run(f: _Counted, box: optimize.Bounds, rng: np.random.Generator) -> None:
        start = rng.uniform(box.lb, box.ub)
        optimize.minimize(f, start, method=method, bounds=box)

    return run


def _differential_evolution(f: _Counted, box: optimize.Bounds, rng: np.random.Generator) -> None:
    optimize.differential_evolution(f, box, maxiter=10**6, polish=False, rng=rng)


def _dual_annealing(f: _Counted, box: optimize.Bounds, rng: np.random.Generator) -> None:
    optimize.dual_annealing(f, box, maxiter=10**6, rng=rng)


def _basin_hopping(f: _Counted, box: optimize.Bounds, rng: np.random.Generator) -> None:
    start = rng.uniform(box.lb, box.ub)
    optimize.basinhopping(
        f,
        start,
        niter=10**6,
        minimizer_kwargs={"method": "L-BFGS-B", "bounds": box},  # type: ignore[arg-type]
        rng=rng,
    )


OPTIMISERS: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        "random-search": _random_search,
        "nelder-mead": _local("Nelder-Mead"),
        "powell": _local("Powell"),
        "l-bfgs-b": _local("L-BFGS-B"),
        "differential-evolution": _differential_evolution,
        "dual-annealing": _dual_annealing,
        "basin-hopping": _basin_hopping,
    }
)


def best_so_far(name: str, problem: Problem, evaluations: int, seed: int) -> NDArray[np.float64]:
    """Return the least value found after 1, 2, .. evaluations, 1e-8 once the problem is solved.

    Parameters
    ----------
    name : str
        One of `OPTIMISERS`.
    problem : Problem
    evaluations : int
    seed : int
        Same seed, same run, with the same version of SciPy.

    Returns
    -------
    ndarray, shape (evaluations,)
    """
    counted = _Counted(problem, evaluations)
    bounds = np.full(problem.dimension, BOUND)
    box = optimize.Bounds(-bounds, bounds)
    rng = rng_for(seed, "optimiser", name, problem.function, problem.dimension, problem.variant)
    try:
        while True:
            OPTIMISERS[name](counted, box, rng)
    except _OverError:
        best = np.full(evaluations, min(counted.values))
        best[: len(counted.values)] = np.minimum.accumulate(counted.values)
        return best
