"""Sign flips of whole blocks: whether all mean ranks are equal, from few blocks on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from racer._checks import whole
from racer._numerics import one_blas_thread
from racer.seeding import bits_for, check_seed
from racer.stats._validation import complete_blocks, frozen
from racer.stats.friedman import RankSums, centred, chi_square, iman_davenport
from racer.stats.ranks import ranks_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Signs: TypeAlias = "NDArray[np.float64] | Flips"

_MANY = 200  # candidates, above which an n x n system is solved, if that is smaller
_CELLS = 1 << 22  # signs held at a time
_LEAST = 1e-6  # of the shrinkage: keeps the matrix regular where all blocks rank alike


@dataclass(frozen=True, eq=False)
class SignFlipResult:
    """Result of `sign_flip_test`.

    Attributes
    ----------
    statistic : float
        S' M^-1 S: S the sum of the centred ranks over blocks, M their shrunk second moment.
    p_value : float
        Share of the flips with a statistic as large; exact if these are all there are. If none
        is, the tail beyond it of a gamma law with the mean and the variance of theirs.
    mean_ranks : ndarray, shape (m,)
    n_blocks, n_dropped : int
        Complete blocks used, and blocks left out because of NaN.

    Examples
    --------
    >>> from racer.stats import sign_flip_test
    >>> scores = [[1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]]
    >>> result = sign_flip_test(scores)
    >>> result.p_value
    0.015625
    """

    statistic: float
    p_value: float
    mean_ranks: NDArray[np.float64]
    n_blocks: int
    n_dropped: int


def flips_of(block: int, flips: int, seed: int) -> NDArray[np.float64]:
    """Return a block's signs in each of `flips` flips, (flips,); the first changes nothing."""
    words = bits_for(seed, "flips", block).random_raw((flips + 1) // 2)
    # two numbers of 32 bits from each word, little-endian so that every machine has the same signs
    halves = words.astype("<u8", copy=False).view("<u4")[:flips]
    signs = np.asarray(
        (halves >> 31) * 2.0 - 1.0, np.float64
    )  # of integers(0, 2), in half the time
    signs[0] = 1.0
    return signs


@lru_cache(maxsize=16)
def all_flips(n: int) -> NDArray[np.float64]:
    """Return all ways to flip n blocks, the last never, shape (2^(n-1), n); row 0 flips none."""
    # a flip and its opposite have the same statistic: half of all are enough
    bits = np.arange(1 << (n - 1))[:, None] >> np.arange(n) & 1
    return np.asarray(1.0 - 2.0 * bits, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Flips:
    """Random flips of many blocks, (k, n), drawn again, some blocks at a time, for each product."""

    places: NDArray[np.intp]
    flips: int
    seed: int

    def __len__(self) -> int:
        return self.flips

    def __matmul__(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        product = np.zeros((self.flips, table.shape[1]))
        step = max(1, _CELLS // self.flips)
        for at in range(0, len(table), step):
            some = slice(at, at + step)
            drawn = [flips_of(j, self.flips, self.seed) for j in self.places[some].tolist()]
            product += np.array(drawn).T @ table[some]
        return product


def signs(places: NDArray[np.intp], flips: int, seed: int) -> Signs:
    """Return all ways to flip n blocks, or `flips` random ones, (k, n); row 0 flips none.

    A block's flips depend on its place, of `places` (n,), not on its number.
    """
    n = len(places)
    if 1 << (n - 1) <= flips:
        return all_flips(n).take(places, axis=1)
    if n * flips > _CELLS:
        return Flips(places, flips, seed)
    return np.stack([flips_of(place, flips, seed) for place in places.tolist()], axis=1)


def _shrunk(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the second moment about 0 of centred ranks (n, m), shrunk to a multiple of identity.

    By the intensity of Ledoit and Wolf (2004, Lemma 3.2), in the m - 1 directions in which ranks
    vary; its value in the other directions does not matter.
    """
    n, m = ranks.shape
    moment = ranks.T @ ranks / n
    scale = moment.trace() / (m - 1)
    squared = float(np.vdot(moment, moment))
    distance = squared - (m - 1) * scale**2
    noise = (float(((ranks**2).sum(axis=1) ** 2).mean()) - squared) / n
    share = _share(noise, distance)
    return np.asarray((1.0 - share) * moment + share * scale * np.eye(m))


def _between_blocks(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R M^-1 R', (n, n), for the M that `_shrunk` returns of R (n, m), without any (m, m).

    With M = a R'R + b I it is R (a R'R + b I)^-1 R' = (a RR' + b I)^-1 RR'.
    """
    n, m = ranks.shape
    gram = ranks @ ranks.T
    scale = gram.trace() / n / (m - 1)
    squared = float(np.vdot(gram, gram)) / n**2
    noise = (float((gram.diagonal() ** 2).mean()) - squared) / n
    share = _share(noise, squared - (m - 1) * scale**2)
    regular = (1.0 - share) / n * gram + share * scale * np.eye(n)
    return np.asarray(np.linalg.solve(regular, gram))


def _share(noise: float, distance: float) -> float:
    """Return how much of the second moment is replaced by a multiple of identity."""
    return min(max(noise / distance, _LEAST), 1.0) if distance > 0.0 else 1.0


class FlipTest(NamedTuple):
    """The statistic, its p-value, and whether it exceeds the statistic of every flip."""

    statistic: float
    p_value: float
    largest: bool


def flip_test(ranks: NDArray[np.float64], flips: Signs) -> FlipTest:
    """Test centred ranks (n, m) by flips (k, n), k at most as many as there are.

    Row 0 of `flips` flips none. Where no random flip is as large, the p-value is the tail of the
    gamma law with the mean and the variance of the others, if that is smaller.
    """
    if not ranks.any():
        return FlipTest(0.0, 1.0, largest=False)
    n = len(ranks)
    every = len(flips) == 1 << (n - 1)
    if n < ranks.shape[1] > _MANY and not isinstance(flips, Flips):
        statistics = np.einsum("kn,kn->k", flips @ _between_blocks(ranks), flips)
    else:
        sums = (flips @ ranks).T
        statistics = np.einsum("ij,ij->j", sums, np.linalg.solve(_shrunk(ranks), sums))
    return _among(statistics, 0.0 if every else 0.5 ** (n - 1))


class Alike(NamedTuple):
    """A test of "all alike" from two blocks on: whether it rejects, by which test, its figures."""

    rejected: bool
    test: Literal["sign-flip", "iman-davenport"]
    statistic: float
    p_value: float


def all_alike(ranks: NDArray[np.float64], sums: RankSums, flips: Signs, level: float) -> Alike:
    """Test centred ranks (n, m) by flips (k, n); with too few blocks for these, by their F as well."""
    with one_blas_thread():
        statistic, p_value, largest = flip_test(ranks, flips)
    if 0.5 ** (len(ranks) - 1) <= level:
        return Alike(p_value <= level * (1.0 + 1e-9), "sign-flip", statistic, p_value)
    statistic, p_value = iman_davenport(chi_square(sums), sums.n, sums.m)
    return Alike(largest and p_value < level, "iman-davenport", statistic, p_value)


def rotation_test(
    ranks: NDArray[np.float64], instances: NDArray[np.intp], turns: NDArray[np.float64]
) -> FlipTest:
    """Test by centred ranks (n, m) whether all expected ranks are equal, averaged over instances.

    The mean over instances, and n - I orthogonal contrasts of blocks of the same instance (I of
    them), have the same covariance: the statistic S' M^-1 S of the mean is compared with its value
    in random directions of the space of all (Langsrud: Rotation tests, 2005), `turns`, normal,
    shape (k, n - I + 1). Exact for normal ranks of equal covariance; their sums nearly are.
    """
    rows = within_contrasts(ranks, instances)
    if not rows[0].any():
        return FlipTest(0.0, 1.0, largest=False)
    drawn = (turns @ rows).T / np.sqrt((turns**2).sum(axis=1))
    sums = np.column_stack([rows[0], drawn])
    statistics = np.einsum("ij,ij->j", sums, np.linalg.solve(_shrunk(rows), sums))
    return _among(statistics, 0.5 ** (len(rows) - 1))


def within_contrasts(
    ranks: NDArray[np.float64], instances: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the mean over instances, and Helmert contrasts within them, (n - I + 1, m)."""
    found, mean, variance = [], np.zeros(ranks.shape[1]), 0.0
    for instance in np.unique(instances):
        own = ranks[instances == instance]
        before = np.arange(1, len(own))[:, None]
        earlier = own.cumsum(axis=0)[:-1] / before
        # a block less the mean of the k before it has variance 1 + 1/k: scaled back to a block's
        found.append((own[1:] - earlier) * np.sqrt(before / (before + 1.0)))
        mean += own.mean(axis=0)
        variance += 1.0 / len(own)
    return np.vstack([mean / np.sqrt(variance), *found])


def _among(statistics: NDArray[np.float64], least: float) -> FlipTest:
    """Compare the first statistic with the others; a tail of their law is at least `least`, 0: none."""
    statistic, others = float(statistics[0]), statistics[1:]
    as_large = 1 + int(np.count_nonzero(others >= statistic * (1.0 - 1e-9)))
    p_value = as_large / len(statistics)
    if as_large == 1 and least:
        from scipy.special import gammaincc  # noqa: PLC0415

        # gamma, by moments: a quadratic form of nearly normal sums is about a scaled chi-square
        scale = others.var() / others.mean()
        tail = float(gammaincc(others.mean() / scale, statistic / scale))
        p_value = min(p_value, max(tail, least))
    return FlipTest(statistic, p_value, largest=as_large == 1)


def sign_flip_test(
    scores: ArrayLike, *, flips: int = 10_000, seed: int = 0, maximize: bool = False
) -> SignFlipResult:
    """Test whether all candidates have the same mean rank, by turning round whole blocks.

    The hypothesis is that the centred ranks of a block are as probable with all their signs
    changed. It holds where all orders of the candidates are equally likely, which is Friedman's
    hypothesis, and also where equal candidates are good at different blocks; there Friedman's
    test, which takes ranks within a block for exchangeable, rejects too often. The covariance of
    the ranks is shrunk, so that fewer blocks than candidates are enough: six for p-values
    below 0.05. Ties share average ranks; blocks with NaN are left out and counted.

    Parameters
    ----------
    scores : array_like, shape (n, m)
        One row per block, one column per candidate; smaller is better.
    flips : int >= 100
        Random flips; all there are, if these are fewer.
    seed : int >= 0
        Same seed, same answer.
    maximize : bool
        Larger is better.

    Returns
    -------
    SignFlipResult
        With p-value 1 if every block ties throughout.

    Raises
    ------
    ScoresError
        Fewer than two candidates, no complete block, or values that are not numbers.
    SettingError
        flips or seed out of range.

    References
    ----------
    Ledoit, Wolf: A well-conditioned estimator for large-dimensional covariance matrices (JMVA
    2004), for the shrinkage; Pesarin, Salmaso: Permutation tests for complex data (2010), for
    tests by sign flips.

    Examples
    --------
    >>> result = sign_flip_test([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]] * 2)
    >>> result.p_value < 0.05, result.mean_ranks.tolist()
    (True, [1.25, 2.0, 2.75])
    """
    whole(flips, "flips", least=100)
    check_seed(seed)
    blocks = complete_blocks(scores, maximize=maximize)
    ranks = centred(ranks_of(blocks.costs))
    n, m = ranks.shape
    statistic, p_value, _ = flip_test(ranks, signs(np.arange(n), flips, seed))
    mean_ranks = frozen(ranks.mean(axis=0) + (m + 1) / 2.0)
    return SignFlipResult(statistic, p_value, mean_ranks, n, blocks.dropped)
