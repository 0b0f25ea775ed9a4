"""Drafts of new candidates: drawn around the elites, and put in order by a surrogate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from racer.space.vectors import features, vectors_around

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Present = Callable[[NDArray[np.float64]], NDArray[np.bool_]]

WIDEST = 0.5  # spread at the beginning, as a fraction of the range
NARROWEST = 1e-3  # at any time ..
_AT_LAST = 0.005  # .. and at the end, of what is narrowed at an even pace
TRIES = 10  # drafts tried per child
_DRAFTS = 30  # for each child, of which the surrogate takes the best ..
_DRAFTS_IN_ALL = 3_000  # .. fewer each where there are many children
_DRAFTS_LEAST = 5
_EXPLORING = 0.3  # fraction of the children that get another choice, where there are choices
_EXPLORED = 10  # drafts for each of them: a lower bound costs more than a mean
_FALLBACKS = 2  # drafts, of those to look at, without another choice
_CROSSED = 0.5  # fraction of the children that take each parameter from any elite
MANY = 10  # parameters, beyond which a draft does not vary all of them ..
_VARIED = 5  # .. but so many on average
_AT_ENDS = 0.7  # of the parameters that are nearer to an end than the spread, in some drafts
_NARROW = 0.15  # spread, from which on what is near an end is put there
_LEARNT = 200  # candidates that the surrogate learns from
_ALIKE = 1e-4  # of the range: nearer ones are near-duplicates


class Forecast(Protocol):
    """Expected costs of configurations: costs (k,) at features (k, d, 2)."""

    def __call__(self, features: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return expected costs."""

    def lower_bound(self, features: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return them less their standard deviations."""


class Ends(NamedTuple):
    """How many drafts have parameters at the ends of their ranges.

    What is nearer than the spread, and than `near`, is put there; `everywhere`, or only in narrow
    neighbourhoods of what is near itself.
    """

    fraction: float
    near: float
    everywhere: bool


OFTEN = Ends(0.5, 0.01, everywhere=True)
NEAR_ENDS = Ends(0.3, 0.03, everywhere=False)


class Centres(NamedTuple):
    """Vectors (k, d) to draw around, with spreads (k,): elites, then the best of other branches.

    `elsewhere` are the centres of the first children, which stay in these branches.
    """

    vectors: NDArray[np.float64]
    spreads: NDArray[np.float64]
    elites: int
    elsewhere: Sequence[int] = ()


class Drafts(NamedTuple):
    """Drafts in order of preference: `parents` (n,), `vectors` (n, k, d)."""

    parents: NDArray[np.intp]
    vectors: NDArray[np.float64]


def drafts_around(
    near: Centres,
    n: int,
    choices: NDArray[np.intp],
    present: Present,
    surrogate: Forecast | None,
    rng: np.random.Generator,
    *,
    to_ends: Ends | None = None,
) -> Drafts:
    """Draw drafts for n children around the elites, best first, the better the more often.

    `choices` is (d,). The surrogate orders the drafts of most children by its mean. The others
    explore, in the order of mean - sd: with a choice drawn anew, as it may have lost, or never been
    tried, with poor values of the other parameters; or around the best of another branch. With
    `to_ends` some drafts have parameters at an end of their ranges.
    """
    centres, spreads, m, elsewhere = near
    d = len(choices)
    each = min(_DRAFTS, max(_DRAFTS_IN_ALL // n, _DRAFTS_LEAST))
    weights = np.arange(m, 0, -1) / (m * (m + 1) / 2)
    parents = rng.choice(m, size=n, p=weights)
    of_each = np.where(
        (rng.random(n) < _CROSSED)[:, None],
        rng.choice(m, size=(n, d), p=weights),
        parents[:, None],
    )
    explores = (rng.random(n) < _EXPLORING) & bool(choices.any()) & (surrogate is not None)
    if len(elsewhere):
        parents[: len(elsewhere)] = elsewhere
        of_each[: len(elsewhere)] = parents[: len(elsewhere), None]
        explores[: len(elsewhere)] = surrogate is not None
    middles, own = centres[of_each, np.arange(d)], spreads[parents]
    drafts = vectors_around(middles, own, choices, rng, each).reshape(n, each, d)
    drafts = _with_few_varied(drafts, middles, rng)
    if to_ends:
        may = ~np.isnan(middles) & (choices == 0)
        drafts = _with_ends(drafts, middles, may[:, None], spreads[parents], to_ends, rng)
    if surrogate is None:
        return Drafts(parents, drafts)
    exploring, others = np.flatnonzero(explores), np.flatnonzero(~explores)
    few = min(_EXPLORED, each)
    plain = drafts[exploring, :_FALLBACKS]  # should the other choices be forbidden
    if len(anew := exploring[parents[exploring] < m]):
        drafts[anew, :few] = _with_another_choice(drafts[anew, :few], choices, rng)
    there = _there(drafts, present)
    if len(others):
        costs = surrogate(features(there[others].reshape(-1, d), choices))
        _put_in_order(others, costs.reshape(len(others), each), drafts)
    if len(exploring):
        points = features(there[exploring, :few].reshape(-1, d), choices)
        costs = np.full((len(exploring), each), np.inf)
        costs[:, :few] = surrogate.lower_bound(points).reshape(len(exploring), few)
        left = np.isnan(there[exploring]) != np.isnan(middles[exploring])[:, None]
        costs[left.any(axis=2) & (parents[exploring] >= m)[:, None]] = np.inf
        _put_in_order(exploring, costs, drafts)
        last = slice(min(TRIES, each) - _FALLBACKS, min(TRIES, each))
        drafts[exploring, last] = plain
    return Drafts(parents, drafts)


def _with_few_varied(
    drafts: NDArray[np.float64], middles: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return drafts (n, each, d) that have most of many parameters from `middles` (n, d).

    Regis and Shoemaker: Combining radial basis function surrogates and dynamic coordinate search in
    high-dimensional expensive black-box optimization (Engineering Optimization 2013).
    """
    present = ~np.isnan(middles)
    counts = present.sum(axis=1)
    if not (counts > MANY).any():
        return drafts
    rates = np.where(counts > MANY, _VARIED / counts.clip(1), 1.0)
    kept = (rng.random(drafts.shape) >= rates[:, None, None]) & present[:, None]
    return np.where(kept, middles[:, None], drafts)


def _with_ends(
    drafts: NDArray[np.float64],
    middles: NDArray[np.float64],
    may: NDArray[np.bool_],
    spreads: NDArray[np.float64],
    how: Ends,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Return drafts (n, each, d), some with most values near an end of their range put there.

    Truncated normals around `middles` (n, d) never reach the ends, where optima and fronts often lie.
    """
    n, each, _ = drafts.shape
    reach, often = np.maximum(spreads, how.near)[:, None, None], np.array(_AT_ENDS)
    if how.everywhere:
        moved = rng.random((n, each, 1)) < how.fraction
    else:  # so many of each child, the last ones, so that all cannot be the same
        moved = np.arange(each)[::-1, None] < round(how.fraction * each)
        apart = np.minimum(middles, 1.0 - middles)[:, None]
        may = may & (apart < reach) & (reach < _NARROW)
        if not may.any():
            return drafts
        often = np.where(apart == 0.0, 1.0, often)
    near = np.minimum(drafts, 1.0 - drafts) < reach
    moved = moved & (rng.random(drafts.shape) < often) & near & may
    return np.where(moved, np.round(drafts), drafts)


def _with_another_choice(
    drafts: NDArray[np.float64], choices: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return drafts (n, each, d) in each of which one categorical parameter is drawn anew."""
    is_choice = np.flatnonzero(choices)
    which = is_choice[rng.integers(0, len(is_choice), drafts.shape[:2])]
    anew = (np.floor(rng.random(which.shape) * choices[which]) + 0.5) / choices[which]
    changed = drafts.copy()
    np.put_along_axis(changed, which[:, :, None], anew[:, :, None], axis=2)
    return changed


def _there(drafts: NDArray[np.float64], present: Present) -> NDArray[np.float64]:
    """Return drafts, shape (n, each, d), NaN for absent parameters."""
    exists = present(drafts.reshape(-1, drafts.shape[2])).reshape(drafts.shape)
    return np.where(exists, drafts, np.nan)


def _put_in_order(
    children: NDArray[np.intp], keys: NDArray[Any], drafts: NDArray[np.float64]
) -> None:
    """Put the drafts of some children in the order of keys, shape (children, each)."""
    order = keys.argsort(axis=1, kind="stable")
    drafts[children] = drafts[children[:, None], order]


def is_alike(vector: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Return whether a vector (d,) is a near-duplicate of one of `others` (k, d), NaN like NaN."""
    same = (np.abs(others - vector) < _ALIKE) | (np.isnan(others) & np.isnan(vector))
    return bool(same.all(axis=1).any())


def narrowest(remaining: float) -> float:
    """Return the least spread while this fraction of the budget remains, for an even pace.

    Each part of the budget narrows by the same factor: noise makes a race narrow no less, but
    around a centre that it has not found.
    """
    return float(WIDEST * (_AT_LAST / WIDEST) ** (1.0 - remaining))


def narrowing(n: int, free: int) -> float:
    """Return the factor of the spread for n samples: a volume of 1/n in the free parameters."""
    return float((1.0 / max(n, 2)) ** (1.0 / max(free, 1)))


def to_learn(value: NDArray[np.float64], at: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the candidates to learn from: `at`, the best and the latest; `value` is (m,)."""
    best = value.argsort(kind="stable")[: _LEARNT // 2]
    chosen = np.union1d(best, at)
    rest = np.setdiff1d(np.arange(len(value)), chosen)
    return np.union1d(chosen, rest[max(len(rest) + len(chosen) - _LEARNT, 0) :])
