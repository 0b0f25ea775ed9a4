"""Evidence on means: bets on bounded values, or a self-normalised sum of unbounded ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racer._numerics import TIE, tie_sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Bounds = tuple[float, float]
    Floats = NDArray[np.float64]

_FRACTIONS = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7])
_RATES = np.geomspace(0.02, 1.5, 8)  # in units of the usual size of a value
_TINY = 1e-9
_HALVINGS = 26  # of the bounds, for a confidence limit
_LARGEST = 1e150  # of a value without bounds: squares and their sums hold
_CLOSE = 1e-6  # of the width of the bounds: nearer to the least value a null is hardly possible


class ExactBets:
    """Differences that are known exactly, and so whether they are beyond each of some nulls.

    `closed`: for each null, whether its boundary counts as beyond. The boundary is as wide as a tie
    between the two costs of a difference.
    """

    def __init__(self, nulls: Sequence[float], closed: Sequence[bool]) -> None:
        self._nulls, self._closed = nulls, closed
        self._values: Floats = np.zeros(0)
        self._sizes: Floats = np.zeros(0)

    def keep(self, _: NDArray[np.intp]) -> None:
        """Do nothing: the next comparison is of the candidates that are left."""

    def add(self, _: Floats) -> None:
        """Do nothing: the values of a block tell nothing more."""

    def compare(self, one: Floats, other: Floats) -> None:
        """Set by how much costs are larger than other costs; 0 where both are infinite."""
        self._values = apart(one, other)
        self._sizes = tie_sizes(one, other, among=True)

    def log_e(self, null: int = 0) -> Floats:
        """Return +inf where differences are beyond the null of that place, else -inf."""
        c = self._nulls[null]
        sizes = np.maximum(self._sizes, TIE * abs(c))
        is_closed = self._closed[null]
        is_beyond = self._values >= c - sizes if is_closed else self._values > c + sizes
        return np.where(is_beyond, np.inf, -np.inf)


def apart(one: Floats, other: Floats) -> Floats:
    """Return how much larger one is than the other; 0 where both are infinite."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(one - other, nan=0.0, posinf=np.inf, neginf=-np.inf)


def _log_payoffs(values: Floats, null: Floats, least: float, width: float) -> Floats:
    """Return the log payoffs of a bet on each fraction of the wealth, (k, fractions, ..).

    `null` (k, ..) is the largest mean of `values` that there can be under the null hypothesis.
    """
    room = np.maximum(null - least, _CLOSE * width)
    fractions = _FRACTIONS.reshape(-1, *(1 for _ in null.shape[1:]))
    gained = fractions * ((values - null) / room)[:, None]
    # an unseen cell counts as 0, which may lie outside the bounds: no wealth may fall below 0
    return np.asarray(np.log1p(np.maximum(gained, -1.0 + _TINY)))


def difference_bounds(bounds: Bounds | None) -> Bounds | None:
    """Return the bounds of differences between two values that have these bounds."""
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def mean_limits(
    values: Floats, bounds: Bounds, *, n_blocks: int | None, alpha: float
) -> tuple[Floats, Floats]:
    """Return confidence limits of the means of columns, (m,) each, valid at all looks.

    `values` (n, m) in the order of blocks, NaN from where on a column was not observed. Each side is
    wrong with probability alpha / 2, ever. With `n_blocks` it is the mean over that many blocks.
    """
    below = _refuted_below(values, bounds[0], bounds[1], n_blocks, alpha / 2.0)
    above = -_refuted_below(-values, -bounds[1], -bounds[0], n_blocks, alpha / 2.0)
    return below, above


def _refuted_below(
    values: Floats, least: float, most: float, n_blocks: int | None, alpha: float
) -> Floats:
    """Return the largest mean of each column that bets refute, and all below: by bisection."""
    seen = ~np.isnan(values)
    known = np.where(seen, values, 0.0)
    sums, counts = known.sum(axis=0), seen.sum(axis=0)
    before = np.cumsum(known, axis=0) - known
    low, high = np.full(len(sums), least), np.full(len(sums), most)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        null = np.broadcast_to(middle, values.shape)
        if n_blocks is not None:
            null = (n_blocks * middle - before) / (n_blocks - np.arange(len(values))[:, None])
        logs = np.where(seen[:, None], _log_payoffs(known, null, least, most - least), 0.0).sum(
            axis=0
        )
        # a mean of e-processes is an e-process: no fraction has to be chosen in advance
        log_e = np.logaddexp.reduce(logs, axis=0) - np.log(len(_FRACTIONS))
        is_refuted = log_e >= -np.log(alpha)
        low, high = np.where(is_refuted, middle, low), np.where(is_refuted, high, middle)
    if n_blocks is not None:
        # for certain: even if every block left has the least value
        low = np.maximum(low, (sums + (n_blocks - counts) * least) / n_blocks)
    return low


def log_e_path(
    values: Floats, null: float, bounds: Bounds, n_blocks: int | None
) -> Iterator[Floats]:
    """Yield the logs of `MeanBets` against one null after each value, (n,), some at a time."""
    logs, sums, step = np.zeros((len(_FRACTIONS), 1)), np.zeros(1), 64
    start = 0
    while start < len(values):
        some = values[start : start + step]
        sums = np.cumsum(np.append(sums[-1], some))
        nulls = np.full(len(some), null)
        if n_blocks is not None:
            left = np.maximum(n_blocks - np.arange(start, start + len(some)), 1)
            nulls = (nulls * n_blocks - sums[:-1]) / left
        gained = _log_payoffs(some[None], nulls[None], bounds[0], bounds[1] - bounds[0])[0]
        logs = np.cumsum(np.append(logs[:, -1:], gained, axis=1), axis=1)
        yield np.logaddexp.reduce(logs[:, 1:], axis=0) - np.log(len(_FRACTIONS))
        # most nulls are refuted soon
        start, step = start + len(some), min(2 * step, 1 << 14)


def free_limits(values: Floats, alpha: float) -> tuple[float, float]:
    """Return confidence limits of the mean of values (n,) without bounds, valid at all looks.

    Infinite where values are too few. Each side is wrong with probability alpha / 2, ever.
    """
    found = []
    for sign in (1.0, -1.0):
        bets = MeanBets((), (0.0,), bounds=None, n_blocks=None)
        for value in sign * values:
            bets.add(value)
        high = float((sign * values).mean())
        # down to a thousand times the largest deviation; without a limit there, it is infinite
        low = high - 1e3 * float(np.abs(values - values.mean()).max() + TIE * abs(high))
        needed = np.log(2.0 / alpha)
        is_known = bets.free_log_e(low) >= needed
        for _ in range(2 * _HALVINGS if is_known else 0):
            middle = (low + high) / 2.0
            is_refuted = bets.free_log_e(middle) >= needed
            low, high = (middle, high) if is_refuted else (low, middle)
        found.append(sign * (low if is_known else -np.inf))
    return found[0], found[1]


class MeanBets:
    """E-processes of "the mean of x is larger than c", for each of some values x and each null c.

    With `bounds`, the least and the largest possible x: the mean over fractions f of the product
    of 1 + f (x - c) / (c - least). If there are `n_blocks`, each used once and in random order, the
    question is about their mean, and c becomes the mean that the blocks left would then have
    (Waudby-Smith and Ramdas 2020, 2024). Without: the mean over rates r of exp(r S - r^2 Q / 2), S
    and Q the sums of x - c and of its squares; exact for symmetric x (de la Peña 1999), else for
    many blocks.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        nulls: Sequence[float],
        *,
        bounds: Bounds | None,
        n_blocks: int | None,
    ) -> None:
        self._nulls = np.array(nulls, dtype=np.float64).reshape(-1, *(1 for _ in shape))
        self._bounds, self._n_blocks = bounds, n_blocks
        self._n = 0
        self._sums = np.zeros(shape)
        self._squares = np.zeros(shape)
        self._logs = np.zeros((len(nulls), len(_FRACTIONS), *shape) if bounds is not None else 0)

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Keep only the candidates at these positions, in each dimension."""
        for axis in range(self._sums.ndim):
            self._sums = self._sums.take(kept, axis)
            self._squares = self._squares.take(kept, axis)
            if self._bounds is not None:
                self._logs = self._logs.take(kept, axis + 2)

    def add(self, values: Floats) -> None:
        """Take in the values of a block."""
        if self._bounds is not None:
            null, (least, most) = self._nulls, self._bounds
            if self._n_blocks is not None:
                left = max(self._n_blocks - self._n, 1)
                null = (null * self._n_blocks - self._sums) / left
            self._logs += _log_payoffs(values, null, least, most - least)
        else:
            values = np.clip(values, -_LARGEST, _LARGEST)
            self._squares += values**2
        self._sums += values
        self._n += 1

    def compare(self, one: Floats, other: Floats) -> None:
        """Do nothing: exact costs would be compared."""

    def log_e(self, null: int = 0) -> Floats:
        """Return the logarithms of the evidence that means are larger than the null of that place."""
        if self._bounds is not None:
            found = np.logaddexp.reduce(self._logs[null], axis=0)
            return np.asarray(found - np.log(len(_FRACTIONS)))
        return self.free_log_e(float(self._nulls[null].ravel()[0]))

    def free_log_e(self, c: float) -> Floats:
        """Return the log evidence that means of unbounded values are larger than c."""
        c = float(np.clip(c, -_LARGEST, _LARGEST))
        sums = self._sums - c * self._n
        # the sum of (x - c)^2 from running sums, for any c; rounding may leave it below 0
        squares = np.maximum(self._squares - 2.0 * c * self._sums + c * c * self._n, 0.0)
        some = squares[squares > 0.0]
        if not len(some):
            return np.zeros(sums.shape)
        rates = _RATES / np.sqrt(np.median(some) / self._n)
        rates = rates.reshape(-1, *(1 for _ in sums.shape))
        with np.errstate(over="ignore"):  # far from the others: no evidence
            found = np.logaddexp.reduce(rates * sums - 0.5 * rates**2 * squares, axis=0)
        return np.asarray(found - np.log(len(_RATES)))
