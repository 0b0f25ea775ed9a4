"""How probably configurations fail on instances, by where others have failed."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

_CELLS = 400  # that are learnt from, at most
_PARTS = ((0.4, 0.4, 0.1, 0.1), (0.2, 0.2, 0.5, 0.1), (0.1, 0.8, 0.0, 0.1))
_SIGNALS, _LENGTHS = (0.1, 0.3, 0.8, 0.98), (0.1, 0.3, 1.0)  # of the variance; of a range
_LIKELY = 3.0  # log likelihood less than the best: laws that count
_GROWTH = 1.5  # of the cells, or of the failures, until all laws are tried again
PRICE = 150.0  # spreads of a block: of failing everywhere, by chance
FAR = 1e3  # the same, of each instance on which failing is more probable than not
_AT_ONCE = 256  # configurations of which likeness stays within the processor's cache


class Law(NamedTuple):
    """A law of failures: parts of the signal, and the length over which likeness decays."""

    signal: float
    instance: float
    alike: float
    both: float
    own: float
    length: float


CHANCE = tuple(Law(signal, 1.0, 0.0, 0.0, 0.0, 1.0) for signal in (0.0, 0.1, 0.3))
_LAWS = tuple(Law(s, *parts, length) for s, parts, length in product(_SIGNALS, _PARTS, _LENGTHS))


class Failing:
    """Probabilities that configurations fail on instances: a Gaussian process on 0 and 1.

    Its covariance has a part of the instance, one of alike configurations, one of these on the same
    instance, and one of the configuration; the rest is chance. Laws are averaged by likelihood; that
    failures are chance, or the instance's alone, is as likely beforehand as all others together.

    `points` (u, d, 2) stand for configurations; each cell is of one of them, `at` (n,), on one of
    `n_places` instances, `places` (n,), and may have `failed` (n,).
    """

    def __init__(
        self,
        points: Floats,
        at: Indices,
        places: Indices,
        failed: NDArray[np.bool_],
        n_places: int,
        last: Failing | None = None,
    ) -> None:
        self.n_cells = len(at)
        self._points, self._n = points, n_places
        # half a failure among one more cell: a rate of 0 or 1 would leave no variance
        self.rate = float((failed.sum() + 0.5) / (len(failed) + 1.0))
        hard = np.bincount(places, failed, n_places) > 0
        # a fixed seed: equal data give equal cells, and no draw of the race is spent
        luck = np.random.default_rng(0).random(len(at))
        order = np.lexsort((luck, ~hard[places]))  # by instance, never by outcome
        some = order[:_CELLS]
        rest = np.asarray(failed - self.rate, dtype=np.float64)
        known = at[some], places[some], rest[some]
        found = np.array([len(at), failed.sum()])
        if last is not None and (found <= _GROWTH * last.searched_at).all():
            self.searched_at: Indices = last.searched_at
            self._fit(*known, last.laws)
            if self.likeliest == last.likeliest:
                return
        # few laws are at hand, and another may explain what the likeliest no longer does
        self.searched_at = found
        self._fit(*known, (*CHANCE, *_LAWS))

    def _fit(self, at: Indices, places: Indices, rest: Floats, laws: Sequence[Law]) -> None:
        """Keep the likely laws, with weights of cells (u, places) by which each predicts."""
        variance = self.rate * (1.0 - self.rate)
        same, own = places[:, None] == places, at[:, None] == at
        alike = {
            length: likeness(self._points, self._points, length)[np.ix_(at, at)]
            for length in {law.length for law in laws}
        }
        fits, found = [], []
        for law in laws:
            k = alike[law.length]
            signal = law.instance * same + k * (law.alike + law.both * same) + law.own * own
            covariance = variance * law.signal * signal
            covariance.flat[:: len(at) + 1] += variance * (1.0 - law.signal)
            root = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
            weights = cho_solve(root, rest, check_finite=False)
            prior = 1.0 / len(CHANCE) if law in CHANCE else 1.0 / len(_LAWS)
            # log marginal likelihood (Rasmussen and Williams 2006, eq. 2.30), less a constant
            fits.append(np.log(prior) - 0.5 * rest @ weights - np.log(np.diag(root[0])).sum())
            by_cell = np.zeros((len(self._points), self._n))
            np.add.at(by_cell, (at, places), weights * variance * law.signal)
            found.append(by_cell)
        fit = np.array(fits)
        likely = np.exp(fit - fit.max())
        is_chance = np.array([law in CHANCE for law in laws])
        # the best of either kind is kept, so that the next fit may change its mind
        best = [np.where(kind, fit, -np.inf).argmax() for kind in (is_chance, ~is_chance)]
        keep = np.union1d(np.flatnonzero(likely > np.exp(-_LIKELY)), best).tolist()
        self.laws, self.likeliest = [laws[i] for i in keep], laws[int(fit.argmax())]
        self.weights = likely[keep] / likely[keep].sum()
        self._by_cell = [found[i] for i in keep]

    def __call__(self, points: Floats, numbers: Indices | None = None) -> tuple[Floats, Floats]:
        """Return probabilities (k, places) of points, and the prices (k,) of their chance part.

        `numbers` are their places among known points. As far as failing is a property of a
        configuration on an instance, an evaluation may settle the doubt, and it costs nothing.
        """
        out, cost = np.full((len(points), self._n), self.rate), np.zeros(len(points))
        for first in range(0, len(points), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            alike: dict[float, Floats] = {}
            for law, weight, by_cell in zip(self.laws, self.weights, self._by_cell, strict=True):
                total = by_cell.sum(axis=1)
                out[part] += weight * law.instance * by_cell.sum(axis=0)
                if law in CHANCE:
                    continue
                if law.length not in alike:
                    alike[law.length] = likeness(points[part], self._points, law.length)
                k = alike[law.length]
                own = law.alike * (k @ total)[:, None] + law.both * (k @ by_cell)
                if numbers is not None:
                    mine = numbers[part]
                    own += law.own * np.where(mine >= 0, total[mine], 0.0)[:, None]
                out[part] += weight * own
                cost[part] += weight * (1.0 - law.signal) * PRICE * own.mean(axis=1)
        return np.clip(out, 0.0, 1.0), cost

    def price(self, points: Floats, numbers: Indices | None = None) -> Floats:
        """Return the prices (k,) of points: for the share that fails, and for each sure failure."""
        failing, chance = self(points, numbers)
        return np.asarray(chance + FAR * sure(failing))


def likeness(one: Floats, other: Floats, length: float) -> Floats:
    """Return how alike points (k, d, 2) and (m, d, 2) are: jointly, and in single parameters."""
    joint = np.zeros((len(one), len(other)), np.float32)
    single = np.zeros_like(joint)
    for j in range(one.shape[1]):
        mine, theirs = one[:, j].astype(np.float32), other[:, j].astype(np.float32)
        apart = np.abs(mine[:, None, 0] - theirs[:, 0]) + (mine[:, None, 1] != theirs[:, 1])
        joint += apart
        single += np.exp(apart / np.float32(-length))
    both = np.exp(joint / np.float32(-length)) + single / np.float32(one.shape[1])
    return np.asarray(0.5 * both, dtype=np.float64)


def sure(failing: Floats) -> Indices:
    """Return on how many instances each fails more probably than not."""
    return np.asarray((failing > 0.5).sum(axis=1))
