"""The probability that each of several jointly distributed values is the least."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy  # its parts are imported when they are used

from racer.failures import RATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


_POINTS = 4096  # of the lattice of draws
_MANY_POINTS = 16_384  # of the longest lattice
_LEVELS = 128  # of the common scale, and of the share of failures
_TURNS = 32  # of the lattice
_BEYOND = 100.0  # of what values differ by: who is in a higher class is so far behind
_TIE = 1e-9  # of what candidates differ by: they are equal
_FAR = 6.0  # standard deviations: candidates so far behind have no chance
# Candidates are integrated over if each has more of its own than the first of the largest variance,
# and if what they share is at most the second of what they have of their own.
_OWN, _SHARED = 1e-3, 1.0
_NODES = 4  # of the integral over the least value, at each point
_CELLS = 65_536  # nodes times candidates
_COUNTED = 262_144  # points times candidates where wins are counted
_LEAST_POINTS = 256
_LEAST_SHARE = 4  # of these, for a part
_ROOT_2_PI = math.sqrt(2.0 * math.pi)
_SAME = 1e-9  # of a variance: rounding
_RAISED = 9.0  # standard deviations by which raised variances alone may tell two candidates apart
_AT_ONCE = 32_768  # cells that fit into a processor's cache
_TAILS = (-4.0, 3.2)  # of the least value: standard deviations below and above a candidate
_LEAST_PLACE = -6.0  # standard deviations: a candidate that is further away is so for certain
# Of the logarithm of the odds of a standard normal value, an odd polynomial: probabilities between
# -6 and 6 are off by 2e-5 at most (tests/stats/test_least.py).
_LOG_ODDS = (1.59543567, 0.0735965141, -0.00063161452)


class Part(NamedTuple):
    """One part of a mixture: its weight, and the location (m,) and scale (m, m) of candidates.

    `own` (m,) is the part of the variances that no two candidates share: taken off the diagonal, it
    leaves a covariance.
    """

    weight: float
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    spread: float = 0.0  # prior variance of the candidates
    own: NDArray[np.float64] | None = None

    def of(self, some: NDArray[np.intp]) -> Part:
        """Return the part of some of the candidates."""
        covariance = self.covariance[some][:, some]
        own = None if self.own is None else self.own[some]
        return Part(self.weight, self.mean[some], covariance, self.spread, own)


def probability_least(
    parts: Sequence[Part], freedom: float = math.inf, failing: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the probability that each of m jointly distributed values is the least, (m,).

    Values are a mixture of Student's t with `freedom` degrees of freedom; candidates that certainly
    tie share the probability. Given their shared parts they are independent: so own parts are
    integrated out, and a lattice of points stands for the rest. Where a candidate has next to
    nothing of its own, wins are counted at more points. The points are fixed: equal arguments give
    equal answers. With `failing`, probabilities (m, g) of g classes, a value counts only if no other
    candidate is in a lower class.
    """
    m = len(parts[0].mean)
    uncertain = failing is not None and not (failing.max(axis=1) == 1.0).all()
    if failing is not None and not uncertain:
        classes = failing.argmax(axis=1)
        lowest = np.flatnonzero(classes == classes.min())
        if len(lowest) < m:
            probability = np.zeros(m)
            probability[lowest] = probability_least([part.of(lowest) for part in parts], freedom)
            return probability
    near = np.arange(m) if uncertain else _contenders(parts, freedom)
    k = len(near)
    some = [_Split.of(part.of(near), _TIE * float(np.ptp(part.mean))) for part in parts]
    classes = failing.cumsum(axis=1) if failing is not None and uncertain else None
    # rounded up to multiples of 32, so that few lattices have to be cached
    lattice = _lattice(-(-(k if classes is None else 2 * k) // 32) * 32)
    won = np.zeros(k)
    integrated = [part for part in some if part.is_integrated]
    if integrated:
        n = max(_CELLS // (_NODES * k), _LEAST_POINTS)
        won += _integrated(_drawn(integrated, lattice, n, freedom, classes))
    counted = [part for part in some if not part.is_integrated]
    if counted:
        n = max(_COUNTED // k, _POINTS)
        won += _counted(_drawn(counted, lattice, n, freedom, classes))
    probability = np.zeros(m)
    probability[near] = won / won.sum()
    return probability


class Rates(NamedTuple):
    """Failure rates of m candidates: h laws, and what is known of the blocks that count.

    `weights` (h,) of the laws, and `laws` (h, m, g), come from `racer.failures.rate_laws`.
    """

    weights: NDArray[np.float64]
    laws: NDArray[np.float64]
    lost: NDArray[np.float64]  # the share of the blocks that a candidate is known to fail, (m,)
    ahead: NDArray[np.float64]  # and the share of which nothing is known

    def drawn(self, normal: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rates (m, p) at normal points (m + 1, p)."""
        chances, rates = scipy.special.ndtr(normal), np.empty(normal[1:].shape)
        at = np.searchsorted(self.weights.cumsum()[:-1], chances[0])
        for law in np.unique(at).tolist():
            here, below = at == law, self.laws[law].cumsum(axis=1)[:, None, :-1]
            rates[:, here] = RATES[(chances[1:, here, None] > below).sum(axis=2)]
        return self.lost[:, None] + self.ahead[:, None] * rates


def probability_least_mean(
    parts: Sequence[Part],
    freedom: float,
    first: NDArray[np.bool_],
    price: float,
    rates: Rates,
) -> NDArray[np.float64]:
    """Return the probability of each of m candidates to have the least mean, failures priced, (m,).

    Parts are of logarithms. Candidates that are not `first`, a mask, are no less than the least of
    these, unless these fail more often.
    """
    m = len(first)
    lattice = _lattice(-(-(2 * m + 1) // 32) * 32)
    some = [_Split.of(part._replace(own=None), 0.0) for part in parts]
    found = _drawn(some, lattice, max(_COUNTED // m, _POINTS), freedom, None, alone=False)
    p = found.places.shape[1]
    least = np.where(first[:, None], found.places, np.inf).min(axis=0)
    places = np.where(first[:, None], found.places, np.maximum(found.places, least + _TIE))
    rate = rates.drawn(lattice.normal[m : 2 * m + 1, :p])
    with np.errstate(over="ignore"):  # infinite is last, too
        means = np.exp(places) * (1.0 - rate) + price * rate
    return _counted(found._replace(places=means, tie=np.zeros(p)))


class _Split(NamedTuple):
    """A part of k candidates: each one's own deviation, and a root of their shared covariance.

    Standard deviations are 0 if there is too little of their own to be integrated over.
    """

    weight: float
    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]  # (k,)
    root: NDArray[np.float64] | None  # (k, k); None if they share nothing that tells them apart
    tie: float  # means that differ by less are equal

    @property
    def is_integrated(self) -> bool:
        """Whether each candidate has enough of its own."""
        return bool(self.deviation.any())

    @property
    def is_uncertain(self) -> bool:
        """Whether anything of this part is uncertain, failures apart."""
        return self.is_integrated or self.root is not None

    @classmethod
    def of(cls, part: Part, tie: float) -> _Split:
        """Split a part. What all candidates share alike is left out."""
        variance = part.covariance.diagonal()
        least = _SAME * float(variance.sum())
        if part.own is not None and part.own.min() > _OWN * variance.max():
            shared = _differences(part.covariance, part.own)
            size = float(shared.trace())
            if size <= _SHARED * part.own.sum():
                root = _raised_root(shared, least) if size > least else None
                return cls(part.weight, part.mean, np.sqrt(part.own), root, tie)
        none = np.zeros(len(part.mean))
        root = _raised_root(_differences(part.covariance, none), least) if least > 0.0 else None
        return cls(part.weight, part.mean, none, root, max(tie, _RAISED * math.sqrt(least)))


def _differences(covariance: NDArray[np.float64], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the shared covariance (k, k) of candidates' differences from their mean."""
    apart = covariance.copy()
    apart.flat[:: len(own) + 1] -= own
    apart -= apart.sum(axis=0) / len(own)
    apart -= apart.sum(axis=1, keepdims=True) / len(own)
    return apart


def _raised_root(covariance: NDArray[np.float64], least: float) -> NDArray[np.float64]:
    """Return a root of a covariance (k, k) whose variances are raised, so that it has one."""
    covariance.flat[:: len(covariance) + 1] += least
    return root_of(covariance)


class _Drawn(NamedTuple):
    """Values of k candidates at p points that have weights, independent of each other given these.

    Candidates have standard deviations, (k, p), and are equal if they differ by less than `tie`.
    """

    places: NDArray[np.float64]  # (k, p)
    deviations: NDArray[np.float64]  # (k, p)
    weights: NDArray[np.float64]  # (p,)
    tie: NDArray[np.float64]  # (p,)
    shift: NDArray[np.float64]  # from 0 to 1, (p,)


def _drawn(
    parts: Sequence[_Split],
    lattice: _Lattice,
    n: int,
    freedom: float,
    classes: NDArray[np.float64] | None,
    *,
    alone: bool = True,
) -> _Drawn:
    """Return values at about n points of a lattice, of which each part has its share.

    `classes` (k, g): probabilities to be in each class or a lower one.
    """
    n = min(n, len(lattice.shift) - _LEAST_SHARE * len(parts))
    counts = [
        max(round(n * part.weight), _LEAST_SHARE)
        if part.is_uncertain or classes is not None or not alone
        else 1
        for part in parts
    ]
    ends = np.cumsum(counts).tolist()
    k, p = len(parts[0].mean), ends[-1]
    places, deviations = np.empty((k, p)), np.empty((k, p))
    weights, tie = np.empty(p), np.empty(p)
    for part, first, end in zip(parts, [0, *ends[:-1]], ends, strict=True):
        here = slice(first, end)
        places[:, here] = 0.0 if part.root is None else part.root @ lattice.normal[:k, here]
        deviations[:, here] = part.deviation[:, None]
        weights[here] = part.weight / (end - first)
        tie[here] = part.tie
    if freedom < math.inf:
        scale = lattice.scale(freedom, p)
        places /= scale
        deviations /= scale
    for part, first, end in zip(parts, [0, *ends[:-1]], ends, strict=True):
        places[:, first:end] += part.mean[:, None]
    if classes is not None:
        beyond = _BEYOND * (float(np.ptp(places)) + float(deviations.max()) + 1e-300)
        places += np.where(in_lowest_class(classes, lattice.normal[k : 2 * k, :p]), 0.0, beyond)
    return _Drawn(places, deviations, weights, tie, lattice.shift[:p])


def in_lowest_class(classes: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which of k candidates is in no higher class than any other at normal points (k, p).

    `classes` (k, g): probabilities to be in each class or a lower one.
    """
    drawn = (scipy.special.ndtr(points)[:, :, None] > classes[:, None, :-1]).sum(axis=2)
    return np.asarray(drawn == drawn.min(axis=0))


def _counted(found: _Drawn) -> NDArray[np.float64]:
    """Return the weight of the points at which each candidate is the smallest, (k,)."""
    leads = found.places <= found.places.min(axis=0) + found.tie
    return np.asarray(leads @ (found.weights / leads.sum(axis=0)))


def _integrated(found: _Drawn) -> NDArray[np.float64]:
    """Return the probability of each candidate to be the smallest, (k,), by integration.

    Over x: the density of candidate i there, times the probability that each other is beyond. By
    the trapezoidal rule, with nodes that each point shifts.
    """
    k, p = found.places.shape
    won = np.zeros(k)
    low, high = ((found.places + tail * found.deviations).min(axis=0) for tail in _TAILS)
    apart = (high - low) / _NODES
    nodes = low + apart * (np.arange(_NODES)[:, None] + found.shift)
    inverses = 1.0 / found.deviations
    step = max(_AT_ONCE // (_NODES * k), 1)
    for first in range(0, p, step):
        here = slice(first, first + step)
        inverse = inverses[:, None, here]
        z = nodes[:, here] - found.places[:, None, here]
        z *= inverse
        np.clip(z, _LEAST_PLACE, math.inf, out=z)  # in a quarter of the time of np.maximum
        square = z * z
        # density over survival, times one product of all survivals: k factors, not k^2
        beyond = square * _LOG_ODDS[2]  # the reciprocal of its probability
        beyond += _LOG_ODDS[1]
        beyond *= square
        beyond += _LOG_ODDS[0]
        beyond *= z
        np.exp(beyond, out=beyond)
        beyond += 1.0
        square *= -0.5
        hazard = np.exp(square, out=square)
        hazard *= beyond
        hazard *= inverse
        with np.errstate(over="ignore"):
            nobody = found.weights[here] * apart[here] / (beyond.prod(axis=0) * _ROOT_2_PI)
        won += hazard.reshape(k, -1) @ nobody.ravel()
    return won


def _contenders(parts: Sequence[Part], freedom: float) -> NDArray[np.intp]:
    """Return the candidates that have a chance under any part, nearest to the first place first."""
    behind = np.full(len(parts[0].mean), np.inf)
    for part in parts:
        variance = np.maximum(np.diag(part.covariance), 0.0)
        first = int(np.lexsort((variance, part.mean))[0])
        apart = np.sqrt(np.maximum(variance + variance[first] - 2.0 * part.covariance[first], 0.0))
        gap = part.mean - part.mean[first]
        gap[gap <= _TIE * gap.max()] = 0.0
        apart = np.maximum(apart, 1e-12 * gap)
        behind = np.minimum(behind, np.where(gap > 0.0, gap / (apart + 1e-300), 0.0))
    order = np.argsort(behind, kind="stable")
    return order[behind[order] <= _FAR * (1.0 + 8.0 / freedom)]


def root_of(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a lower triangle whose product with its transpose is the covariance."""
    size = float(covariance.trace()) / len(covariance)
    if size == 0.0:
        return np.zeros_like(covariance)
    jitter, raised = 0.0, covariance
    while True:
        try:
            return np.asarray(np.linalg.cholesky(raised))  # scipy.linalg is slow to load
        except np.linalg.LinAlgError:
            jitter = max(10.0 * jitter, 1e-12 * size)
            raised = covariance + jitter * np.eye(len(covariance))


def lattice_points(
    m: int, *, fewer: bool = False, turn: int = 0
) -> tuple[NDArray[np.float64], Callable[[float], NDArray[np.float64]]]:
    """Return points of m normal variables, and the root of a common scale.

    Shapes (m, p), and (p,) as a function of degrees of freedom; p is 4 096, or a quarter. Each
    `turn` (0 to 31) begins at another coordinate of the lattice.
    """
    lattice = _lattice(-(-(m + _TURNS) // 32) * 32)
    p = _POINTS // 4 if fewer else _POINTS

    def scale(freedom: float) -> NDArray[np.float64]:
        return lattice.scale(freedom, p)

    return lattice.normal[turn : turn + m, :p], scale


class _Lattice(NamedTuple):
    """Points of d normal variables with their levels, (d, p), and of two more coordinates, (p,)."""

    first: NDArray[np.intp]  # levels of the common scale
    normal: NDArray[np.float64]
    levels: NDArray[np.intp]
    shift: NDArray[np.float64]  # from 0 to 1

    def scale(self, freedom: float, p: int) -> NDArray[np.float64]:
        """Return the root of a common scale with these degrees of freedom at the first p points."""
        if math.isinf(freedom):
            return np.ones(p)
        return np.asarray(_scales(freedom)[self.first[:p]])


@lru_cache(maxsize=64)
def _scales(freedom: float) -> NDArray[np.float64]:
    """Return the root of a common scale with these degrees of freedom at each level."""
    quantiles = scipy.special.gammaincinv(0.5 * freedom, _middles())
    return np.asarray(np.sqrt(2.0 * quantiles / freedom))


def _middles() -> NDArray[np.float64]:
    """Return the probabilities in the middle of each level."""
    return np.asarray((np.arange(_LEVELS) + 0.5) / _LEVELS)


@lru_cache(maxsize=4)
def _lattice(d: int) -> _Lattice:
    """Return Richtmyer's lattice: multiples of the square roots of primes, less their whole parts.

    The more coordinates, the fewer points.
    """
    n = max(_MANY_POINTS * 32 // d, _POINTS)
    places = (np.arange(n) + 0.5) * np.sqrt(_primes(d + 2))[:, None] % 1.0
    levels = (places[:-1] * _LEVELS).astype(np.intp)
    normal = scipy.special.ndtri(np.clip(places[1:-1], 1e-9, 1 - 1e-9))
    return _Lattice(levels[0], normal, levels[1:], places[-1])


def _primes(count: int) -> NDArray[np.float64]:
    """Return the first primes."""
    end = max(16, int(count * (math.log(count + 1.0) + math.log(math.log(count + 3.0)) + 2.0)))
    is_prime = np.ones(end, dtype=np.bool_)
    is_prime[:2] = False
    for number in range(2, math.isqrt(end) + 1):
        is_prime[number * number :: number] &= number * number >= end
    return np.flatnonzero(is_prime)[:count].astype(np.float64)
