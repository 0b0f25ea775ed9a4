"""What a sampler has learnt from the trials of a study, and what it proposes next."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._numerics import one_blas_thread
from racer.integrations.optuna.axes import Axes
from racer.integrations.optuna.ledger import costs_of
from racer.integrations.optuna.presence import Presence
from racer.space.vectors import features, vectors_around
from racer.tuner.drafts import (
    NARROWEST,
    TRIES,
    WIDEST,
    drafts_around,
    is_alike,
    to_learn,
)
from racer.tuner.effects import Effects, effects
from racer.tuner.surrogate import Surrogate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from optuna.distributions import BaseDistribution

    from racer.integrations.optuna.axes import Axis
    from racer.integrations.optuna.ledger import Record
    from racer.tuner.surrogate import Kernel

__all__ = ["Model", "settled"]

_OFTEN = 1.02  # growth of the number of trials from one model to the next
_RARELY = 1.5  # the same from one search for a kernel to the next
_FIRST = 8  # trials
_LAST_TRIES = 100  # draws from everywhere before something is proposed again
_FARTHER = 0.5  # share of the proposals from a wider neighbourhood, of any width up to the widest


class Form(NamedTuple):
    """What is learnt only now and then: from the first so many trials, whoever asks when."""

    trials: int
    kernel: Kernel
    presence: Presence


class Model:
    """The elites among the trials of a study, and a surrogate of the costs of all others.

    Parameters
    ----------
    records : sequence of Record
        With a usable one at least.
    distributions : mapping
        The parameters to propose.
    n_startup : int
        Trials before this is used.
    last : Model, optional
        The one before, of which this one takes over what has not changed.

    Attributes
    ----------
    trials : int
        How many records it is made of.
    axes : Axes
    vectors : ndarray, shape (trials, d)
    form : Form
    spread : float
        Of the neighbourhood of the elites, as a share of the range.
    """

    axes: Axes
    vectors: NDArray[np.float64]
    form: Form

    def __init__(
        self,
        records: Sequence[Record],
        distributions: Mapping[str, BaseDistribution],
        n_startup: int,
        last: Model | None = None,
    ) -> None:
        self.trials = len(records)
        if last is not None and last.axes.distributions == distributions:
            self.axes, done = last.axes, last.vectors
        else:
            self.axes, done, last = Axes(distributions), np.empty((0, len(distributions))), None
        rest = [self.axes.encode(record.params) for record in records[len(done) :]]
        self.vectors = np.concatenate([done, np.reshape(rest, (len(rest), len(self.axes)))])
        known = _known(records)
        with one_blas_thread():
            self.form = self._formed(records, None if last is None else last.form)
            chosen, self._surrogate = self._fitted(known, self.vectors, self.form.kernel)
        expected = self._surrogate.posterior
        n_usable = sum(not record.failed for record in records)
        expected[[records[i].failed for i in chosen.tolist()]] = math.inf
        free = sum(not d.single() for d in distributions.values())
        n_elites = min(2 + int(math.log2(max(free, 1))), n_usable)
        best = chosen[expected.argsort(kind="stable")[:n_elites]]
        self._elites = self.vectors[best]
        self._elite_params = [records[i].params for i in best.tolist()]
        self.spread = _spread(n_usable, n_startup)

    def propose(
        self, rng: np.random.Generator, others: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return a configuration around the elites that has not been tried.

        Parameters
        ----------
        rng : Generator
        others : sequence of mapping
            More configurations that are not to be proposed.
        """
        taken = np.array([*self.vectors, *map(self.axes.encode, others)])
        spread = self.spread
        if rng.random() < _FARTHER:
            spread = WIDEST * (spread / WIDEST) ** rng.random()
        spreads = np.full(len(self._elites), spread)
        while True:
            drafts = drafts_around(
                self._elites,
                1,
                spreads,
                self.axes.choices,
                self._present,
                self._surrogate,
                taken,
                rng,
            ).vectors[0]
            found = self._first_new(drafts[:TRIES], taken)
            if found is not None:
                return found
            if spreads[0] >= WIDEST:
                break
            spreads = np.minimum(spreads * 2.0, WIDEST)
        anywhere = rng.random((_LAST_TRIES, len(self.axes)))
        found = self._first_new(anywhere, taken)
        return self.axes.decode(drafts[0]) if found is None else found

    def _first_new(
        self, drafts: NDArray[np.float64], taken: NDArray[np.float64]
    ) -> dict[str, Any] | None:
        """Return the first of some drafts that is not nearly the same as what there is."""
        for draft, present in zip(drafts, self._present(drafts), strict=True):
            config = self.axes.decode(draft)
            if not is_alike(np.where(present, self.axes.encode(config), np.nan), taken):
                return config
        return None

    def _present(self, vectors: NDArray[np.float64]) -> NDArray[np.bool_]:
        return self.form.presence(vectors, self._elites[0])

    def place_of_one(self, name: str, axis: Axis, rng: np.random.Generator) -> float | None:
        """Return where to take the value of one parameter: near an elite's.

        Parameters
        ----------
        name : str
        axis : Axis
            Of the values that it can have now.
        rng : Generator

        Returns
        -------
        float or None
            A share of its range; None if no elite has a value in it.
        """
        places = [axis.encode(p[name]) if name in p else math.nan for p in self._elite_params]
        have = np.flatnonzero(~np.isnan(places))
        if not len(have):
            return None
        weights = len(places) - have
        middle = np.array([[places[rng.choice(have, p=weights / weights.sum())]]])
        choices = np.array([axis.n_choices])
        return float(vectors_around(middle, np.array([self.spread]), choices, rng)[0, 0])

    def _formed(self, records: Sequence[Record], last: Form | None) -> Form:
        n = settled(records, _RARELY)
        first, vectors = records[:n], self.vectors[:n]
        if last is not None and last.trials == n:
            return last
        known = _known(first)
        usable = np.array([not record.failed for record in first], dtype=bool)
        presence = Presence(vectors[usable], [axis.n_few for axis in self.axes.axes.values()])
        _, surrogate = self._fitted(known, vectors, None)
        return Form(n, surrogate.kernel, presence)

    def _fitted(
        self, known: Effects, vectors: NDArray[np.float64], kernel: Kernel | None
    ) -> tuple[NDArray[np.intp], Surrogate]:
        """Return the positions learnt from, and what was learnt."""
        chosen = to_learn(known.value, np.empty(0, dtype=np.intp))
        learnt = Effects(known.value[chosen], known.variance[chosen])
        points = features(vectors[chosen], self.axes.choices)
        return chosen, Surrogate(points, learnt, kernel, search=kernel is None)


def settled(records: Sequence[Record], growth: float = _OFTEN) -> int:
    """Return how many records a model is made of: as many until the usable ones have grown so."""
    usable = [at for at, record in enumerate(records, start=1) if not record.failed]
    n = _FIRST
    while (after := math.ceil(n * growth)) <= len(usable):
        n = after
    return usable[min(n, len(usable)) - 1]


def _known(records: Sequence[Record]) -> Effects:
    """Return the effects of all records: a failed one is one vague observation of the worst."""
    usable = np.array([not record.failed for record in records], dtype=bool)
    costs = costs_of([record for record in records if not record.failed])
    nothing = Effects(np.zeros(costs.shape[1]), np.ones(costs.shape[1]))  # all are infinitely bad
    some = effects(costs) if len(costs) else nothing
    value, variance = np.empty(len(records)), np.empty(len(records))
    value[usable], variance[usable] = some
    value[~usable] = some.value.max()
    variance[~usable] = max(float(some.value.var()), 1e-12)
    return Effects(value, variance)


def _spread(n: int, n_startup: int) -> float:
    """Return the spread after n usable trials: nobody says how many there will be.

    It falls with 1/n, in however many parameters: a surrogate that chooses among a few drafts
    finds the way down only where they are near.
    """
    return max(WIDEST * min(n_startup / n, 1.0), NARROWEST)
