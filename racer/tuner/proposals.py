"""Where new candidates come from: the whole space at first, then around the elites."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer._numerics import one_blas_thread
from racer.model.effects import Effects
from racer.model.failing import Failing
from racer.model.surrogate import Correlations, Guarded, Surrogate
from racer.seeding import rng_for
from racer.space.vectors import choice_counts, features
from racer.tuner.branches import Branches
from racer.tuner.drafts import (
    NARROWEST,
    NEAR_ENDS,
    OFTEN,
    TRIES,
    WIDEST,
    Centres,
    Drafts,
    drafts_around,
    narrowest,
    narrowing,
    to_learn,
)
from racer.tuner.goals import GoalModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from racer.deciders.decider import Goal
    from racer.space.sampling import Net
    from racer.space.space import Space
    from racer.tuner.history import Lost

SAMPLING = 15  # recorded in stores; raised when a seed samples other configurations than before


class Child(NamedTuple):
    """A new configuration, and around which candidate it was sampled."""

    config: dict[str, Any]
    parent: int | None


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
        self._last: Surrogate | None = None  # fitted to all costs; the next fit begins with it
        self._failing: Failing | None = None
        self._seen = np.zeros(0, dtype=np.intp)  # candidates that it knows, ascending
        self._surrogate: Surrogate | Guarded | None = None
        self._branches_of: list[bytes] = []
        self.branches: Branches = Branches(len(space.parameters) - len(space.free))
        self.is_raced = False  # so that a model is sure enough to be followed to the ends of ranges
        self._goal = None if goal is None else GoalModel(goal, seed)

    def take(self, config: dict[str, Any]) -> None:
        """Note that a configuration is a candidate now, the next by number."""
        key, vector = self._space.located(config)
        self._keys.add(key)
        self._configs.append(config)
        self._vectors.append(vector)
        self._branches_of.append(self.branches.add(vector))

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
    ) -> NDArray[np.float64]:
        """Fit a surrogate to candidates (m,), ascending; return costs of `present` (k,)."""
        at = np.searchsorted(candidates, present)
        chosen = to_learn(known.value, at)
        vectors = np.array([self._vectors[c] for c in candidates[chosen].tolist()])
        learnt = Effects(known.value[chosen], known.variance[chosen])
        with one_blas_thread():
            points = features(vectors, self._choices)
            last = self._last
            correlations = Correlations(points, None if last is None else last.correlations)
            kernel = None if last is None else last.kernel
            surrogate = Surrogate(points, learnt, kernel, correlations)
            self._last = self._surrogate = surrogate
            if self._failing is not None:
                self._surrogate = Guarded(surrogate, self._failing)
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
        self.branches.note(ranked, [self._branches_of[c] for c in ranked])
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
        order = candidates[costs.argsort(kind="stable")].tolist()
        self.branches.note(order, [self._branches_of[c] for c in order])

    def failing(
        self, about: Sequence[int], lost: Lost
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Learn how probably candidates fail; return it of some, (k, places), and its price (k,)."""
        if self._failing is None or self._failing.n_cells != len(lost.failed):
            self._seen, at = np.unique(lost.candidates, return_inverse=True)
            some = at, lost.places, lost.failed, lost.n_places
            with one_blas_thread():
                self._failing = Failing(self._features(self._seen), *some, self._failing)
        where = np.searchsorted(self._seen, about).clip(max=len(self._seen) - 1)
        mine = np.where(self._seen[where] == about, where, -1)
        with one_blas_thread():
            return self._failing(self._features(np.array(about)), mine)

    def around(
        self,
        elites: Sequence[int],
        n: int,
        race: int,
        clarity: float,
        remaining: float = 1.0,
        at_pace: bool = False,
    ) -> list[Child]:
        """Draw n around the elites (best first), fewer if there are no more.

        `clarity` is 1 unless candidates differ by noise: a narrower neighbourhood would hold only
        that.
        `remaining` is the fraction of the budget that is left. If `at_pace`, neighbourhoods narrow no
        faster than that falls.
        """
        rng = rng_for(self._seed, "around", race)
        net = self._space.net(self._keys)
        first = self._branches_of[elites[0]]
        elsewhere = self.branches.allot(n, first, remaining)
        others = list(dict.fromkeys(elsewhere))
        centres = [*elites, *(self.branches.best[branch] for branch in others)]
        vectors = np.array([self._vectors[centre] for centre in centres])
        keys = [self._branches_of[elite] for elite in elites]
        least = narrowest(remaining) if at_pace else NARROWEST
        narrow = self.branches.narrow(keys, n - len(elsewhere), clarity, least)
        spreads = np.array([*narrow, *map(self.branches.wide, others)])
        factor = narrowing(n, len(self._space.free))
        wanted = Counter(len(elites) + others.index(branch) for branch in elsewhere)
        parents: list[int] = []
        while len(parents) < n:
            left = sorted((wanted - Counter(parents)).elements())
            with one_blas_thread():
                near = Centres(vectors, spreads, len(elites), left)
                drafts = self._drafts(near, n - len(parents), rng, centres)
            widened = self._keep(drafts, net, parents, len(centres))
            tried = {*drafts.parents.tolist()}
            if min(tried) < len(elites):
                tried |= {*range(len(elites))}
            if (spreads[[*tried]] >= WIDEST).all():  # other branches have their children
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
        near: Centres,
        n: int,
        rng: np.random.Generator,
        centres: Sequence[int],
    ) -> Drafts:
        """Return drafts for n children around centres, candidates of these numbers.

        With several metrics, each view of them orders the elites, and drafts its part of the children.
        """
        of = (self._choices, self._space.present)
        if self._goal is None or not self._goal.views:
            ends = NEAR_ENDS if self.is_raced else None
            about = (near, n, *of, self._surrogate, rng)
            return drafts_around(*about, to_ends=ends)
        parts = []
        views = len(self._goal.views)
        sizes = np.diff(np.linspace(0, n, views + 1).round().astype(int))
        for i, (view, size) in enumerate(zip(self._goal.views, sizes.tolist(), strict=True)):
            if size:
                order = np.arange(len(centres))
                order[: near.elites] = self._goal.order(view, centres[: near.elites])
                some = near.elsewhere[i::views][:size]
                seen = Centres(near.vectors[order], near.spreads[order], near.elites, some)
                part = drafts_around(seen, size, *of, view, rng, to_ends=OFTEN)
                parts.append(part._replace(parents=order[part.parents]))
        fewest = min(part.vectors.shape[1] for part in parts)
        return Drafts(
            np.concatenate([part.parents for part in parts]),
            np.concatenate([part.vectors[:, :fewest] for part in parts]),
        )

    def _keep(
        self,
        drafts: Drafts,
        net: Net,
        parents: list[int],
        n_elites: int,
    ) -> NDArray[np.bool_]:
        """Accept a draft per child; return a mask of elites with an exhausted neighbourhood."""
        failed = np.zeros(n_elites)
        for i, parent in enumerate(drafts.parents.tolist()):
            for draft in drafts.vectors[i, :TRIES]:
                if net.offer(draft):
                    parents.append(parent)
                    break
            else:
                failed[parent] += 1
        many = failed > 0.5 * np.bincount(drafts.parents, minlength=n_elites)
        return many if many.any() else np.full(n_elites, bool(failed.any()))
