"""A sampler's model of the finished trials of a study, and its proposals."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from optuna.trial import TrialState

from racer._numerics import as_costs, one_blas_thread, power_near
from racer.integrations.optuna.reports import is_feasible, values_of
from racer.integrations.optuna.search_space import Axes, Presence, joined
from racer.model.effects import Effects, effects
from racer.model.surrogate import Surrogate
from racer.space.vectors import features, vectors_around
from racer.tuner.drafts import NARROWEST, TRIES, WIDEST, Centres, drafts_around, is_alike, to_learn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

    from racer.integrations.optuna.search_space import Axis
    from racer.model.surrogate import Kernel


class Observation(NamedTuple):
    """Data of one finished trial; costs are +inf where a value is NaN or infinitely bad."""

    params: Mapping[str, Any]
    costs: Mapping[int, float]  # by instance, as they were reported
    final: float  # cost of the trial's own value; NaN without
    pruned: bool

    is_feasible: bool = True

    @property
    def failed(self) -> bool:
        """Whether it has no cost at all."""
        return not self.costs and math.isnan(self.final)


@dataclass(frozen=True)
class History:
    """All finished trials, in the order in which they were seen; never changed."""

    maximize: bool
    by_instance: bool  # steps are instances, and the values at them count
    observations: tuple[Observation, ...] = ()
    numbers: frozenset[int] = frozenset()  # of these trials
    # of all parameters that a trial with a cost had
    distributions: Mapping[str, BaseDistribution] = field(default_factory=dict)
    n_usable: int = 0
    n_infeasible: int = 0

    @property
    def free(self) -> dict[str, BaseDistribution]:
        """The distributions with more than one value."""
        return {name: d for name, d in self.distributions.items() if not d.single()}

    def extended(self, trials: Sequence[FrozenTrial]) -> History:
        """Return the history with the trials finished meanwhile, by number."""
        new = [t for t in trials if t.number not in self.numbers and t.state.is_finished()]
        if not new:
            return self
        observed = tuple(self._observation(trial) for trial in new)
        known = dict(self.distributions)
        for trial, observation in zip(new, observed, strict=True):
            if not observation.failed:
                for name, distribution in trial.distributions.items():
                    known[name] = joined(known.get(name, distribution), distribution)
        return History(
            self.maximize,
            self.by_instance,
            self.observations + observed,
            self.numbers | {trial.number for trial in new},
            dict(sorted(known.items())),
            self.n_usable + sum(not observation.failed for observation in observed),
            self.n_infeasible + sum(not observation.is_feasible for observation in observed),
        )

    def _observation(self, trial: FrozenTrial) -> Observation:
        fits = is_feasible(trial)
        if trial.state not in (TrialState.COMPLETE, TrialState.PRUNED) or not fits:
            return Observation(trial.params, {}, math.nan, pruned=False, is_feasible=fits)
        reported = values_of(trial) if self.by_instance else {}
        own = [] if trial.value is None else [trial.value]
        costs = as_costs(np.array([*reported.values(), *own]), maximize=self.maximize)
        costs = np.where(np.isnan(costs), np.inf, costs).tolist()
        final = costs.pop() if own else math.nan
        pruned = trial.state == TrialState.PRUNED
        by_step = dict(zip(reported, costs, strict=True))
        return Observation(trial.params, by_step, final, pruned)


def costs_of(observations: Sequence[Observation]) -> NDArray[np.float64]:
    """Return the costs of trials that have any: shape (instances, trials), NaN where unknown.

    Where some trials have no values on instances, there is one more row with the trials' own
    values, in which a pruned trial is at best as good as the median of the others. Rows without
    a finite cost are left out.
    """
    steps = sorted({step for o in observations for step in o.costs})
    rows = [[o.costs.get(step, math.nan) for o in observations] for step in steps]
    if not all(o.costs for o in observations):
        final = np.array([o.final for o in observations])
        pruned = np.array([o.pruned for o in observations])
        if not pruned.all():
            unit = power_near(final)  # or the mean of the two in the middle may overflow
            usual = unit * np.nanmedian(np.where(pruned, np.nan, final / unit))
            final = np.where(pruned, np.maximum(final, usual), final)
        rows.append(final.tolist())
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(observations))
    finite = np.isfinite(table)
    table, finite = table[finite.any(axis=1)], finite[finite.any(axis=1)]
    best = np.min(table, axis=1, where=finite, initial=np.inf, keepdims=True)
    return np.asarray(np.where(np.isneginf(table), best, table))


class Form(NamedTuple):
    """The part that is fitted only now and then: a function of the first `trials` trials alone."""

    trials: int
    kernel: Kernel
    presence: Presence


class Model:
    """The elites of a study's trials and a surrogate of costs; `last` lends unchanged parts."""

    axes: Axes
    vectors: NDArray[np.float64]  # (trials, d)
    form: Form

    def __init__(
        self,
        observations: Sequence[Observation],
        distributions: Mapping[str, BaseDistribution],
        n_startup: int,
        last: Model | None = None,
    ) -> None:
        self.trials: int = len(observations)
        if last is not None and last.axes.distributions == distributions:
            self.axes, done = last.axes, last.vectors
        else:
            self.axes, done, last = Axes(distributions), np.empty((0, len(distributions))), None
        rest = [self.axes.encode(observation.params) for observation in observations[len(done) :]]
        self.vectors = np.concatenate([done, np.reshape(rest, (len(rest), len(self.axes)))])
        known = _known(observations)
        with one_blas_thread():
            self.form = self._formed(observations, None if last is None else last.form)
            chosen, self._surrogate = self._fitted(known, self.vectors, self.form.kernel)
        expected = self._surrogate.posterior
        n_usable = sum(not observation.failed for observation in observations)
        expected[[observations[i].failed for i in chosen.tolist()]] = math.inf
        free = sum(not d.single() for d in distributions.values())
        n_elites = min(2 + int(math.log2(max(free, 1))), n_usable)
        best = chosen[expected.argsort(kind="stable")[:n_elites]]
        self._elites = self.vectors[best]
        self._elite_params = [observations[i].params for i in best.tolist()]
        # with 1/n in any dimension: a few drafts find better ones only where they are near
        self.spread: float = max(WIDEST * min(n_startup / n_usable, 1.0), NARROWEST)

    def propose(
        self, rng: np.random.Generator, others: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return a configuration around the elites that is neither tried nor one of `others`."""
        taken = np.array([*self.vectors, *map(self.axes.encode, others)])
        spread = self.spread
        # half of the proposals are from a wider neighbourhood, of any width up to the widest
        if rng.random() < 0.5:
            spread = WIDEST * (spread / WIDEST) ** rng.random()
        spreads = np.full(len(self._elites), spread)
        while True:
            near = Centres(self._elites, spreads, len(spreads))
            drafts = drafts_around(
                near, 1, self.axes.choices, self._present, self._surrogate, rng
            ).vectors[0]
            found = self._first_new(drafts[:TRIES], taken)
            if found is not None:
                return found
            if spreads[0] >= WIDEST:
                break
            spreads = np.minimum(spreads * 2.0, WIDEST)
        # these come before a configuration is repeated
        anywhere = rng.random((100, len(self.axes)))
        found = self._first_new(anywhere, taken)
        return self.axes.decode(drafts[0]) if found is None else found

    def _first_new(
        self, drafts: NDArray[np.float64], taken: NDArray[np.float64]
    ) -> dict[str, Any] | None:
        """Return the first draft that is not nearly the same as a taken configuration."""
        for draft, present in zip(drafts, self._present(drafts), strict=True):
            config = self.axes.decode(draft)
            if not is_alike(np.where(present, self.axes.encode(config), np.nan), taken):
                return config
        return None

    def _present(self, vectors: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.form.presence(vectors, self._elites[0])

    def place_of_one(self, name: str, axis: Axis, rng: np.random.Generator) -> float | None:
        """Return a fraction of the range of one parameter near an elite's; None if none has it."""
        places = [axis.encode(p[name]) if name in p else math.nan for p in self._elite_params]
        have = np.flatnonzero(~np.isnan(places))
        if not len(have):
            return None
        weights = len(places) - have
        middle = np.array([[places[rng.choice(have, p=weights / weights.sum())]]])
        choices = np.array([axis.n_choices])
        return float(vectors_around(middle, np.array([self.spread]), choices, rng)[0, 0])

    def _formed(self, observations: Sequence[Observation], last: Form | None) -> Form:
        # a kernel is searched for more rarely than a model is made
        n = settled(observations, 1.5)
        if last is not None and last.trials == n:
            return last
        first, vectors = observations[:n], self.vectors[:n]
        usable = np.array([not observation.failed for observation in first], dtype=bool)
        presence = Presence(vectors[usable], [axis.n_few for axis in self.axes.axes.values()])
        _, surrogate = self._fitted(_known(first), vectors, None)
        return Form(n, surrogate.kernel, presence)

    def _fitted(
        self, known: Effects, vectors: NDArray[np.float64], kernel: Kernel | None
    ) -> tuple[NDArray[np.intp], Surrogate]:
        """Return the positions of the trials that a surrogate is fitted to, and the surrogate."""
        chosen = to_learn(known.value, np.empty(0, dtype=np.intp))
        learnt = Effects(known.value[chosen], known.variance[chosen])
        points = features(vectors[chosen], self.axes.choices)
        return chosen, Surrogate(points, learnt, kernel, search=kernel is None)


def settled(observations: Sequence[Observation], growth: float = 1.02) -> int:
    """Return how many observations a model is made of: more once they have grown enough."""
    usable = [at for at, observation in enumerate(observations, start=1) if not observation.failed]
    n = 8
    while (after := math.ceil(n * growth)) <= len(usable):
        n = after
    return usable[min(n, len(usable)) - 1]


def _known(observations: Sequence[Observation]) -> Effects:
    """Return the effects of all trials; a failed one counts as a single value, the worst."""
    usable = np.array([not observation.failed for observation in observations], dtype=bool)
    costs = costs_of([observation for observation in observations if not observation.failed])
    nothing = Effects(np.zeros(costs.shape[1]), np.ones(costs.shape[1]))  # all costs are +inf
    some = effects(costs) if len(costs) else nothing
    value, variance = np.empty(len(observations)), np.empty(len(observations))
    value[usable], variance[usable] = some
    value[~usable] = some.value.max()
    variance[~usable] = max(float(some.value.var()), 1e-12)
    return Effects(value, variance)
