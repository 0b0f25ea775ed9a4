"""Noise of candidates' means where blocks of one instance are not independent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST = 1e-9  # of the variance that candidates leave
_RIDGE = 1e-10  # of the mean number of a block's candidates


class Noise(NamedTuple):
    """The noise of a block that means have, with degrees of freedom; of each candidate, (m,)."""

    variance: float
    freedom: float
    relative: NDArray[np.float64]


def residuals(
    values: NDArray[np.float64], known: NDArray[np.bool_], count: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return values (n, m) less the effects of blocks and candidates, by alternating projections."""
    columns = np.maximum(known.sum(axis=0), 1)
    for _ in range(3):
        values = np.where(known, values - (values.sum(axis=1) / count)[:, None], 0.0)
        values = np.where(known, values - values.sum(axis=0) / columns, 0.0)
    return values


def two_way(
    values: NDArray[np.float64], known: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the effects of blocks (n,) and of candidates (m,) on values (n, m), by least squares.

    Where candidates are far apart, and few blocks have seen them all, alternating projections
    converge too slowly for what they leave to be noise.
    """
    if len(values) > values.shape[1]:
        candidates, blocks = two_way(values.T, known.T)
        return blocks, candidates
    columns, rows = np.maximum(known.sum(axis=0), 1.0), np.maximum(known.sum(axis=1), 1.0)
    within = np.where(known, values, 0.0)
    seen = known / columns
    left = np.diag(rows) - seen @ known.T
    left.flat[:: len(rows) + 1] += _RIDGE * rows.mean()  # effects are determined up to a constant
    blocks = np.linalg.solve(left, within.sum(axis=1) - seen @ within.sum(axis=0))
    return blocks, (within.sum(axis=0) - blocks @ known) / columns


def exact_residuals(values: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return values (n, m) less the effects of blocks and candidates, by least squares."""
    blocks, candidates = two_way(values, known)
    return np.where(known, values - blocks[:, None] - candidates, 0.0)


def noise_by_instance(
    values: NDArray[np.float64],
    known: NDArray[np.bool_],
    instances: NDArray[np.intp],
    *,
    generalize: bool,
) -> Noise | None:
    """Return the noise of values (n, m) on blocks of these instances; None if blocks determine it.

    An analysis of variance: residuals of blocks and candidates have a part within instances
    (seeds) and one between them (interaction of candidate and instance). About instances like
    these, both are noise; about these alone, the interaction is none as far as a candidate has seen
    all instances equally often. Degrees of freedom by Satterthwaite (1946).
    """
    found, at = np.unique(instances, return_inverse=True)
    if len(found) in (1, len(at)):
        return None
    whole = _left(values, known)
    parts = [_left(values[at == i], known[at == i]) for i in range(len(found))]
    within = sum(part[0] for part in parts), sum(part[1] for part in parts)
    between = whole[0] - within[0], whole[1] - within[1]
    if min(within[1], between[1]) < 1:
        return None
    seeds, mixed = within[0] / within[1], between[0] / between[1]
    if mixed <= seeds:
        return None
    seen = np.zeros((len(found), known.shape[1]))  # blocks by instance and candidate
    np.add.at(seen, at, known)
    total = np.maximum(seen.sum(axis=0), 1.0)
    apart = (seen**2).sum(axis=0) / total
    repeats = (total - apart).sum() / max(((seen > 0).sum(axis=0) - 1).sum(), 1)
    share = np.maximum(apart - (0.0 if generalize else total / len(found)), 0.0) / repeats
    variance = (1.0 - share) * seeds + share * mixed
    variance = np.maximum(variance, _LEAST * whole[0] / whole[1])
    usual = float(np.median(variance))
    part = float(np.median(share))
    spread = (part * mixed) ** 2 / between[1] + ((1.0 - part) * seeds) ** 2 / within[1]
    freedom = usual**2 / spread if spread > 0.0 else within[1]
    return Noise(usual, freedom, variance / usual)


def _left(values: NDArray[np.float64], known: NDArray[np.bool_]) -> tuple[float, int]:
    """Return the squares that blocks and candidates leave, and their degrees of freedom."""
    count = known.sum(axis=1)
    left = float((residuals(values, known, np.maximum(count, 1)) ** 2).sum())
    n_effects = len(count) + int(known.any(axis=0).sum()) - 1
    return left, max(int(count.sum()) - n_effects, 0)
