"""Verdict helpers: the best standing, and the drops that follow from the result of a test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.deciders.decider import Drop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def best_of(candidates: NDArray[np.intp], standing: NDArray[np.float64]) -> int | None:
    """Return the candidate with the smallest standing, the first of several; None if all tie."""
    values = standing.tolist()
    smallest = min(values)
    if len(values) > 1 and smallest == max(values):
        return None
    return int(candidates[values.index(smallest)])


def drops(
    candidates: NDArray[np.intp],
    places: NDArray[np.intp],
    reason: str | Sequence[str],
    against: NDArray[np.intp] | int,
    values: NDArray[np.float64],
    measure: str,
) -> tuple[Drop, ...]:
    """Return the drops of positions, (k,), in their order.

    Reasons and the positions of opponents are (k,), or one for all.
    """
    others = [against] * len(places) if isinstance(against, int) else against.tolist()
    reasons = [reason] * len(places) if isinstance(reason, str) else reason
    return tuple(
        Drop(
            int(candidates[i]),
            why,
            against=int(candidates[j]),
            probability=value,
            measure=measure,
        )
        for i, why, j, value in zip(places.tolist(), reasons, others, values.tolist(), strict=True)
    )


def drop_worse(
    candidates: NDArray[np.intp], best: int, worse: NDArray[np.intp], p_values: NDArray[np.float64]
) -> tuple[Drop, ...]:
    """Drop positions found worse than the position `best`, smallest p-value first."""
    order = np.argsort(p_values, kind="stable")
    return drops(candidates, worse[order], "inferior", best, p_values[order], "p-value")


def drop_losers(
    candidates: NDArray[np.intp],
    standing: NDArray[np.float64],
    better: NDArray[np.intp],
    worse: NDArray[np.intp],
    probability: NDArray[np.float64],
    measure: str,
) -> tuple[Drop, ...]:
    """Drop each candidate that is the worse one in any of k statements, (k,), the strongest first.

    If statements run in a circle and all lose, the candidate with the best standing stays.
    """
    loses = np.zeros(len(candidates), dtype=bool)
    loses[worse] = True
    if loses.all():
        loses[standing.argmin()] = False
    used = np.flatnonzero(loses[worse])
    used = used[np.argsort(loses[better[used]], kind="stable")]  # first against those that stay
    _, first = np.unique(worse[used], return_index=True)
    used = np.sort(used[first])
    return drops(candidates, worse[used], "inferior", better[used], probability[used], measure)
