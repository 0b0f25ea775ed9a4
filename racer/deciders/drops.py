"""From what a test says to a verdict: which candidate stands best, and which are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.deciders.decider import Drop

if TYPE_CHECKING:
    from numpy.typing import NDArray


def best_of(candidates: NDArray[np.intp], standing: NDArray[np.float64]) -> int | None:
    """Return the candidate with the smallest standing, the first of several; None if all tie."""
    values = standing.tolist()
    smallest = min(values)
    if len(values) > 1 and smallest == max(values):
        return None
    return int(candidates[values.index(smallest)])


def drop_worse(
    candidates: NDArray[np.intp],
    best: int,
    worse: NDArray[np.intp],
    p_values: NDArray[np.float64],
) -> tuple[Drop, ...]:
    """Drop positions found worse than the position `best`, smallest p-value first."""
    return tuple(
        Drop(
            int(candidates[worse[i]]),
            "inferior",
            int(candidates[best]),
            float(p_values[i]),
            "p-value",
        )
        for i in np.argsort(p_values, kind="stable").tolist()
    )


def drop_losers(
    candidates: NDArray[np.intp],
    standing: NDArray[np.float64],
    better: NDArray[np.intp],
    worse: NDArray[np.intp],
    probability: NDArray[np.float64],
    measure: str,
) -> tuple[Drop, ...]:
    """Drop each candidate that is the worse one in any of k statements.

    `better` and `worse`, (k,), are positions in `candidates`, the strongest statement first; the
    drops are in this order. Each names the first opponent that stays, or, where none stays, the
    first. If statements run in a circle and all lose, the candidate with the best standing stays.
    """
    loses = np.zeros(len(candidates), dtype=bool)
    loses[worse] = True
    if loses.all():
        loses[standing.argmin()] = False
    told = np.flatnonzero(loses[worse])
    told = told[np.argsort(loses[better[told]], kind="stable")]
    _, first = np.unique(worse[told], return_index=True)
    return tuple(
        Drop(
            int(candidates[worse[s]]),
            "inferior",
            int(candidates[better[s]]),
            float(probability[s]),
            measure,
        )
        for s in np.sort(told[first]).tolist()
    )


def drop_unlikely(
    candidates: NDArray[np.intp],
    standing: NDArray[np.float64],
    best: NDArray[np.float64],
    threshold: float,
) -> tuple[Drop, ...]:
    """Drop whose probability of being best is below threshold / m, the least probable first.

    One that stands first, or ties for it, stays.
    """
    eliminated = (best < threshold / len(best)) & (standing > standing.min())
    leader = int(candidates[standing.argmin()])
    return tuple(
        Drop(int(candidates[i]), "unlikely", leader, float(best[i]), "posterior")
        for i in np.lexsort((-standing, best)).tolist()
        if eliminated[i]
    )
