"""Where new candidates come from: the whole space at first, then around the elites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer.seeding import rng_for
from racer.space.vectors import choice_counts, features, vectors_around
from racer.tuner.effects import Effects
from racer.tuner.surrogate import Surrogate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.space.sampling import Net
    from racer.space.space import Space
    from racer.tuner.surrogate import Kernel

__all__ = ["Child", "Proposals"]

_NARROWEST = 1e-3
WIDEST = 0.5  # spread at the beginning, as a share of the range
_DRAFTS = 30  # for each child, of which the surrogate takes the best ..
_DRAFTS_IN_ALL = 3_000  # .. fewer each where there are many children
_DRAFTS_LEAST = 5
_UNSEEN = 0.1  # share of the children that it has no say in
_CROSSED = 0.5  # share of the children that take each parameter from any elite
_LEARNT = 200  # candidates that the surrogate learns from
_TRIES = 10  # drafts to look at before a child is given up
_ALIKE = 1e-4  # of the range: nearer ones are near-duplicates


class Child(NamedTuple):
    """A new configuration, and around which candidate it was sampled."""

    config: dict[str, Any]
    parent: int | None


class Proposals:
    """Draw configurations that have not been drawn before.

    Children are sampled around the elites, the better the more often, in a neighbourhood that
    narrows from race to race. For most of them several drafts are made, and a surrogate of the
    costs known so far takes the most promising. Where drafts are near-duplicates of what is
    there, the neighbourhood of that elite is made wide again (soft restart).

    Parameters
    ----------
    space : Space
    seed : int

    References
    ----------
    López-Ibáñez et al. (2016), sections 2.1 and 2.2, for all but the crossing and the surrogate.
    """

    def __init__(self, space: Space, seed: int) -> None:
        self._space = space
        self._seed = seed
        self._choices = choice_counts(space.parameters)
        self._keys: set[Any] = set()
        self._vectors: list[NDArray[np.float64]] = []
        self._kernel: Kernel | None = None
        self._surrogate: Surrogate | None = None
        self.spread = WIDEST

    def take(self, config: dict[str, Any]) -> None:
        """Note that a configuration is a candidate now, the next by number."""
        key, vector = self._space.located(config)
        self._keys.add(key)
        self._vectors.append(vector)

    def everywhere(self, n: int, race: int) -> list[Child]:
        """Draw n from the whole space, fewer if there are no more."""
        rng = rng_for(self._seed, "everywhere", race)
        drawn = self._space.sample(n, seed=rng, method="lhs", exclude=self._keys)
        return [Child(config, None) for config in drawn]

    def learn(
        self, candidates: NDArray[np.intp], known: Effects, present: Sequence[int]
    ) -> NDArray[np.float64]:
        """Learn from what is known of candidates; return what to expect of those `present`.

        A candidate that was lucky so far is expected to be worse than it seems, the more so the
        less its neighbours bear it out.

        Parameters
        ----------
        candidates : ndarray of int, shape (m,)
            Ascending.
        known : Effects
            Of these.
        present : sequence of int
            Some of them.

        Returns
        -------
        ndarray, shape (len(present),)
            Posterior mean of their costs.
        """
        at = np.searchsorted(candidates, present)
        best = known.value.argsort(kind="stable")[: _LEARNT // 2]
        chosen = np.union1d(best, at)
        rest = np.setdiff1d(np.arange(len(candidates)), chosen)
        chosen = np.union1d(chosen, rest[max(len(rest) + len(chosen) - _LEARNT, 0) :])
        vectors = np.array([self._vectors[c] for c in candidates[chosen].tolist()])
        learnt = Effects(known.value[chosen], known.variance[chosen])
        self._surrogate = Surrogate(features(vectors, self._choices), learnt, self._kernel)
        self._kernel = self._surrogate.kernel
        return self._surrogate.posterior[np.searchsorted(chosen, at)]

    def around(self, elites: Sequence[int], n: int, race: int, clarity: float) -> list[Child]:
        """Draw n around the elites, fewer if there are no more.

        Parameters
        ----------
        elites : sequence of int
            Best first.
        n : int
        race : int
        clarity : float in [0, 1]
            Share of the candidates that the last race could drop: where it could not tell them
            apart, a narrower neighbourhood would hold nothing but noise.
        """
        self.spread = max(self.spread * self._factor(n) ** clarity, _NARROWEST)
        rng = rng_for(self._seed, "around", race)
        spreads = np.full(len(elites), self.spread)
        net = self._space.net(self._keys)
        vectors = np.array([self._vectors[elite] for elite in elites])
        parents: list[int] = []
        around = np.concatenate([vectors, np.empty((n, vectors.shape[1]))])  # and the children
        while len(parents) < n:
            batch = self._batch(vectors, n - len(parents), spreads, rng)
            widened = self._keep(batch, net, parents, around, len(elites))
            if (spreads >= WIDEST).all():
                break
            spreads = np.where(widened, np.minimum(spreads / self._factor(n), WIDEST), spreads)
        children = [Child(c, elites[p]) for c, p in zip(net.found, parents, strict=True)]
        if len(children) < n:
            rest = self._space.sample(n - len(children), seed=rng, exclude=net.taken)
            children += [Child(config, None) for config in rest]
        return children

    def _factor(self, n: int) -> float:
        """Return what the spread is multiplied by when n are sampled around the elites."""
        return float((1.0 / max(n, 2)) ** (1.0 / max(len(self._space.free), 1)))

    def _batch(
        self,
        elites: NDArray[np.float64],
        n: int,
        spreads: NDArray[np.float64],
        rng: np.random.Generator,
    ) -> _Batch:
        """Draw drafts for n children, each child's in the order in which to take them."""
        m, d = len(elites), len(self._choices)
        each = min(_DRAFTS, max(_DRAFTS_IN_ALL // n, _DRAFTS_LEAST))
        weights = np.arange(m, 0, -1) / (m * (m + 1) / 2)
        parents = rng.choice(m, size=n, p=weights)
        of_each = np.where(
            (rng.random(n) < _CROSSED)[:, None],
            rng.choice(m, size=(n, d), p=weights),
            parents[:, None],
        )
        middles = elites[of_each, np.arange(d)]
        drafts = vectors_around(
            np.repeat(middles, each, axis=0),
            np.repeat(spreads[parents], each),
            self._choices,
            rng,
        )
        there = np.where(self._space.present(drafts), drafts, np.nan).reshape(n, each, d)
        drafts = drafts.reshape(n, each, d)
        if self._surrogate is not None:
            seen = np.flatnonzero(rng.random(n) >= _UNSEEN)
            points = features(there[seen].reshape(-1, d), self._choices)
            costs = self._surrogate(points).reshape(len(seen), each)
            order = costs.argsort(axis=1, kind="stable")[:, :, None]
            drafts[seen] = np.take_along_axis(drafts[seen], order, axis=1)
            there[seen] = np.take_along_axis(there[seen], order, axis=1)
        return _Batch(parents, drafts, there)

    def _keep(
        self,
        batch: _Batch,
        net: Net,
        parents: list[int],
        around: NDArray[np.float64],
        n_elites: int,
    ) -> NDArray[np.bool_]:
        """Take a draft for each child; say around which elites hardly any could be taken."""
        failed = np.zeros(n_elites)
        for i, parent in enumerate(batch.parents.tolist()):
            for draft, there in zip(batch.drafts[i, :_TRIES], batch.there[i], strict=False):
                known = n_elites + len(parents)
                if not _is_alike(there, around[:known]) and net.offer(draft):
                    around[known] = there
                    parents.append(parent)
                    break
            else:
                failed[parent] += 1
        many = failed > 0.5 * np.bincount(batch.parents, minlength=n_elites)
        return many if many.any() else np.full(n_elites, bool(failed.any()))


class _Batch(NamedTuple):
    parents: NDArray[np.intp]  # positions among the elites, shape (n,)
    drafts: NDArray[np.float64]  # shape (n, drafts, d)
    there: NDArray[np.float64]  # the same, NaN for parameters that do not exist


def _is_alike(vector: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Say whether a vector is a near-duplicate of another: alike in all that exists in either."""
    same = (np.abs(others - vector) < _ALIKE) | (np.isnan(others) & np.isnan(vector))
    return bool(same.all(axis=1).any())
