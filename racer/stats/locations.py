"""The posterior of what candidates are expected to cost: a mixture over their prior spread."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.stats.additive import additive_fit
from racer.stats.failing import failing_at
from racer.stats.ratios import log_costs, mean_factors, without_short
from racer.stats.smallest import Part, root_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.stats.additive import Additive, Strata
    from racer.stats.smallest import Failing

_HALF_CAUCHY = 0.25  # scale of the prior of the spread, in noise standard deviations
_ALL_EQUAL = 0.1  # its mass at no spread at all
_SPREADS = np.geomspace(1e-3, 1e9, 70)  # variances of candidates, relative to the noise
_NEGLIGIBLE = 2e-3  # weight of a spread
_GUESSED = 2.6  # the noise variance counts as so much more, where likeness is guessed by kernels
FAILURE = (50.0, 20.0)  # block spreads, and ranges of the candidates: a failure costs the larger
# Who is further behind the best, in standard deviations, with a noise variance of more than so many
# times the best's, is no measure of the others' noise.
_HOPELESS, _NOISIER = 2.0, 4.0


class Locations(NamedTuple):
    """The posterior of what candidates are expected to cost: a mixture, in units of `unit`."""

    parts: list[Part]
    freedom: int
    failing: Failing | None
    n_blocks: int
    unit: float
    noise: NDArray[np.float64] | None = None  # relative variances, (m,), if means of costs count

    @property
    def mean(self) -> NDArray[np.float64]:
        """The posterior means (m,), failures included."""
        mean = sum((part.weight * part.mean for part in self.parts), np.zeros(1))
        return np.asarray(mean if self.failing is None else mean + self.failing.mean)

    def is_hopeless(self, sought: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which candidates are far behind the best of those sought, and much noisier, (m,)."""
        if self.noise is None:
            return np.zeros(len(sought), dtype=np.bool_)
        mean = sum((part.weight * part.mean for part in self.parts), np.zeros(1))  # if none fails
        variance = np.zeros(len(mean))
        for part in self.parts:
            variance += part.weight * (part.covariance.diagonal() + (part.mean - mean) ** 2)
        best = np.where(sought, self.mean, np.inf).argmin()
        is_behind = mean - mean[best] > _HOPELESS * np.sqrt(variance + variance[best])
        return np.asarray(is_behind & (self.noise > _NOISIER * self.noise[best]))

    def of(self, some: NDArray[np.intp]) -> Locations:
        """Return the posterior of some of the candidates."""
        if len(some) == len(self.parts[0].mean):
            return self
        parts = [part.of(some) for part in self.parts]
        return self._replace(
            parts=parts, failing=None if self.failing is None else self.failing.of(some)
        )

    def drawn(
        self, points: NDArray[np.float64], scale: NDArray[np.float64], near: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return locations of the candidates `near` at normal points (k, p), part by part.

        Student's t are normal points over a common `scale` (p,). Failures are left out.
        """
        p = points.shape[1]
        ends = (p * np.cumsum([part.weight for part in self.parts])).round().astype(np.intp)
        drawn = np.empty(points.shape)
        first = 0
        for part, end in zip(self.parts, [*ends[:-1], p], strict=True):
            root = root_of(part.covariance[np.ix_(near, near)])
            here = slice(first, end)
            drawn[:, here] = root @ points[:, here] / scale[here] + part.mean[near, None]
            first = end
        return drawn


def locations(
    costs: NDArray[np.float64],
    *,
    by_block: bool,
    ratios: bool = False,
    penalty: float | None = None,
    correlation: float,
    n_blocks: int | None,
    strata: Strata | None = None,
    kernels: NDArray[np.float64] | None = None,
) -> Locations:
    """Return the posterior of `best_posterior` for costs (n, m), +inf where a cell failed.

    With `ratios` it is one of the logarithms of mean costs. With a `penalty`, failures cost that.
    """
    seen = (~np.isnan(costs)).sum(axis=0)
    all_blocks = np.inf if n_blocks is None else n_blocks
    logs = log_costs(costs) if ratios else costs
    costs = without_short(logs) if ratios else costs
    shared = correlation / (1.0 - correlation)
    additive = additive_fit(costs, by_block=by_block and not ratios, shared=shared, strata=strata)
    if kernels is not None and by_block and not ratios:
        additive = additive._replace(inflation=_GUESSED * additive.inflation)
    roots = [None] if kernels is None else [root_of(_of_unit_spread(k)) for k in kernels]
    parts = _posteriors(additive, shared, seen, all_blocks, roots)
    moved = additive.moved
    if kernels is not None and moved.any():  # unseen candidates go with the most similar ones
        is_seen = additive.design.by_candidate > 0.0
        alike = np.where(is_seen, sum(root @ root.T for root in roots if root is not None), -np.inf)
        moved = np.where(is_seen, moved, moved[alike.argmax(axis=1)])
    if ratios:
        factors, variance = mean_factors(logs, costs, 1.0 - seen / all_blocks)
        moved = moved + factors / additive.unit
        parts = [part.with_noise(variance / additive.unit**2) for part in parts]
    parts = [part._replace(mean=part.mean + moved) for part in parts]
    mean = sum((part.weight * part.mean for part in parts), np.zeros(costs.shape[1]))
    price = failure_price(mean)
    if penalty is not None:
        price = (penalty - float(costs[np.isfinite(costs)].mean())) / additive.unit
    failing = failing_at(price, costs, kernels, may_be_chance=n_blocks is None)
    whole = (parts, additive.freedom, failing, additive.n_blocks, additive.unit)
    return Locations(*whole, None if ratios else additive.noise)


def failure_price(means: NDArray[np.float64]) -> float:
    """Return what a failure costs beside candidates of these means (m,), in units of a block."""
    return max(FAILURE[0], FAILURE[1] * float(np.ptp(means)))


def _of_unit_spread(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale a covariance (m, m) to a variance of 1 between candidates."""
    m = len(covariance)
    spread = (float(np.trace(covariance)) - float(covariance.sum()) / m) / max(m - 1, 1)
    return covariance / spread if spread > 0.0 else np.eye(m)


class _Axes(NamedTuple):
    """Directions along which candidates are independent, with the statistics projected on them."""

    basis: NDArray[np.float64]  # (m, m)
    precisions: NDArray[np.float64]  # (m,)
    along: NDArray[np.float64]  # sums, (m,)
    least: float  # bound of the prior covariance's eigenvalues (Gershgorin)

    @classmethod
    def of(cls, found: Additive, root: NDArray[np.float64] | None) -> _Axes:
        """Return the axes of a prior covariance with this root; None: the identity."""
        if root is None:
            values, basis = found.design.axes
            least = 1.0
        else:
            values, vectors = np.linalg.eigh(root.T @ found.design.precision @ root)
            basis = root @ vectors
            prior = np.abs(root @ root.T)
            least = max(float((2.0 * np.diag(prior) - prior.sum(axis=1)).min()), 0.0)
        return cls(basis, np.maximum(values, 0.0), basis.T @ found.sums, least)


def _posteriors(
    found: Additive,
    shared: float,
    seen: NDArray[np.intp],
    n_blocks: float,
    roots: Sequence[NDArray[np.float64] | None],
) -> list[Part]:
    """Return the posteriors under each prior covariance and each spread that has a weight.

    `shared`: variance common to the blocks of one data set, relative to the noise; `seen` (m,):
    blocks per candidate, of `n_blocks`; `roots`: square roots of the prior covariances.
    """
    m = len(found.sums)
    if found.squares <= 0.0:
        return [Part(1.0, np.zeros(m), np.zeros((m, m)))]
    spreads = np.concatenate([[0.0], _SPREADS])
    prior = (spreads + shared)[:, None]  # variance of what is seen of a candidate
    axes = [_Axes.of(found, root) for root in roots]
    shrinkage = np.array([prior / (1.0 + prior * one.precisions) for one in axes])
    along = np.array([[one.along] for one in axes])
    squares = found.squares - (shrinkage * along**2).sum(axis=2)
    squares = np.maximum(squares, 1e-18 * found.squares)
    fit = np.array([-0.5 * np.log1p(prior * one.precisions).sum(axis=1) for one in axes])
    fit -= 0.5 * found.freedom * np.log(squares)
    fit += np.log(_spread_prior())
    weights = np.exp(fit - fit.max())
    weights[weights < _NEGLIGIBLE * weights.sum()] = 0.0
    weights /= weights.sum()
    ahead = 1.0 - seen / n_blocks  # the share of the blocks that is not known
    observed = found.design.effects(found.sums) if n_blocks < np.inf else 0.0
    parts = []
    for of, at in np.argwhere(weights).tolist():
        basis, rest = axes[of].basis, shrinkage[of, at]
        noise = squares[of, at] * found.inflation / found.freedom
        kept = spreads[at] / (spreads[at] + shared) if spreads[at] else 0.0
        mean = kept * (basis @ (rest * axes[of].along))
        covariance = noise * kept**2 * (basis * rest) @ basis.T
        least = axes[of].least * prior[at]
        own = noise * kept**2 * least / (1.0 + least * found.design.by_candidate)
        if shared:
            covariance += noise * kept * shared * np.eye(m)
            own += noise * kept * shared
        if n_blocks < np.inf:
            mean = (1.0 - ahead) * observed + ahead * mean
            covariance = covariance * np.outer(ahead, ahead) + np.diag(noise * ahead / n_blocks)
            own = ahead**2 * own + noise * ahead / n_blocks
        parts.append(
            Part(float(weights[of, at]), mean, covariance, float(spreads[at] * noise), own)
        )
    return parts


@lru_cache(maxsize=1)
def _spread_prior() -> NDArray[np.float64]:
    """Return the prior masses of no spread and of `_SPREADS`."""
    roots = np.sqrt(_SPREADS)
    edges = np.concatenate([[0.0], np.sqrt(roots[1:] * roots[:-1]), [1.2 * roots[-1]]])
    masses = np.diff(np.arctan(edges / _HALF_CAUCHY))
    return np.concatenate([[_ALL_EQUAL], (1.0 - _ALL_EQUAL) * masses / masses.sum()])
