"""Log-densities for the engine: strengths after Bradley and Terry, weights after Plackett and Luce.

u are the K - 1 coordinates of the strengths beta in the sum-to-zero space, u ~ Normal(0, sigma^2),
sigma = exp(tau). With H the likelihood's curvature, v = (H + I/sigma^2)^(1/2) (u - u0): the
symmetric root, so that no sign or rotation of eigenvectors, which differ by processor, reaches v.

Rankings are choices: each place is won by one of the items still at risk. log P = sum_i c_i eta_i -
sum_s m_s log sum_j R_sj exp(eta_j), eta = log w: c counts how often each was chosen, the rows of R
are the sets at risk, m how often each was chosen from.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from racer._numerics import with_ties
from racer.stats._sampling.model import newton
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

SigmaPrior = Literal["lognormal", "cauchy", "normal"]
SCALES: dict[SigmaPrior, float] = {"lognormal": 0.5, "cauchy": 1.0, "normal": 3.0}
LOG_NU_SCALE = 2.0  # between equals, P(tie) of 1 % to 96 %


@dataclass(frozen=True)
class ScalePrior:
    """Prior of sigma: lognormal(0, scale), or half of a Cauchy or normal law of that scale."""

    kind: SigmaPrior
    scale: float

    def __call__(self, xi: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log sigma at the quantile that xi has in N(0, 1), and its slope."""
        from scipy.special import ndtr, ndtri  # noqa: PLC0415

        if self.kind == "lognormal":
            return self.scale * xi, np.full_like(xi, self.scale)
        density = np.exp(-0.5 * xi**2) / np.sqrt(2.0 * np.pi)
        if self.kind == "cauchy":
            # by the smaller tail, which keeps its digits; the larger follows by symmetry
            angle = np.pi * ndtr(-np.abs(xi))
            tau = np.log(self.scale) - np.sign(xi) * np.log(np.tan(angle / 2.0))
            return tau, np.pi * density / np.sin(angle)
        # far below, 1 - P loses all digits: there the quantile of |Z| is proportional to P
        ratio = np.where(
            xi < -5.0, np.sqrt(np.pi / 2.0) * ndtr(xi), -ndtri(ndtr(-np.maximum(xi, -5.5)) / 2.0)
        )
        slope = density * np.sqrt(np.pi / 2.0) * np.exp(0.5 * ratio**2) / ratio
        return np.log(self.scale * ratio), slope


class Likelihood:
    """Wins and ties, (K, K), of K candidates as a function of beta and, with ties, of log nu.

    P(i beats j) = e_i / S, P(tie) = nu sqrt(e_i e_j) / S, S = e_i + e_j + nu sqrt(e_i e_j) with
    e = exp(beta) (Davidson 1970); nu = 0 is Bradley and Terry's model.
    """

    def __init__(self, wins: NDArray[np.float64], ties: NDArray[np.float64]) -> None:
        self.met = wins + wins.T + ties
        self.scores = wins.sum(axis=1) + ties.sum(axis=1) / 2.0
        self.tied = float(ties.sum()) / 2.0
        self._first, self._second = np.nonzero(np.triu(self.met, 1))
        self._weights = self.met[self._first, self._second]

    def log_likelihood(
        self, beta: NDArray[np.float64], nu: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the log-likelihood, up to a constant, at beta (k, K) and nu (k, 1)."""
        # a common shift of strengths changes no probability, and keeps exp from overflowing
        beta = beta - beta.max(axis=1, keepdims=True)
        e = np.exp(beta)
        total = e[:, self._first]
        total += e[:, self._second]
        value = beta @ self.scores
        if self.tied:
            half = np.exp(beta / 2.0)
            total += nu * half[:, self._first] * half[:, self._second]
            value += self.tied * np.log(nu[:, 0])
        return np.asarray(value - np.log(total, out=total) @ self._weights)

    def slopes(
        self, beta: NDArray[np.float64], nu: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log-likelihood's gradients with respect to beta (k, K) and log nu (k,)."""
        half = np.exp((beta - beta.max(axis=1, keepdims=True)) / 2.0)
        e = half**2
        total = e[:, :, None] + e[:, None, :]
        if not self.tied:
            return self.scores - e * np.divide(self.met, total, out=total).sum(axis=2), nu[:, 0]
        both = nu[..., None] * half[:, :, None] * half[:, None, :]
        rate = self.met / (total + both)
        drawn = (rate * both).sum(axis=2)
        won = e * rate.sum(axis=2) + drawn / 2.0
        return self.scores - won, self.tied - drawn.sum(axis=1) / 2.0

    def curvature(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus the log-likelihood's Hessian in beta at one point, (K, K), ties half."""
        p = 1.0 / (1.0 + np.exp(beta[None, :] - beta[:, None]))
        weights = self.met * p * (1.0 - p)
        return np.asarray(np.diag(weights.sum(axis=1)) - weights)


class StrengthModel:
    """Posterior of (v, xi) or, with ties, of (v, xi, log nu), log nu ~ Normal(0, 2).

    `trust` is the fraction of the likelihood's curvature that v takes into account. The
    likelihood is of `parts` @ beta, where they are given.
    """

    def __init__(
        self,
        likelihood: Likelihood,
        prior: ScalePrior,
        trust: float = 1.0,
        parts: NDArray[np.float64] | None = None,
    ) -> None:
        self._likelihood, self._prior = likelihood, prior
        space = sum_to_zero(len(likelihood.scores) if parts is None else parts.shape[1])
        basis = space if parts is None else parts @ space
        self._d = basis.shape[1]
        self.start: NDArray[np.float64] = np.zeros(self._d + (2 if likelihood.tied else 1))
        mode = rough_mode(likelihood, basis)
        beta = basis @ mode
        h, axes = np.linalg.eigh(basis.T @ likelihood.curvature(beta) @ basis)
        self._turn = axes  # (d, d): from v to the principal axes of the curvature
        self._axes = basis @ axes
        slope = likelihood.slopes(beta[None], np.ones((1, 1)))[0][0]
        self._h = trust * np.maximum(h, 0.0)
        self._b = self._h * ((space @ axes).T @ (space @ mode)) + trust * (self._axes.T @ slope)

    def strengths(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return beta, shape (k, K)."""
        return np.asarray(self._u(points) @ self._axes.T)

    def sigma(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sigma, shape (k,)."""
        return np.asarray(np.exp(self._prior(points[:, self._d])[0]))

    def nu(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return nu, shape (k, 1), 0 where there are no ties."""
        if not self._likelihood.tied:
            return np.zeros((len(points), 1))
        return np.asarray(np.exp(points[:, self._d + 1 :]))

    def _u(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return u along the principal axes, shape (k, d)."""
        precision = self._h + np.exp(-2.0 * self._prior(points[:, self._d, None])[0])
        turned = points[:, : self._d] @ self._turn
        return np.asarray(self._b / precision + turned / np.sqrt(precision))

    def log_density(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-density at points (k, d), shape (k,)."""
        xi, u = points[:, self._d], self._u(points)
        tau = self._prior(xi)[0]
        q = np.exp(-2.0 * tau)
        value = self._likelihood.log_likelihood(u @ self._axes.T, self.nu(points))
        value -= 0.5 * q * (u**2).sum(axis=1) + self._d * tau + 0.5 * xi**2
        value -= 0.5 * np.log(self._h + q[:, None]).sum(axis=1)  # du/dv
        if self._likelihood.tied:
            value -= 0.5 * (points[:, self._d + 1] / LOG_NU_SCALE) ** 2
        return np.asarray(value)

    def gradient(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-density's gradient, shape (k, d)."""
        xi, u = points[:, self._d], self._u(points)
        tau, by_xi = self._prior(xi)
        q = np.exp(-2.0 * tau)[:, None]
        precision = self._h + q
        by_beta, by_nu = self._likelihood.slopes(u @ self._axes.T, self.nu(points))
        by_u = by_beta @ self._axes - q * u
        slope = np.empty_like(points)
        slope[:, : self._d] = (by_u / np.sqrt(precision)) @ self._turn.T
        moved = (u + self._b / precision) * q / precision  # du/dtau
        by_tau = (by_u * moved + q * u**2 + q / precision).sum(axis=1) - self._d
        slope[:, self._d] = by_tau * by_xi - xi
        if self._likelihood.tied:
            slope[:, self._d + 1] = by_nu - points[:, self._d + 1] / LOG_NU_SCALE**2
        return slope


def sum_to_zero(k: int) -> NDArray[np.float64]:
    """Return an orthonormal basis of the vectors of k numbers that sum to zero, (k, k - 1)."""
    from scipy.linalg import helmert  # noqa: PLC0415

    return np.asarray(helmert(k).T)


def rough_mode(likelihood: Likelihood, basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return u near its mode at sigma = 1, by Newton steps that move no beta by more than 2."""

    def gradient(u: NDArray[np.float64]) -> NDArray[np.float64]:
        slopes, _ = likelihood.slopes((basis @ u)[None], np.ones((1, 1)))
        return np.asarray(slopes[0] @ basis - u)

    def precision(u: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(basis.T @ likelihood.curvature(basis @ u) @ basis + np.eye(len(u)))

    def at_most_2(
        u: NDArray[np.float64],  # noqa: ARG001
        step: NDArray[np.float64],
        gain: float,  # noqa: ARG001
    ) -> NDArray[np.float64]:
        return step * min(1.0, 2.0 / max(float(np.abs(basis @ step).max()), 1e-300))

    start = np.zeros(basis.shape[1])
    return newton(start, gradient, precision, at_most_2, steps=20, least_gain=1e-6)


class Choices(NamedTuple):
    """Sums over all choices: times chosen (K,), sets at risk (S, K), how often (S,)."""

    chosen: NDArray[np.float64]
    at_risk: NDArray[np.float64]
    times: NDArray[np.float64]


class Ranking(NamedTuple):
    """Groups of items from the best on, tied within a group, and the `rest` after all groups."""

    groups: list[NDArray[np.intp]]
    rest: NDArray[np.intp]


def median_of_runs(runs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of the known runs, (n, r, K) to (n, 1, K)."""
    known = (~np.isnan(runs)).sum(axis=1, keepdims=True)
    ordered = np.sort(runs, axis=1)  # NaN last
    low, high = (np.take_along_axis(ordered, at, 1) for at in (abs(known - 1) // 2, known // 2))
    with np.errstate(invalid="ignore"):  # half-way between -inf and inf: unknown
        return np.where(low == high, low, low / 2.0 + high / 2.0)


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


def pooled(
    costs: NDArray[np.float64], tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the different rankings in rows of costs, as costs of their own, and how often each comes."""
    ranks = ranks_of(np.where(np.isnan(costs), np.inf, with_ties(costs, tolerance)))
    ranks[np.isposinf(costs)], ranks[np.isnan(costs)] = np.inf, -1.0
    rows, times = np.unique(ranks, axis=0, return_counts=True)
    return np.where(rows < 0.0, np.nan, rows), times


def gather(rankings: Iterable[Ranking], k: int, times: Iterable[int] = repeat(1)) -> Choices:
    """Return the choices in counted rankings of k items or fewer, ties by Efron's rule."""
    chosen, counts = np.zeros(k), Counter[bytes]()
    for ranking, often in zip(rankings, times, strict=False):
        risk = np.zeros(k)
        risk[np.concatenate([*ranking.groups, ranking.rest])] = 1.0
        left = int(risk.sum())
        for group in ranking.groups:
            if left < 2:  # the last one left is not chosen from others
                break
            g = len(group)
            sets = np.repeat(risk[None], g, axis=0)
            # Efron (1977): of g tied items, the r-th choice leaves r/g of the group out, r from 0
            sets[:, group] -= (np.arange(g) / g)[:, None]
            for row in sets:
                counts[row.tobytes()] += often
            chosen[group] += often
            risk[group] = 0.0
            left -= g
    sets = np.frombuffer(b"".join(counts)).reshape(-1, k)
    at_risk, place = np.unique(sets, axis=0, return_index=True)
    return Choices(chosen, at_risk, np.array([*counts.values()], dtype=np.float64)[place])


class ChoiceModel:
    """Posterior of log weights, in the sum-to-zero space, under Dirichlet(alpha), alpha (K,).

    With w = softmax(eta), w ~ Dirichlet(alpha) has density prod w_i^alpha_i in eta.
    """

    def __init__(self, choices: Choices, alpha: NDArray[np.float64]) -> None:
        k = len(alpha)
        self._basis = sum_to_zero(k)
        self._chosen = choices.chosen + alpha
        # the prior has the form of sum(alpha) more choices from all, item i chosen alpha_i times
        self._at_risk = np.concatenate([choices.at_risk, np.ones((1, k))])
        self._times = np.append(choices.times, alpha.sum())
        self.start: NDArray[np.float64] = self._basis.T @ np.log(self._chosen / self._chosen.sum())

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
