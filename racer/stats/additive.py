"""Costs as effects of blocks and of candidates: sufficient statistics, centred by block."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.stats.strata import noise_by_instance
from racer.stats.units import in_units, unequal_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.stats.strata import Noise

Strata = tuple["NDArray[np.intp]", bool]  # the instance of each block, whether to generalize

_INFLATION = 1.15  # of the noise variance, which is estimated
_SINGULAR = 1e-9  # fraction of the largest eigenvalue
_RIDGE = 1e-10  # of a candidate's weight: estimates are determined up to a constant
_GAP = 30.0  # noise standard deviations: wider gaps between candidates count as that
_BY_LUCK = 9.0  # more of it, over the degrees of freedom: few tell the noise badly
_HIDDEN = 1e-14  # of the largest cost: smaller noise is lost in rounding
_NO_TIE = 1e-6  # of the largest cost: gaps are left that are not taken for ties
_NOISELESS = 0.1  # of what candidates usually differ by: counts as the noise if there is none
_SURELY = 0.9  # of the widest gap: no gap is wider where the whole range is smaller
_LITTLE = 1e-9  # of the sum of squares: a smaller rest may be what a ridge hides
_MOVES = 6  # in which less noise comes to light behind the rounding


def additive_fit(
    costs: NDArray[np.float64], *, by_block: bool, shared: float, strata: Strata | None = None
) -> Additive:
    """Return the sufficient statistics of costs (n, m), centred by block; NaN or inf if unknown."""
    known = np.isfinite(costs)
    several = known.sum(axis=1) > 1
    costs, known = np.where(known, costs, np.nan)[several], known[several]
    design = Design.of(known)
    n, m = costs.shape
    if not n:
        return Additive(design, np.zeros(m), 0.0, 1, 1.0, 0, 1.0)
    moved = _beyond_gaps(costs, design, shared)
    costs = costs - moved
    values, clipped, unit, relative = in_units(costs, by_block=by_block)
    inflation = _INFLATION / (1.0 - clipped) ** 2
    noise = None
    if strata is not None:
        noise = noise_by_instance(values, known, strata[0][several], generalize=strata[1])
    if noise is not None:
        found = _with_noise(values, known, noise)
    else:
        if (relative != 1.0).any():
            design = Design.of(known, relative)
        found = design.fit(values)
        if not by_block:
            found = _placed(found, values, costs / unit)
    if moved.any():
        above = costs - np.nanmedian(costs, axis=1, keepdims=True)
        moved *= np.abs(values).sum() / np.nansum(np.abs(above))
    return found._replace(inflation=inflation, unit=unit, moved=moved)


@dataclass(frozen=True, eq=False)
class Design:
    """Weights of the cells that are known, and what follows from them alone."""

    known: NDArray[np.bool_]  # (n, m)
    weights: NDArray[np.float64]  # (n, m)
    by_block: NDArray[np.float64]  # sums of the weights, (n, 1)
    by_candidate: NDArray[np.float64]  # the same, (m,)
    precision: NDArray[np.float64]  # of the candidates' effects for noise of variance 1, (m, m)

    @classmethod
    def of(cls, known: NDArray[np.bool_], relative: NDArray[np.float64] | float = 1.0) -> Design:
        """Return the design of cells (n, m), given candidates' noise variances, (m,)."""
        weights = known / relative
        by_block, by_candidate = weights.sum(axis=1, keepdims=True), weights.sum(axis=0)
        precision = np.diag(by_candidate) - (weights / by_block).T @ weights
        return cls(known, weights, by_block, by_candidate, precision)

    @cached_property
    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Eigenvalues (m,) and eigenvectors (m, m) of the precision."""
        values, vectors = np.linalg.eigh(self.precision)
        return values, vectors

    def fit(self, values: NDArray[np.float64]) -> Additive:
        """Return the sufficient statistics of values (n, m)."""
        level = (self.weights * values).sum(axis=1, keepdims=True) / self.by_block
        apart = np.where(self.known, values - level, 0.0)
        centred = self.weights * apart
        squares, n = float((centred * apart).sum()), len(values)
        freedom = int(self.known.sum()) - n
        return Additive(self, centred.sum(axis=0), squares, freedom, 1.0, n, 1.0)

    def effects(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the estimates of the candidates' effects (m,) that have no prior."""
        values, vectors = self.axes
        clear = values > _SINGULAR * values.max()
        inverse = np.where(clear, 1.0 / np.where(clear, values, 1.0), 0.0)
        return np.asarray(vectors @ (inverse * (vectors.T @ sums)))


class Additive(NamedTuple):
    """Sufficient statistics of costs less their blocks' effects."""

    design: Design
    sums: NDArray[np.float64]  # (m,)
    squares: float
    freedom: int
    inflation: float  # of the noise variance
    n_blocks: int
    unit: float  # of what is centred, if that is the same in all blocks
    moved: NDArray[np.float64] = np.zeros(1)  # the amount taken off each candidate's costs, (m,)
    noise: NDArray[np.float64] | None = None  # of candidates, (m,), where it is unequal


def wide_gaps(
    costs: NDArray[np.float64], known: NDArray[np.bool_], shared: float = 0.0
) -> NDArray[np.float64]:
    """Return what candidates' costs (n, m) are above a range in which no gap is wide, (m,).

    Where a candidate is far worse than the others, blocks seem to be in other units after it has
    left, noise is less than rounding, and the spread beyond those of the prior; but how far away it
    is says nothing of the others. `shared` is the variance common to all blocks, over the noise's.
    """
    return _beyond_gaps(costs, Design.of(known), shared)


def _beyond_gaps(costs: NDArray[np.float64], design: Design, shared: float) -> NDArray[np.float64]:
    """Return what `wide_gaps` does, for cells of equal weight."""
    known, seen = design.known, design.by_candidate > 0.0
    moved = np.zeros(len(seen))
    left = int(known.sum()) - len(costs) - int(seen.sum()) + 1
    if left < 1 or not _is_connected(known[:, seen]):
        return moved
    gap = _GAP * (1.0 + _BY_LUCK / left) * np.sqrt(1.0 + shared)
    ridge = design.precision.max() * (_RIDGE * np.eye(len(seen)) + 1.0 / len(seen))
    ridged = design.precision + ridge
    for _ in range(_MOVES):
        values = np.where(known, costs - moved, 0.0)
        before = design.fit(values)
        effects = np.linalg.solve(ridged, before.sums)
        rest = before.squares - float(effects @ before.sums)
        if np.ptp(effects[seen]) <= _SURELY * gap * np.sqrt(max(rest, 0.0) / left):
            break
        found = design.fit(values - known * effects)
        if found.squares <= _LITTLE * before.squares:  # it may be what the ridge hides
            effects += np.linalg.solve(ridged, found.sums)
            found = design.fit(values - known * effects)
        largest = float(np.abs(values).max())
        noise = np.sqrt(found.squares / left)
        if noise <= _HIDDEN * largest:
            size = float(np.median(np.abs(effects - np.median(effects[seen]))[seen]))
            noise = _NOISELESS * size if size > _HIDDEN * largest else np.inf
        order = np.flatnonzero(seen)[np.argsort(effects[seen])]
        widest = max(gap * noise, _NO_TIE * largest)
        beyond = np.maximum(np.diff(effects[order]) - widest, 0.0)
        if not beyond.any():
            break
        moved[order[1:]] += np.cumsum(beyond)
    return moved


def _is_connected(known: NDArray[np.bool_]) -> bool:
    """Return whether blocks (n, m) compare all candidates, some by way of others."""
    reached = known[0].copy()
    while not reached.all():
        more = known[known[:, reached].any(axis=1)].any(axis=0)
        if (more == reached).all():
            return False
        reached = more
    return True


def _placed(found: Additive, values: NDArray[np.float64], costs: NDArray[np.float64]) -> Additive:
    """Return the statistics of values (n, m) with estimates that large costs of some do not move.

    By least squares, a large cost makes its block look hard, and whoever was eliminated soon after
    it look good. The estimates are those of weighted least squares if candidates are not equally
    noisy; how uncertain they are stays as it is, since a large cost may also hit the
    others.
    """
    design = found.design
    relative = unequal_noise(values, design.known, costs)
    if relative is None:
        return found
    weighted = Design.of(design.known, relative)
    seen = weighted.by_candidate
    size = np.sqrt(np.where(seen > 0.0, seen, 1.0))
    laplacian = weighted.precision / np.outer(size, size) + _RIDGE * np.eye(len(size))
    effects = np.linalg.solve(laplacian, weighted.fit(values).sums / size) / size
    sums = design.precision @ effects
    before, after = (float(s @ design.effects(s)) for s in (found.sums, sums))
    return found._replace(
        sums=sums, squares=max(found.squares - before, 0.0) + after, noise=relative
    )


def _with_noise(values: NDArray[np.float64], known: NDArray[np.bool_], noise: Noise) -> Additive:
    """Return the sufficient statistics of values (n, m), with a noise variance estimated elsewhere."""
    design = Design.of(known, noise.relative)
    found = design.fit(values)
    explained = float(found.sums @ design.effects(found.sums))
    freedom = max(round(noise.freedom), 1)
    squares = noise.variance * freedom + explained
    return found._replace(squares=squares, freedom=freedom + int(known.any(axis=0).sum()) - 1)
