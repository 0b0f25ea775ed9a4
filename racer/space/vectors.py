"""Configurations as vectors: each parameter's position in its range, NaN where it is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # its parts are imported when they are used

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from racer.space.parameters import Parameter


def choice_counts(parameters: Mapping[str, Parameter]) -> NDArray[np.intp]:
    """Return the number of values of each nominal parameter, 0 for other ones, shape (d,)."""
    domains = [p.domain({}) if p.scale == "nominal" else None for p in parameters.values()]
    return np.array([0 if domain is None else domain.n for domain in domains], dtype=np.intp)


def truncated_normal(middle: ArrayLike, spread: ArrayLike, u: ArrayLike) -> NDArray[np.float64]:
    """Return the u-quantiles of N(middle, spread^2) truncated to [0, 1]; shapes broadcast."""
    mu, sd, at = (np.asarray(part, dtype=np.float64) for part in (middle, spread, u))
    # wider ones are as good as uniform
    sd = np.minimum(sd, 1e3)
    low, high = scipy.special.ndtr(-mu / sd), scipy.special.ndtr((1.0 - mu) / sd)
    return np.clip(mu + sd * scipy.special.ndtri(low + at * (high - low)), 0.0, 1.0)


def vectors_around(
    parents: NDArray[np.float64],
    spread: NDArray[np.float64],
    choices: NDArray[np.intp],
    rng: np.random.Generator,
    each: int = 1,
) -> NDArray[np.float64]:
    """Draw `each` vectors around each parent (k, d), one after the other: (k * each, d).

    `spread` is (k,), `choices` (d,) from `choice_counts`.

    Numbers and levels come from a normal distribution truncated to the range; a choice is kept with
    probability 1 - spread, else any is equally probable; values that the parent lacks are uniform.
    """
    k, d = parents.shape
    u, kept = rng.random((k, each, d)), rng.random((k, each, d))
    absent, spread = np.isnan(parents)[:, None], spread[:, None, None]
    middle = np.where(absent, 0.5, parents[:, None])
    drawn = truncated_normal(middle, spread, u)
    # in the middle of a choice's slice of [0, 1], so that rounding cannot make it another one
    anew = (np.floor(u * choices) + 0.5) / np.maximum(choices, 1)
    chosen = np.where(kept < spread, anew, middle)
    drawn = np.where(choices > 0, chosen, drawn)
    drawn = np.where(absent, np.where(choices > 0, anew, u), drawn)
    return drawn.reshape(k * each, d)


def features(vectors: NDArray[np.float64], choices: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return vectors (k, d) as points (k, d, 2) for distances: number or 0, choice or 0."""
    absent = np.isnan(vectors)
    is_choice = choices > 0
    points = np.zeros((*vectors.shape, 2))
    points[:, :, 0] = np.where(is_choice, 0.0, np.where(absent, 0.5, vectors))
    which = np.minimum(np.floor(np.where(absent, 0.0, vectors) * choices), choices - 1) + 1
    points[:, :, 1] = np.where(is_choice & ~absent, which, 0.0)
    return points
