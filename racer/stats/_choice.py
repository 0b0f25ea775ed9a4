"""The likelihood of rankings as choices: each place is won out of those still at risk.

log P = sum_i c_i eta_i - sum_s m_s log sum_j R_sj exp(eta_j), eta = log w: c counts how often each
was chosen, the rows of R are the sets at risk, m how often each was chosen from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._numerics import with_ties
from racer.stats._strength import sum_to_zero

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


class Choices(NamedTuple):
    """Sums over all choices: times chosen (K,), sets at risk (S, K), how often (S,)."""

    chosen: NDArray[np.float64]
    at_risk: NDArray[np.float64]
    times: NDArray[np.float64]


class Ranking(NamedTuple):
    """Groups of items from the best on, tied within a group, and the `rest` after all groups."""

    groups: list[NDArray[np.intp]]
    rest: NDArray[np.intp]

    @property
    def present(self) -> NDArray[np.intp]:
        """All items in it."""
        return np.concatenate([*self.groups, self.rest])


def median_of_runs(runs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of the known runs, (n, r, K) to (n, 1, K)."""
    n, _, k = runs.shape
    table = np.full((n, 1, k), np.nan)
    for block, column in np.ndindex(n, k):
        known = runs[block, :, column]
        known = np.sort(known[~np.isnan(known)])
        if len(known):
            low, high = known[(len(known) - 1) // 2], known[len(known) // 2]
            with np.errstate(invalid="ignore"):  # half-way between -inf and inf: unknown
                table[block, 0, column] = low if low == high else low / 2.0 + high / 2.0
    return table


def rank_costs(
    costs: NDArray[np.float64], tolerance: float, rng: np.random.Generator | None
) -> Ranking:
    """Return the ranking of the algorithms present; ties broken by `rng` where there is one."""
    present = np.flatnonzero(~np.isnan(costs))
    failed = present[np.isposinf(costs[present])]
    solved = present[~np.isposinf(costs[present])]
    solved = solved[np.argsort(costs[solved], kind="stable")]
    values = with_ties(costs[None, solved], tolerance)[0]
    apart = values[1:] > values[:-1]
    groups = np.split(solved, np.flatnonzero(apart) + 1) if len(solved) else []
    if rng is not None:
        groups = [np.array([i]) for group in groups for i in rng.permutation(group)]
    return Ranking(groups, failed)


def gather(rankings: Iterable[Ranking], k: int) -> Choices:
    """Return the choices in rankings of some of k items, ties by Efron's rule."""
    chosen, rows = np.zeros(k), [np.empty((0, k))]
    for ranking in rankings:
        present = ranking.present
        risk = np.zeros(k)
        risk[present] = 1.0
        left = len(present)
        for group in ranking.groups:
            if left < 2:  # the last one left is not chosen from others
                break
            g = len(group)
            sets = np.repeat(risk[None], g, axis=0)
            sets[:, group] -= (np.arange(g) / g)[:, None]
            rows.append(sets)
            chosen[group] += 1.0
            risk[group] = 0.0
            left -= g
    at_risk, place = np.unique(np.concatenate(rows), axis=0, return_inverse=True)
    times = np.bincount(place.ravel(), minlength=len(at_risk)).astype(np.float64)
    return Choices(chosen, at_risk, times)


class ChoiceModel:
    """Posterior of log weights, in the sum-to-zero space, under Dirichlet(alpha), alpha (K,).

    With w = softmax(eta), w ~ Dirichlet(alpha) has density prod w_i^alpha_i in eta.
    """

    def __init__(self, choices: Choices, alpha: NDArray[np.float64]) -> None:
        k = len(alpha)
        self._basis = sum_to_zero(k)
        self._chosen = choices.chosen + alpha
        self._at_risk = np.concatenate([choices.at_risk, np.ones((1, k))])
        self._times = np.append(choices.times, alpha.sum())
        self.start = self._basis.T @ np.log(self._chosen / self._chosen.sum())

    def log_weights(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return eta less its largest, shape (k, K)."""
        eta = points @ self._basis.T
        return np.asarray(eta - eta.max(axis=1, keepdims=True))

    def log_density(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-density at points (k, d), shape (k,)."""
        eta = self.log_weights(points)
        total = np.exp(eta) @ self._at_risk.T
        return np.asarray(eta @ self._chosen - np.log(total, out=total) @ self._times)

    def gradient(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its gradient, shape (k, d)."""
        e = np.exp(self.log_weights(points))
        rate = (self._times / (e @ self._at_risk.T)) @ self._at_risk
        return np.asarray((self._chosen - e * rate) @ self._basis)

    def precision(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus its Hessian at one point, shape (d, d)."""
        chance = self._at_risk * np.exp(self.log_weights(point[None])[0])
        chance /= chance.sum(axis=1, keepdims=True)
        expected = chance * self._times[:, None]
        spread = np.diag(expected.sum(axis=0)) - chance.T @ expected
        return np.asarray(self._basis.T @ spread @ self._basis)
