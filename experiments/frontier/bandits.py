"""What allocates single evaluations instead of racing in blocks: OCBA and top-two Thompson sampling.

Both know the budget, take the mean costs for normal, and evaluate each candidate on as many of the
first blocks as they give it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from racer.simulate import Drawn, World

__all__ = ["BANDITS", "FIRST", "ocba", "played", "top_two"]

FIRST = 5  # evaluations of each candidate before any is preferred
_STEPS = 200  # how often the evaluations that remain are shared out anew, at most
_TRIES = 20  # to draw another leader


def ocba(
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    counts: NDArray[np.int64],
    more: int,
    rng: np.random.Generator,  # noqa: ARG001
) -> NDArray[np.int64]:
    """Share out evaluations by the optimal computing budget allocation (Chen et al. 2000)."""
    best = int(means.argmin())
    gaps = means - means[best]
    gaps[best] = np.inf
    gaps = np.maximum(gaps, 1e-9 * np.abs(means).max() + 1e-300)
    share = variances / gaps**2
    share[best] = 0.0
    share[best] = np.sqrt(variances[best] * (share**2 / variances).sum())
    wanted = share / share.sum() * (counts.sum() + more)
    lacking = np.maximum(wanted - counts, 0.0)
    parts = more * lacking / lacking.sum()
    given: NDArray[np.int64] = parts.astype(np.int64)
    rest = np.argsort(given - parts, kind="stable")[: more - given.sum()]
    given[rest] += 1
    return given


def top_two(
    means: NDArray[np.float64],
    variances: NDArray[np.float64],
    counts: NDArray[np.int64],
    more: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Share out evaluations by top-two Thompson sampling, with beta 1/2 (Russo 2020)."""
    errors = np.sqrt(variances / counts)
    given = np.zeros(len(means), dtype=np.int64)
    for _ in range(more):
        chosen = int((means + errors * rng.standard_normal(len(means))).argmin())
        if rng.random() < 0.5:
            drawn = means + errors * rng.standard_normal((_TRIES, len(means)))
            others = drawn.argmin(axis=1)
            others = others[others != chosen]
            chosen = int(others[0]) if len(others) else _second(means, errors, chosen)
        given[chosen] += 1
    return given


def _second(means: NDArray[np.float64], errors: NDArray[np.float64], first: int) -> int:
    """Return who is most probably better than the first."""
    apart = (means - means[first]) / np.hypot(errors, errors[first])
    apart[first] = np.inf
    return int(apart.argmin())


BANDITS: Mapping[str, Callable[..., NDArray[np.int64]]] = {"ocba": ocba, "top-two": top_two}


def selected(drawn: Drawn, rule: Callable[..., NDArray[np.int64]], budget: int, seed: int) -> int:
    """Return the candidate with the best mean once the budget is spent."""
    m = len(drawn.quality)
    rng = np.random.default_rng(seed)
    rows = [drawn.costs(block) for block in range(FIRST)]
    counts = np.full(m, FIRST)
    sums, squares = np.sum(rows, axis=0), np.sum(np.square(rows), axis=0)
    left = budget - FIRST * m
    step = max(1, -(-left // _STEPS))
    while left > 0:
        means = sums / counts
        variances = (squares - counts * means**2) / (counts - 1)
        variances = np.maximum(variances, 1e-12 * variances.max() + 1e-300)
        given = rule(means, variances, counts, min(step, left), rng)
        for candidate in np.flatnonzero(given).tolist():
            until = counts[candidate] + given[candidate]
            while len(rows) < until:
                rows.append(drawn.costs(len(rows)))
            for block in range(counts[candidate], until):
                cost = rows[block][candidate]
                sums[candidate] += cost
                squares[candidate] += cost**2
        counts += given
        left -= int(given.sum())
    return int((sums / counts).argmin())


def played(name: str, world: World, budget: int, seed: int) -> tuple[float, float]:
    """Return how many candidates are better than the one selected, and its regret."""
    drawn = world.draw(seed)
    chosen = drawn.quality[selected(drawn, BANDITS[name], budget, seed)]
    return float((drawn.quality < chosen).sum()), float(chosen - drawn.quality.min())
