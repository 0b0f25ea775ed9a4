"""Goals of several metrics: a surrogate of each, and views of all of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer._numerics import one_blas_thread
from racer.deciders.parts.several import FAILED, best_first
from racer.model.effects import Effects, effects, natural_effects, unit_near
from racer.model.surrogate import Correlations, Surrogate
from racer.seeding import rng_for
from racer.tuner.drafts import to_learn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from racer.deciders.decider import Goal
    from racer.model.surrogate import Kernel

    Floats = NDArray[np.float64]

_VIEWS = 8  # weights of the metrics, of the children of a race
_SUM = 0.05  # of the weighted sum, beside the largest weighted metric
_PENALTY = 4.0  # of a limit exceeded by one range of its metric


class View(NamedTuple):
    """One way to weigh the metrics: a surrogate of the weighted whole, and the costs that it gives.

    With weights (d,): the augmented Tchebycheff norm (Knowles 2006, ParEGO). Without: the first metric,
    and the others' excess over their limits.
    """

    surrogates: tuple[Surrogate, ...]
    low: Floats
    span: Floats
    weights: Floats | None
    limits: Floats

    def __call__(self, features: Floats) -> Floats:
        """Return the weighted whole by posterior means, (k,), at features (k, d, 2)."""
        return self.whole(np.stack([s(features) for s in self.surrogates], axis=1))

    def lower_bound(self, features: Floats) -> Floats:
        """Return it by means less their standard deviations."""
        return self.whole(np.stack([s.lower_bound(features) for s in self.surrogates], axis=1))

    def whole(self, costs: Floats) -> Floats:
        """Return the weighted whole of costs (k, d)."""
        if self.weights is None:
            over = np.maximum((costs[:, 1:] - self.limits) / self.span[1:], 0.0)
            price = (costs[:, 0] - self.low[0]) / self.span[0]
            return np.asarray(price + _PENALTY * over.sum(axis=1))
        weighted = self.weights * (costs - self.low) / self.span
        return np.asarray(weighted.max(axis=1) + _SUM * weighted.sum(axis=1))


@dataclass
class GoalModel:
    """Surrogates of the metrics of a tuning; `views` guide the drafts of the next children."""

    goal: Goal
    seed: int
    views: list[View] = field(default_factory=list)
    kernels: list[Kernel | None] = field(default_factory=list)
    correlations: Correlations | None = None  # of the candidates that were learnt from last
    costs: dict[int, Floats] = field(default_factory=dict)  # by candidate, (d,), in views' units
    n_fits: int = 0

    def ranked(
        self,
        candidates: NDArray[np.intp],
        costs: Floats,
        present: Sequence[int],
        length: int | None,
        features_of: Callable[[NDArray[np.intp]], Floats],
    ) -> list[int]:
        """Learn from costs (d, n, m) of candidates (m,), ascending; return `present`, best first."""
        if self.goal.kind == "front":
            goal, known = self.goal, [effects(table, length) for table in costs]
        else:  # in units of their own, as the model's least spreads are absolute
            units = np.array([unit_near(table) for table in costs])
            goal = replace(self.goal, limits=tuple((self.goal.limits / units[1:]).tolist()))
            tables = zip(costs, units, strict=True)
            known = [natural_effects(table / unit, length, ranges=FAILED) for table, unit in tables]
        values = np.stack([found.value for found in known], axis=1)
        at = np.searchsorted(candidates, present)
        places = np.empty(len(values))
        places[best_first(goal, values)] = np.arange(len(values))
        chosen = to_learn(places, at)
        points = features_of(candidates[chosen])
        kernels = self.kernels or [None] * len(known)
        learnt = [Effects(found.value[chosen], found.variance[chosen]) for found in known]
        with one_blas_thread():
            self.correlations = like = Correlations(points, self.correlations)
            surrogates = tuple(
                Surrogate(points, found, kernel, like)
                for found, kernel in zip(learnt, kernels, strict=True)
            )
            self.kernels = [surrogate.kernel for surrogate in surrogates]
            posterior = np.stack([surrogate.posterior for surrogate in surrogates], axis=1)
        for d, exact in enumerate(self.goal.exact):
            if exact:
                posterior[:, d] = values[chosen, d]
        self.costs = dict(zip(candidates[chosen].tolist(), posterior, strict=True))
        self._look(goal, surrogates, posterior)
        here = posterior[np.searchsorted(chosen, at)]
        return [present[i] for i in best_first(goal, here)]

    def _look(self, goal: Goal, surrogates: tuple[Surrogate, ...], posterior: Floats) -> None:
        """Choose the views of the next children, by a goal in the units of the posterior."""
        self.n_fits += 1
        d = posterior.shape[1]
        good = posterior[best_first(goal, posterior)[: max(len(posterior) // 2, 2)]]
        low = good.min(axis=0)
        span = np.maximum(np.ptp(good, axis=0), 1e-12)
        limits = np.array(goal.limits)
        if goal.kind != "front":
            if goal.kind == "within":
                limits = limits + posterior[:, 1:].min(axis=0)
            self.views = [View(surrogates, low, span, None, limits)]
            return
        rng = rng_for(self.seed, "views", self.n_fits)
        weights = rng.dirichlet(np.ones(d), size=_VIEWS)
        self.views = [View(surrogates, low, span, w, limits) for w in weights]

    def order(self, view: View, centres: Sequence[int]) -> NDArray[np.intp]:
        """Return the places of centres, best first by a view; unknown centres come last."""
        worst = np.full(len(view.low), np.inf)
        costs = np.stack([self.costs.get(c, worst) for c in centres])
        with np.errstate(invalid="ignore"):
            return np.argsort(np.nan_to_num(view.whole(costs), nan=np.inf), kind="stable")
