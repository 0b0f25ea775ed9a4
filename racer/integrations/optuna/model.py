"""What a sampler has learnt from the trials of a study, and what it proposes next."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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
    narrowing,
    to_learn,
)
from racer.tuner.effects import Effects, effects
from racer.tuner.surrogate import Surrogate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray
    from optuna.distributions import BaseDistribution

    from racer.integrations.optuna.axes import Axis
    from racer.integrations.optuna.ledger import Ledger, Record
    from racer.tuner.surrogate import Kernel

__all__ = ["Model"]

_GROWTH = 1.2  # of the number of trials, from one search for a kernel to the next
_FIRST = 8  # trials


class _Form(NamedTuple):
    """What is learnt only now and then: from the first so many trials, whoever asks when."""

    trials: int
    kernel: Kernel
    presence: Presence


class Model:
    """The elites among the trials of a study, and a surrogate of the costs of all others.

    Parameters
    ----------
    ledger : Ledger
        With a usable trial at least.
    distributions : mapping
        The parameters to propose.
    n_startup : int
        Trials before this is used.
    last : Model, optional
        The one before, of which this one takes over what has not changed.
    """

    def __init__(
        self,
        ledger: Ledger,
        distributions: Mapping[str, BaseDistribution],
        n_startup: int,
        last: Model | None = None,
    ) -> None:
        self.ledger = ledger
        records = ledger.records
        self.axes, done = Axes(distributions), np.empty((0, len(distributions)))
        if last is not None and last.axes.distributions == self.axes.distributions:
            self.axes, done = last.axes, last._vectors
        else:
            last = None
        rest = [self.axes.encode(record.params) for record in records[len(done) :]]
        self._vectors = np.concatenate([done, np.reshape(rest, (len(rest), len(self.axes)))])
        self._form = self._formed(records, None if last is None else last._form)
        known = _known(records)
        chosen, self._surrogate = self._fitted(known, self._vectors, self._form.kernel)
        expected = self._surrogate.posterior
        expected[[records[i].failed for i in chosen.tolist()]] = math.inf
        free = sum(not d.single() for d in distributions.values())
        n_elites = min(2 + int(math.log2(max(free, 1))), ledger.n_usable)
        best = chosen[expected.argsort(kind="stable")[:n_elites]]
        self._elites = self._vectors[best]
        self._elite_params = [records[i].params for i in best.tolist()]
        self._free = free
        self.spread = _spread(ledger.n_usable, n_startup, free)

    def propose(
        self, rng: np.random.Generator, running: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return a configuration around the elites that has not been tried.

        Parameters
        ----------
        rng : Generator
        running : sequence of mapping
            Configurations that are being tried; neither is one of these returned.
        """
        taken = np.array([*self._vectors, *map(self.axes.encode, running)])
        spreads = np.full(len(self._elites), self.spread)
        present = partial(self._form.presence, example=self._elites[0])
        while True:
            drafts = drafts_around(
                self._elites, 1, spreads, self.axes.choices, present, self._surrogate, rng
            )
            for draft in drafts.vectors[0, :TRIES]:
                config = self.axes.decode(draft)
                there = np.where(present(draft[None])[0], self.axes.encode(config), np.nan)
                if not is_alike(there, taken):
                    return config
            if spreads[0] >= WIDEST:
                return config  # nothing new is to be found
            spreads = np.minimum(spreads * 2.0, WIDEST)

    def propose_one(self, name: str, axis: Axis, rng: np.random.Generator) -> Any:
        """Return a value of one parameter around those of the elites; None if none has it.

        Parameters
        ----------
        name : str
        axis : Axis
            Of the values that it can have now.
        rng : Generator
        """
        places = [axis.encode(p[name]) if name in p else math.nan for p in self._elite_params]
        have = np.flatnonzero(~np.isnan(places))
        if not len(have):
            return _NOTHING
        weights = len(places) - have
        middle = np.array([[places[rng.choice(have, p=weights / weights.sum())]]])
        choices = np.array([axis.n_choices])
        return axis.decode(float(vectors_around(middle, np.array([self.spread]), choices, rng)[0, 0]))

    def _formed(self, records: Sequence[Record], last: _Form | None) -> _Form:
        n = _FIRST
        while (after := math.ceil(n * _GROWTH)) <= len(records):
            n = after
        first, vectors = records[:n], self._vectors[:n]
        if last is not None and last.trials == n:
            return last
        known = _known(first)
        usable = np.array([not record.failed for record in first], dtype=bool)
        presence = Presence(vectors[usable], [axis.n_few for axis in self.axes.axes.values()])
        _, surrogate = self._fitted(known, vectors, None)
        return _Form(n, surrogate.kernel, presence)

    def _fitted(
        self, known: Effects, vectors: NDArray[np.float64], kernel: Kernel | None
    ) -> tuple[NDArray[np.intp], Surrogate]:
        """Return the positions learnt from, and what was learnt."""
        chosen = to_learn(known.value, np.empty(0, dtype=np.intp))
        learnt = Effects(known.value[chosen], known.variance[chosen])
        points = features(vectors[chosen], self.axes.choices)
        return chosen, Surrogate(points, learnt, kernel, search=kernel is None)


_NOTHING = object()


def _known(records: Sequence[Record]) -> Effects:
    """Return the effects of all records: a failed one is one vague observation of the worst."""
    usable = np.array([not record.failed for record in records], dtype=bool)
    some = effects(costs_of([record for record in records if not record.failed]))
    value, variance = np.empty(len(records)), np.empty(len(records))
    value[usable], variance[usable] = some
    value[~usable] = some.value.max()
    variance[~usable] = max(float(some.value.var()), 1e-12)
    return Effects(value, variance)


def _spread(n: int, n_startup: int, free: int) -> float:
    """Return the spread after n trials."""
    spread, size = WIDEST, n_startup
    n -= n_startup
    while n > 0:
        share = min(n / size, 1.0)
        spread *= narrowing(size, free) ** share
        n -= size
        size *= 2
    return max(spread, NARROWEST)
