"""Drafts of new candidates: drawn around the elites, and put in order by a surrogate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from racer.space.vectors import features, vectors_around

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from racer.tuner.surrogate import Surrogate

    Present = Callable[[NDArray[np.float64]], NDArray[np.bool_]]

WIDEST = 0.5  # spread at the beginning, as a fraction of the range
NARROWEST = 1e-3
TRIES = 10  # drafts to look at before a child is given up
_DRAFTS = 30  # for each child, of which the surrogate takes the best ..
_DRAFTS_IN_ALL = 3_000  # .. fewer each where there are many children
_DRAFTS_LEAST = 5
_FALLBACKS = 2  # drafts, of those to look at, without an untried choice
_UNSEEN = 0.1  # fraction of the children in which the surrogate has no say
_CROSSED = 0.5  # fraction of the children that take each parameter from any elite
_LEARNT = 200  # candidates that the surrogate learns from
_ALIKE = 1e-4  # of the range: nearer ones are near-duplicates


class Drafts(NamedTuple):
    """Drafts in order of preference: `parents` (n,), `vectors`, `there` (NaN: absent) (n, k, d)."""

    parents: NDArray[np.intp]
    vectors: NDArray[np.float64]
    there: NDArray[np.float64]


def drafts_around(
    elites: NDArray[np.float64],
    n: int,
    spreads: NDArray[np.float64],
    choices: NDArray[np.intp],
    present: Present,
    surrogate: Surrogate | None,
    tried: NDArray[np.float64],
    rng: np.random.Generator,
) -> Drafts:
    """Draw drafts for n children around the elites (m, d), best first, the better the more often.

    `spreads` is (m,), `choices` (d,), `tried` (k, d). The surrogate orders the drafts of most
    children; others get a choice that was never tried, which it would never take.
    """
    m, d = len(elites), len(choices)
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
        np.repeat(middles, each, axis=0), np.repeat(spreads[parents], each), choices, rng
    ).reshape(n, each, d)
    if surrogate is None:
        return Drafts(parents, drafts, _there(drafts, present))
    is_seen = rng.random(n) >= _UNSEEN
    seen, unseen = np.flatnonzero(is_seen), np.flatnonzero(~is_seen)
    untried = _untried_choices(tried, choices) if len(unseen) else np.empty((0, 2), dtype=np.intp)
    plain = drafts[unseen, :_FALLBACKS]  # should what is untried be forbidden
    if len(untried):
        drafts[unseen], which = _with_untried(drafts[unseen], untried, choices, rng)
    there = _there(drafts, present)
    costs = surrogate(features(there[seen].reshape(-1, d), choices)).reshape(len(seen), each)
    _put_in_order(seen, costs, drafts, there)
    if len(untried):
        has_it = ~np.isnan(np.take_along_axis(there[unseen], which[:, :, None], axis=2)[:, :, 0])
        _put_in_order(unseen, ~has_it, drafts, there)
        last = slice(min(TRIES, each) - _FALLBACKS, min(TRIES, each))
        drafts[unseen, last], there[unseen, last] = plain, _there(plain, present)
    return Drafts(parents, drafts, there)


def _untried_choices(vectors: NDArray[np.float64], choices: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the pairs (parameter, choice) that no vector (n, d) has, (k, 2); `choices` is (d,)."""
    found = [np.empty((2, 0), dtype=np.intp)]
    for j in np.flatnonzero(choices).tolist():
        places, n = vectors[:, j], int(choices[j])
        had = np.minimum(places[~np.isnan(places)] * n, n - 1).astype(np.intp)
        left = np.flatnonzero(np.bincount(had, minlength=n) == 0)
        found.append(np.array([np.full_like(left, j), left]))
    return np.concatenate(found, axis=1).T


def _there(drafts: NDArray[np.float64], present: Present) -> NDArray[np.float64]:
    """Return drafts, shape (n, each, d), NaN for what does not exist."""
    exists = present(drafts.reshape(-1, drafts.shape[2])).reshape(drafts.shape)
    return np.where(exists, drafts, np.nan)


def _put_in_order(
    children: NDArray[np.intp],
    keys: NDArray[Any],
    drafts: NDArray[np.float64],
    there: NDArray[np.float64],
) -> None:
    """Put the drafts of some children in the order of keys, shape (children, each)."""
    order = keys.argsort(axis=1, kind="stable")[:, :, None]
    for vectors in (drafts, there):
        vectors[children] = np.take_along_axis(vectors[children], order, axis=1)


def _with_untried(
    drafts: NDArray[np.float64],
    untried: NDArray[np.intp],
    choices: NDArray[np.intp],
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Give drafts (n, each, d) an untried choice; return of which parameter, too, (n, each).

    In every other draft all other choices are drawn anew: a parameter may exist only there.
    """
    n, each, _ = drafts.shape
    turn = np.arange(n)[:, None] + np.arange(each) // 2
    pairs = rng.permutation(untried)[turn % len(untried)]
    which, choice = pairs[:, :, 0], pairs[:, :, 1]
    is_choice = np.flatnonzero(choices)
    of_each = choices[is_choice]
    anew = np.floor(rng.random((n, each // 2, len(is_choice))) * of_each)
    drafts[:, 1::2, is_choice] = (anew + 0.5) / of_each
    np.put_along_axis(drafts, which[:, :, None], ((choice + 0.5) / choices[which])[:, :, None], 2)
    return drafts, which


def is_alike(vector: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Say whether a vector (d,) is a near-duplicate of one of `others` (k, d), NaN like NaN."""
    same = (np.abs(others - vector) < _ALIKE) | (np.isnan(others) & np.isnan(vector))
    return bool(same.all(axis=1).any())


def narrowing(n: int, free: int) -> float:
    """Return the factor of the spread for n samples: a volume of 1/n in the free parameters."""
    return float((1.0 / max(n, 2)) ** (1.0 / max(free, 1)))


def to_learn(value: NDArray[np.float64], at: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the candidates to learn from: `at`, the best and the latest; `value` is (m,)."""
    best = value.argsort(kind="stable")[: _LEARNT // 2]
    chosen = np.union1d(best, at)
    rest = np.setdiff1d(np.arange(len(value)), chosen)
    return np.union1d(chosen, rest[max(len(rest) + len(chosen) - _LEARNT, 0) :])
