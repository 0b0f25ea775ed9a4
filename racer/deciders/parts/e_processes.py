"""Evidence that can be read at any time: for each pair, the wealth of bets on the sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from racer._numerics import RowBuffer, index_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

Sized = Literal["rank", "median"]

_FRACTIONS: dict[Sized, tuple[float, ...]] = {
    "rank": (0.5, 0.7, 0.9),
    "median": (0.1, 0.2, 0.35, 0.5, 0.75, 1.0),
}
_FULL: dict[Sized, float] = {"rank": 1.0, "median": 3.0}  # the size of the largest bet
_MOST = np.finfo(np.float64).max
_LARGEST = float(np.log(_MOST))
_ENOUGH = 256  # sizes of a pair that later ones are measured by: bounds time and memory


class Duels:
    """For each of n pairs, bets on which costs more, sized by the difference of their costs.

    The e-process of a pair is the mean over fractions c of the product over blocks of 1 + b(c s), s
    the sign of the difference times its size relative to the pair's so far: "median", size / median
    up to 3, b = tanh; "rank", mid-rank / number, b(x) = x. As b is odd and nondecreasing, each mean
    is 1 at most if one is not worse than the other. Ties and unseen blocks bet nothing.
    """

    def __init__(self, n: int, sized: Sized) -> None:
        self._sized: Sized = sized
        self._fractions = np.array(_FRACTIONS[sized])[:, None]
        # the logs for (one, other) and for (other, one), by fraction
        self._logs = np.zeros((2, len(self._fractions), n))
        self._sizes = RowBuffer(n, np.float64)  # ascending, then inf where none
        self._known = np.zeros(n, dtype=np.intp)
        self.signed: NDArray[np.float64] = np.zeros(
            n
        )  # of the last block: how large the differences were, with signs

    def keep(self, stay: NDArray[np.intp]) -> None:
        """Keep only the pairs at these positions."""
        self._logs, self._known = self._logs[:, :, stay], self._known[stay]
        self.signed = self.signed[stay]
        self._sizes.keep(columns=stay)

    @property
    def n_fractions(self) -> int:
        """Fractions of the wealth that are bet side by side."""
        return len(self._fractions)

    def add(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Settle the bets of a block, costs (n,); return the logs for `one`, (n_fractions, n)."""
        sign = np.subtract(one > other, one < other, dtype=np.float64)
        sized = (sign != 0.0) & np.isfinite(one) & np.isfinite(other)
        with np.errstate(over="ignore", invalid="ignore"):  # costs near the largest float
            size = np.where(sized, np.minimum(np.abs(one - other), _MOST), np.inf)
        self.signed = sign * self._relative(size, sized)
        bet = self._fractions * self.signed
        if self._sized == "median":
            bet = np.tanh(bet)
        made: NDArray[np.float64] = np.log1p(np.array([bet, -bet]))
        self._logs += made
        gained: NDArray[np.float64] = made[0]
        return gained

    def _relative(self, size: NDArray[np.float64], sized: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Take in the sizes of a block; return them relative to all so far, themselves included."""
        relative = np.full(len(size), _FULL[self._sized])
        enters = sized & (self._known < _ENOUGH)
        if self._sized == "rank":
            before = self._sizes.rows
            smaller = np.add.reduce(before < size, axis=0, dtype=np.intp)
            equal = np.add.reduce(before == size, axis=0, dtype=np.intp)
            place = smaller + 0.5 * equal + 1.0
            np.divide(place, self._known + 1, out=relative, where=sized)
        # a size may count in its own median: under the hypothesis only its sign is random
        if enters.any():
            self._insert(size, enters)
        if self._sized == "rank" or not len(self._sizes):
            return relative
        rows, columns = self._sizes.rows, np.arange(len(size))
        known = np.maximum(self._known, 1)
        low, high = rows[(known - 1) // 2, columns], rows[known // 2, columns]
        with np.errstate(over="ignore", invalid="ignore"):
            median = low + (high - low) / 2.0  # of the smallest floats and of the largest
            np.divide(size, median, out=relative, where=sized)
        np.minimum(relative, _FULL[self._sized], out=relative)
        return relative

    def _insert(self, size: NDArray[np.float64], enters: NDArray[np.bool_]) -> None:
        """Put sizes into their ascending columns."""
        if self._known[enters].max() == len(self._sizes):
            self._sizes.append(np.full(len(size), np.inf))
        self._known += enters
        rows = self._sizes.rows
        # one step of an insertion sort, in all columns at once
        moved = np.minimum(rows, np.where(enters, size, np.inf))
        np.maximum(rows[:-1], moved[1:], out=moved[1:])
        rows[:] = moved

    def log_e(self, more: int = 0) -> NDArray[np.float64]:
        """Return log E that one, and that other, costs more, (2, n), after `more` best bets."""
        full = self._fractions * _FULL[self._sized]
        best = np.log1p(np.tanh(full) if self._sized == "median" else full)
        mixed: NDArray[np.float64] = np.logaddexp.reduce(self._logs + more * best, axis=1)
        mixed -= np.log(len(best))
        return mixed


class Bets:
    """For each ordered pair (i, j) of m candidates, bets that i costs more than j.

    As `Duels`, sized by medians. With a `margin`, that i costs more than j less the margin: so may
    each of two.
    """

    def __init__(self, m: int, margin: float = 0.0) -> None:
        self._m, self.margin = m, margin
        self._duels = Duels(len(self._pairs()[0]), "median")

    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the pairs that bet: of i and j, both ways only with a margin."""
        if self.margin:
            first, second = np.nonzero(~np.eye(self._m, dtype=np.bool_))
            return first, second
        return index_pairs(self._m)

    @property
    def signed(self) -> NDArray[np.float64]:
        """The differences of the last block by sign and relative size, (m, m)."""
        table = np.zeros((self._m, self._m))
        table[self._pairs()] = self._duels.signed
        return table if self.margin else table - table.T

    def keep(self, kept: NDArray[np.intp]) -> None:
        """Keep only the candidates at these positions (ascending)."""
        first, second = self._pairs()
        self._duels.keep(np.flatnonzero(np.isin(first, kept) & np.isin(second, kept)))
        self._m = len(kept)

    def add(self, costs: NDArray[np.float64]) -> None:
        """Settle the bets of one block: costs, shape (m,), +inf for a failed cell."""
        first, second = self._pairs()
        self._duels.add(costs[first] + self.margin, costs[second])

    def log_e(self, more: int = 0) -> NDArray[np.float64]:
        """Return log E_ij, (m, m), -inf on the diagonal, after `more` blocks on which i fails."""
        first, second = self._pairs()
        table = np.full((self._m, self._m), -np.inf)
        against, in_favour = self._duels.log_e(more)
        if not self.margin:
            table[second, first] = in_favour
        table[first, second] = against
        return table


def as_e_values(log_e: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Return e-values of their logarithms, at most the largest float."""
    return np.asarray(np.exp(np.minimum(log_e, _LARGEST)))


def with_frozen(
    before: NDArray[np.float64], log_e: NDArray[np.float64], kept: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return `before` (m,) of the candidates kept, plus the log E_ij (m, m) against the others."""
    gone = np.delete(np.arange(len(before)), kept)
    frozen = np.logaddexp.reduce(log_e[np.ix_(kept, gone)], axis=1)
    return np.asarray(np.logaddexp(before[kept], frozen))


def log_e_of_signs(lost: NDArray[np.int64], won: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log E_ij from signs alone: the likelihood ratio of theta ~ Uniform(1/2, 1) to 1/2.

    E = 2^(n+1) B(lost + 1, won + 1) P(Beta(lost + 1, won + 1) > 1/2), n = lost + won.
    """
    from scipy.special import bdtr, betaln  # noqa: PLC0415

    base = int(won.max(initial=0)) + 1
    counts, inverse = np.unique(lost * base + won, return_inverse=True)
    losses, wins = np.divmod(counts, base)
    n = losses + wins
    with np.errstate(divide="ignore"):
        # P(Beta(l + 1, w + 1) > 1/2) = P(Bin(n + 1, 1/2) <= l)
        tail = np.log(bdtr(losses, n + 1, 0.5))
    log_e = (n + 1) * np.log(2.0) + betaln(losses + 1, wins + 1) + tail
    # where the tail underflows: theta >= 1/2 makes E at least 1 / (wins + 1)
    bounded: NDArray[np.float64] = np.maximum(log_e, -np.log(wins + 1.0))
    return bounded[inverse].reshape(lost.shape)


def median_interval(values: NDArray[np.float64], log_needed: float) -> tuple[float, float]:
    """Return the medians of which no e-process of signs has reached an e-value: a confidence sequence.

    Between two order statistics, whose places depend on the number of values alone; infinite while
    there are too few.
    """
    n = len(values)
    beyond = np.arange(n // 2 + 1)  # values on the other side of a median
    cut = int((log_e_of_signs(n - beyond, beyond) >= log_needed).sum())
    if not cut:
        return -np.inf, np.inf
    ordered = np.sort(values)
    return float(ordered[cut - 1]), float(ordered[n - cut])
