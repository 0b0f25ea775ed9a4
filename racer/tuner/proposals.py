"""Where new candidates come from: the whole space at first, then around the elites."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._numerics import one_blas_thread
from racer.model.effects import Effects
from racer.model.surrogate import Guarded, Surrogate
from racer.seeding import rng_for
from racer.space.vectors import choice_counts, features
from racer.tuner.drafts import (
    NARROWEST,
    TRIES,
    WIDEST,
    Drafts,
    drafts_around,
    is_alike,
    narrowing,
    to_learn,
)
from racer.tuner.goals import GoalModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.deciders.decider import Goal
    from racer.model.surrogate import Kernel
    from racer.space.sampling import Net
    from racer.space.space import Space

_FEW = 5  # candidates that succeeded: with fewer, failures are learnt as costs
_LABEL_NOISE = 0.01  # variance: of two neighbours, one may fail

SAMPLING = 2  # recorded in stores; raised when a seed samples other configurations than before


class Child(NamedTuple):
    """A new configuration, and around which candidate it was sampled."""

    config: dict[str, Any]
    parent: int | None


def _branch(vector: NDArray[np.float64]) -> bytes:
    """Return what two vectors share that have the same parameters."""
    return np.isnan(vector).tobytes()


class Proposals:
    """Draw configurations that have not been drawn before, around the elites.

    The neighbourhood narrows from race to race and widens where it is used up; a surrogate picks
    among drafts. Candidates with the same parameters present are a branch; the best of each is kept.
    After López-Ibáñez et al. (2016), 2.1 and 2.2, except crossing, surrogate and branches.
    """

    def __init__(self, space: Space, seed: int, goal: Goal | None = None) -> None:
        self._space = space
        self._seed = seed
        self._choices = choice_counts(space.parameters)
        self._keys: set[Any] = set()
        self._configs: list[dict[str, Any]] = []
        self._vectors: list[NDArray[np.float64]] = []
        self._kernel: Kernel | None = None
        self._kernels: tuple[Kernel | None, Kernel | None] = (None, None)  # where some fail
        self._surrogate: Surrogate | Guarded | None = None
        self._best_of: dict[bytes, int] = {}  # of each branch, the candidate
        self._in_branch: Counter[bytes] = Counter()
        self.spread = WIDEST
        self._goal = None if goal is None else GoalModel(goal, seed)

    def take(self, config: dict[str, Any]) -> None:
        """Note that a configuration is a candidate now, the next by number."""
        key, vector = self._space.located(config)
        self._keys.add(key)
        self._configs.append(config)
        self._vectors.append(vector)
        self._in_branch[_branch(vector)] += 1

    def everywhere(self, n: int, race: int, known: Sequence[int]) -> list[Child]:
        """Draw n from the whole space, fewer if there are no more, or around `known` if rare."""
        rng = rng_for(self._seed, "everywhere", race)
        around = [self._configs[candidate] for candidate in known]
        drawn = self._space.sample(n, seed=rng, method="lhs", exclude=self._keys, known=around)
        return [Child(config, None) for config in drawn]

    def learn(
        self,
        candidates: NDArray[np.intp],
        known: Effects,
        present: Sequence[int],
        failed: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """Fit surrogates to candidates (m,), ascending; return costs of `present` (k,).

        `failed` (m,) are those that never succeeded: what is proposed keeps away from them, and
        their costs, which are none, do not bend those of their neighbours.
        """
        at = np.searchsorted(candidates, present)
        chosen = to_learn(known.value, at)
        vectors = np.array([self._vectors[c] for c in candidates[chosen].tolist()])
        learnt = Effects(known.value[chosen], known.variance[chosen])
        with one_blas_thread():
            points = features(vectors, self._choices)
            self._surrogate = surrogate = Surrogate(points, learnt, self._kernel)
            self._kernel = surrogate.kernel
            if failed is not None and failed[chosen].any():
                self._learn_failures(points, learnt, failed[chosen])
            posterior = surrogate.posterior
        self._note_best(candidates, known.value, chosen, posterior)
        return posterior[np.searchsorted(chosen, at)]

    def learn_metrics(
        self,
        candidates: NDArray[np.intp],
        costs: NDArray[np.float64],
        present: Sequence[int],
        length: int | None,
    ) -> tuple[int, ...]:
        """Fit a surrogate to each metric of costs (d, n, m); return `present`, best first."""
        assert self._goal is not None  # noqa: S101  (for the type checker)
        ranked = self._goal.ranked(candidates, costs, present, length, self._features)
        self._best_of |= {_branch(self._vectors[c]): c for c in ranked[::-1]}
        return tuple(ranked)

    def _features(self, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        vectors = np.array([self._vectors[c] for c in candidates.tolist()])
        return features(vectors, self._choices)

    def _note_best(
        self,
        candidates: NDArray[np.intp],
        value: NDArray[np.float64],
        chosen: NDArray[np.intp],
        posterior: NDArray[np.float64],
    ) -> None:
        """Note the best of each branch, by value (m,), and by the posterior where that is known."""
        costs = value.copy()
        costs[chosen] = posterior
        order = costs.argsort(kind="stable")[::-1]  # the best last
        self._best_of |= {_branch(self._vectors[c]): c for c in candidates[order].tolist()}

    def _learn_failures(
        self, points: NDArray[np.float64], known: Effects, failed: NDArray[np.bool_]
    ) -> None:
        """Fit one surrogate to the costs of those that succeeded, and one to who failed."""
        ok = ~failed
        if ok.sum() < _FEW:
            return
        costs = Surrogate(
            points[ok], Effects(known.value[ok], known.variance[ok]), self._kernels[0]
        )
        certain = Effects(failed.astype(np.float64), np.full(len(failed), _LABEL_NOISE))
        failures = Surrogate(points, certain, self._kernels[1])
        self._kernels = (costs.kernel, failures.kernel)
        self._surrogate = Guarded(costs, failures)

    def around(self, elites: Sequence[int], n: int, race: int, clarity: float) -> list[Child]:
        """Draw n around the elites (best first), fewer if there are no more.

        `clarity` is the fraction of the candidates that the last race could have eliminated and
        did: where it could not tell them apart, a narrower neighbourhood would hold only noise.
        """
        factor = narrowing(n, len(self._space.free))
        self.spread = max(self.spread * factor**clarity, NARROWEST)
        rng = rng_for(self._seed, "around", race)
        spreads = np.full(len(elites), self.spread)
        net = self._space.net(self._keys)
        others = self._other_branches(elites)
        centres = [*elites, *others.values()]
        wide = [
            WIDEST * narrowing(self._in_branch[branch], int((~np.isnan(self._vectors[c])).sum()))
            for branch, c in others.items()
        ]
        spreads = np.concatenate([spreads, np.maximum(wide, self.spread)])
        vectors = np.array([self._vectors[centre] for centre in centres])
        parents: list[int] = []
        nearby = np.concatenate([vectors, np.empty((n, vectors.shape[1]))])  # and the children
        while len(parents) < n:
            with one_blas_thread():
                drafts = self._drafts(vectors, n - len(parents), spreads, rng, centres, len(others))
            widened = self._keep(drafts, net, parents, nearby, len(centres))
            if (spreads >= WIDEST).all():
                break
            spreads = np.where(widened, np.minimum(spreads / factor, WIDEST), spreads)
        children = [Child(c, centres[p]) for c, p in zip(net.found, parents, strict=True)]
        if len(children) < n:
            around = [self._configs[elite] for elite in elites]
            rest = self._space.sample(n - len(children), seed=rng, exclude=net.taken, known=around)
            children += [Child(config, None) for config in rest]
        return children

    def _drafts(
        self,
        vectors: NDArray[np.float64],
        n: int,
        spreads: NDArray[np.float64],
        rng: np.random.Generator,
        centres: Sequence[int],
        n_others: int,
    ) -> Drafts:
        """Return drafts for n children around centres (k, d), the last of which are other branches.

        With several metrics, each view of them orders the elites, and drafts its part of the children.
        """
        of = (self._choices, self._space.present)
        if self._goal is None or not self._goal.views:
            return drafts_around(vectors, n, spreads, *of, self._surrogate, rng, n_others)
        elites = len(centres) - n_others
        parts = []
        sizes = np.diff(np.linspace(0, n, len(self._goal.views) + 1).round().astype(int))
        for view, size in zip(self._goal.views, sizes.tolist(), strict=True):
            if size:
                order = np.arange(len(centres))
                order[:elites] = self._goal.order(view, centres[:elites])
                around = vectors[order], size, spreads[order], *of, view, rng, n_others
                part = drafts_around(*around, to_ends=True)
                parts.append(part._replace(parents=order[part.parents]))
        fewest = min(part.vectors.shape[1] for part in parts)
        return Drafts(
            np.concatenate([part.parents for part in parts]),
            np.concatenate([part.vectors[:, :fewest] for part in parts]),
            np.concatenate([part.there[:, :fewest] for part in parts]),
        )

    def _other_branches(self, elites: Sequence[int]) -> dict[bytes, int]:
        """Return the best candidate of each branch but that of the first elite."""
        here = _branch(self._vectors[elites[0]])
        return {branch: c for branch, c in self._best_of.items() if branch != here}

    def _keep(
        self,
        drafts: Drafts,
        net: Net,
        parents: list[int],
        around: NDArray[np.float64],
        n_elites: int,
    ) -> NDArray[np.bool_]:
        """Take a draft for each child; say around which elites hardly any could be taken."""
        failed = np.zeros(n_elites)
        for i, parent in enumerate(drafts.parents.tolist()):
            for draft, there in zip(drafts.vectors[i, :TRIES], drafts.there[i], strict=False):
                known = n_elites + len(parents)
                if not is_alike(there, around[:known]) and net.offer(draft):
                    around[known] = there
                    parents.append(parent)
                    break
            else:
                failed[parent] += 1
        many = failed > 0.5 * np.bincount(drafts.parents, minlength=n_elites)
        return many if many.any() else np.full(n_elites, bool(failed.any()))
