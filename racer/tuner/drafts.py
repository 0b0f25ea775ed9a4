"""Drafts of new candidates: drawn around the elites, and put in order by a surrogate."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from racer.space.vectors import features, vectors_around

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from racer.tuner.surrogate import Surrogate

    Present = Callable[[NDArray[np.float64]], NDArray[np.bool_]]

__all__ = [
    "NARROWEST",
    "TRIES",
    "WIDEST",
    "Drafts",
    "drafts_around",
    "is_alike",
    "narrowing",
    "to_learn",
    "untried_choices",
]

WIDEST = 0.5  # spread at the beginning, as a share of the range
NARROWEST = 1e-3
TRIES = 10  # drafts to look at before a child is given up
_DRAFTS = 30  # for each child, of which the surrogate takes the best ..
_DRAFTS_IN_ALL = 3_000  # .. fewer each where there are many children
_DRAFTS_LEAST = 5
_UNSEEN = 0.1  # share of the children that it has no say in
_CROSSED = 0.5  # share of the children that take each parameter from any elite
_LEARNT = 200  # candidates that the surrogate learns from
_ALIKE = 1e-4  # of the range: nearer ones are near-duplicates


class Drafts(NamedTuple):
    """Drafts for n children, each child's in the order in which to take them.

    Attributes
    ----------
    parents : ndarray of int, shape (n,)
        Positions among the elites.
    vectors : ndarray, shape (n, drafts, d)
    there : ndarray, shape (n, drafts, d)
        The same, NaN for parameters that do not exist.
    """

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
    untried: NDArray[np.intp],
    rng: np.random.Generator,
) -> Drafts:
    """Draw drafts for n children around the elites, the better the more often.

    Half of the children take each parameter from any elite. Most have their drafts in the order
    of the surrogate's costs; the others try a choice that has never been tried, while there are
    any: the surrogate, which knows nothing of it, would never take it.

    Parameters
    ----------
    elites : ndarray, shape (m, d)
        Best first; NaN for parameters that an elite does not have.
    n : int
    spreads : ndarray, shape (m,)
        Of the neighbourhood of each elite.
    choices : ndarray of int, shape (d,)
        Of `choice_counts`.
    present : callable
        Says which parameters exist at vectors, shape (k, d) both.
    surrogate : Surrogate or None
        None: drafts stay in the order in which they were drawn.
    untried : ndarray of int, shape (k, 2)
        Of `untried_choices`.
    rng : Generator
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
    seen = np.empty(0, dtype=np.intp)
    if surrogate is not None:
        is_seen = rng.random(n) >= _UNSEEN
        seen, unseen = np.flatnonzero(is_seen), np.flatnonzero(~is_seen)
        if len(untried):
            which, choice = np.resize(rng.permutation(untried), (len(unseen), 2)).T
            places = (choice + 0.5) / choices[which]
            drafts[unseen, ::2, which] = places[:, None]  # the others, should it be forbidden
    there = np.where(present(drafts.reshape(-1, d)).reshape(n, each, d), drafts, np.nan)
    if surrogate is not None:
        costs = surrogate(features(there[seen].reshape(-1, d), choices)).reshape(len(seen), each)
        order = costs.argsort(axis=1, kind="stable")[:, :, None]
        drafts[seen] = np.take_along_axis(drafts[seen], order, axis=1)
        there[seen] = np.take_along_axis(there[seen], order, axis=1)
    return Drafts(parents, drafts, there)


def untried_choices(vectors: NDArray[np.float64], choices: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which choices none of some vectors has: pairs of parameter and choice, shape (k, 2).

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        NaN for parameters that do not exist.
    choices : ndarray of int, shape (d,)
        Of `choice_counts`.
    """
    found = []
    for j in np.flatnonzero(choices).tolist():
        places, n = vectors[:, j], int(choices[j])
        tried = np.minimum(places[~np.isnan(places)] * n, n - 1).astype(np.intp)
        found += [(j, choice) for choice in np.flatnonzero(np.bincount(tried, minlength=n) == 0)]
    return np.array(found, dtype=np.intp).reshape(-1, 2)


def is_alike(vector: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Say whether a vector is a near-duplicate of another: alike in all that exists in either.

    Parameters
    ----------
    vector : ndarray, shape (d,)
    others : ndarray, shape (k, d)
    """
    same = (np.abs(others - vector) < _ALIKE) | (np.isnan(others) & np.isnan(vector))
    return bool(same.all(axis=1).any())


def narrowing(n: int, free: int) -> float:
    """Return what the spread is multiplied by when n are sampled around the elites.

    A neighbourhood in so many free parameters then has about 1/n of its volume.
    """
    return float((1.0 / max(n, 2)) ** (1.0 / max(free, 1)))


def to_learn(value: NDArray[np.float64], at: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return which candidates to learn from: those given, the best, and the latest.

    Parameters
    ----------
    value : ndarray, shape (m,)
        Costs, the latest last.
    at : ndarray of int
        Positions that must be there.

    Returns
    -------
    ndarray of int
        Positions, ascending.
    """
    best = value.argsort(kind="stable")[: _LEARNT // 2]
    chosen = np.union1d(best, at)
    rest = np.setdiff1d(np.arange(len(value)), chosen)
    return np.union1d(chosen, rest[max(len(rest) + len(chosen) - _LEARNT, 0) :])
