"""The posterior of Plackett and Luce's model from whole rankings of many items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer.stats._likelihoods import ChoiceModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from racer.stats._likelihoods import Choices

_TILE = 100  # rankings at a time, whose sums stay in the cache
_LONGEST = 600.0  # logarithm of a product, up to which it is a float, as is its inverse


class RankingModel(ChoiceModel):
    """As `ChoiceModel`, with n whole rankings, orders (n, K), the last of each first.

    The sets at risk of a ranking are nested: each adds one item to the set after it. So their sums
    are running sums, in time proportional to n K for a point, where sets take n K^2. `choices`
    counts how often each was chosen in these rankings too, and has the sets at risk of others only.
    """

    def __init__(
        self, choices: Choices, alpha: NDArray[np.float64], orders: NDArray[np.intp]
    ) -> None:
        super().__init__(choices, alpha)
        self._orders = np.ascontiguousarray(orders)
        self._places = np.argsort(orders, axis=1)
        nothing = np.empty((0, 0))
        self._known = (b"", (nothing, nothing))  # the sums at the last weights

    def gradient(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return its gradient, shape (k, d)."""
        weights = np.exp(self.log_weights(points))
        expected = np.array([w * self._shares(w)[0].sum(axis=0) for w in weights])
        return np.asarray(super().gradient(points) - expected @ self._basis)

    def precision(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return minus its Hessian at one point, shape (d, d)."""
        weights = np.exp(self.log_weights(point[None])[0])
        shares, squares = self._shares(weights)
        both = np.zeros((len(weights), len(weights)))
        items, smaller = np.ascontiguousarray(squares.T), np.empty(squares.shape[::-1])
        ones = np.ones(len(squares))
        for i, item in enumerate(items):  # sets that hold two items: those of the one chosen first
            np.minimum(item, items[i:], out=smaller[i:])
            both[i, i:] = both[i:, i] = smaller[i:] @ ones
        spread = np.diag(weights * shares.sum(axis=0)) - weights[:, None] * both * weights
        return np.asarray(super().precision(point) + self._basis.T @ spread @ self._basis)

    def _log_sums(self, eta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over sets at risk of the log of their weight, log weights (k, K), (k,)."""
        total = super()._log_sums(eta)
        weights = np.ascontiguousarray(np.exp(eta).T)
        # weights are at most 1; one logarithm is taken of so many factors
        factors = int(_LONGEST / max(np.log(len(weights)), -eta.min())) or 1
        for start in range(0, len(self._orders), _TILE):
            steps = np.ascontiguousarray(self._orders[start : start + _TILE].T)
            at_risk = weights[steps[0]]
            added, product = np.empty_like(at_risk), np.ones_like(at_risk)
            for place, items in enumerate(steps[1:], start=1):  # from two at risk to all
                weights.take(items, axis=0, out=added, mode="clip")
                at_risk += added
                product *= at_risk
                if place % factors == 0 or place == len(steps) - 1:
                    total += np.log(product, out=product).sum(axis=0)
                    product.fill(1.0)
        return total

    def _shares(
        self, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sums of 1 / weight and 1 / weight^2 of the sets that hold an item, (n, K)."""
        key = weights.tobytes()  # a Newton step asks for both derivatives at one point
        if key == self._known[0]:
            return self._known[1]
        inverse = 1.0 / np.cumsum(weights[self._orders], axis=1)
        inverse[:, 0] = 0.0  # the last one left is not chosen from others
        found = []
        for terms in (inverse, inverse**2):
            sums = np.cumsum(terms[:, ::-1], axis=1)[:, ::-1]
            found.append(np.take_along_axis(sums, self._places, axis=1))
        self._known = (key, (found[0], found[1]))
        return self._known[1]
