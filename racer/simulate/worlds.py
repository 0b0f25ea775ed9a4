"""Worlds: candidates of known quality, and the costs that a race would see of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from racer._checks import is_real, whole
from racer.errors import ScoresError, SettingError
from racer.seeding import rng_for
from racer.stats._validation import as_floats

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "Drawn",
    "HeavyTailedWorld",
    "NormalWorld",
    "RecordedWorld",
    "RuntimeWorld",
    "UnequalInstancesWorld",
    "World",
]


@dataclass(frozen=True, eq=False)
class Drawn:
    """One draw of a world: what is true, and what a race sees.

    Attributes
    ----------
    quality : ndarray, shape (m,)
        What each candidate is worth; smaller is better.
    costs : callable
        From a block's number to the costs of all candidates on it, shape (m,).
    wins : callable
        From two candidates to the probability that the first has the smaller cost on a block,
        ties counted half.
    """

    quality: NDArray[np.float64]
    costs: Callable[[int], NDArray[np.float64]]
    wins: Callable[[int, int], float]


class World(Protocol):
    """A distribution of races."""

    @property
    def n_candidates(self) -> int:
        """How many candidates race."""
        ...

    @property
    def n_blocks(self) -> int | None:
        """How many blocks there are; None for as many as asked for."""
        ...

    def draw(self, seed: int) -> Drawn:
        """Return the race that belongs to this seed."""
        ...


def _uniform_qualities(q: int, seed: int) -> NDArray[np.float64]:
    """Draw means from U[0, 1], larger better as in Benavoli et al. (2015); here as costs."""
    return -rng_for(seed, "qualities").random(q)


def _check(q: int, spread: float, name: str) -> None:
    whole(q, "q", least=2)
    if not is_real(spread) or not 0.0 < spread < math.inf:
        raise SettingError(f"{name}={spread!r}: give a finite number > 0")


def _ndtr(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@dataclass(frozen=True)
class _EndlessWorld:
    """A world of q candidates with as many blocks as are asked for."""

    q: int

    @property
    def n_candidates(self) -> int:
        """How many candidates race."""
        return self.q

    @property
    def n_blocks(self) -> None:
        """None: as many as asked for."""
        return


@dataclass(frozen=True)
class NormalWorld(_EndlessWorld):
    """Means from U[0, 1] and independent normal noise (Benavoli et al. 2015, section 7.1).

    Parameters
    ----------
    q : int >= 2
        Candidates.
    rho : float > 0
        Standard deviation of the noise.
    """

    rho: float

    def __post_init__(self) -> None:
        _check(self.q, self.rho, "rho")

    def draw(self, seed: int) -> Drawn:
        """Return the race that belongs to this seed."""
        quality = _uniform_qualities(self.q, seed)

        def costs(block: int) -> NDArray[np.float64]:
            return quality + self.rho * rng_for(seed, "costs", block).standard_normal(self.q)

        def wins(i: int, j: int) -> float:
            return _ndtr((quality[j] - quality[i]) / (self.rho * math.sqrt(2.0)))

        return Drawn(quality, costs, wins)


@dataclass(frozen=True)
class HeavyTailedWorld(_EndlessWorld):
    """Means from U[0, 1] and noise from Student's t with 2 degrees of freedom (no variance).

    Parameters
    ----------
    q : int >= 2
        Candidates.
    rho : float > 0
        Scale of the noise.
    """

    rho: float

    def __post_init__(self) -> None:
        _check(self.q, self.rho, "rho")

    def draw(self, seed: int) -> Drawn:
        """Return the race that belongs to this seed."""
        from scipy.integrate import quad  # noqa: PLC0415

        quality = _uniform_qualities(self.q, seed)

        def costs(block: int) -> NDArray[np.float64]:
            return quality + self.rho * rng_for(seed, "costs", block).standard_t(2, self.q)

        def wins(i: int, j: int) -> float:
            # P(e_i - e_j < gap), with density (2 + x^2)^(-3/2) and its distribution function
            gap = (quality[j] - quality[i]) / self.rho

            def integrand(x: float) -> float:
                y = x + gap
                return float((2.0 + x * x) ** -1.5 * (0.5 + y / (2.0 * math.sqrt(2.0 + y * y))))

            return float(quad(integrand, -np.inf, np.inf)[0])

        return Drawn(quality, costs, wins)


@dataclass(frozen=True)
class UnequalInstancesWorld(_EndlessWorld):
    """Normal noise, but each block has a difficulty and a scale of its own.

    cost = difficulty + scale (mean + noise), difficulty normal, log(scale) normal: a block of
    large scale outweighs all others in a mean of costs, and says no more than they do.

    Parameters
    ----------
    q : int >= 2
        Candidates; their means are from U[0, 1].
    rho : float > 0
        Standard deviation of the noise, before scaling.
    spread : float > 0
        Standard deviation of log(scale), and a tenth of that of the difficulty.
    """

    rho: float
    spread: float = 1.5

    def __post_init__(self) -> None:
        _check(self.q, self.rho, "rho")
        _check(self.q, self.spread, "spread")

    def draw(self, seed: int) -> Drawn:
        """Return the race that belongs to this seed."""
        plain = NormalWorld(self.q, self.rho).draw(seed)

        def costs(block: int) -> NDArray[np.float64]:
            difficulty, log_scale = rng_for(seed, "instances", block).standard_normal(2)
            scale = math.exp(self.spread * log_scale)
            return np.asarray(10.0 * self.spread * difficulty + scale * plain.costs(block))

        return Drawn(plain.quality, costs, plain.wins)


@dataclass(frozen=True)
class RuntimeWorld(_EndlessWorld):
    """Skewed runtimes that end at a cutoff: many blocks tie there.

    log(runtime) = quality + difficulty of the block + noise, both normal; a run longer than the
    cutoff costs the cutoff.

    Parameters
    ----------
    q : int >= 2
        Candidates; their qualities are from U[0, 1].
    rho : float > 0
        Standard deviation of the noise.
    difficulty : float > 0
        Standard deviation of the difficulty.
    cutoff : float > 0
        In units of the median runtime of a candidate of quality 0 on a block of difficulty 0.
    """

    rho: float
    difficulty: float = 1.0
    cutoff: float = 2.0

    def __post_init__(self) -> None:
        for name in ("rho", "difficulty", "cutoff"):
            _check(self.q, getattr(self, name), name)

    def draw(self, seed: int) -> Drawn:
        """Return the race that belongs to this seed; `wins` is a share of 10 000 blocks."""
        quality = 1.0 + _uniform_qualities(self.q, seed)

        def runtimes(difficulty: Any, noise: NDArray[np.float64]) -> NDArray[np.float64]:
            logs = quality + self.difficulty * difficulty + self.rho * noise
            return np.asarray(np.minimum(np.exp(logs), self.cutoff))

        def costs(block: int) -> NDArray[np.float64]:
            rng = rng_for(seed, "costs", block)
            return runtimes(rng.standard_normal(), rng.standard_normal(self.q))

        def wins(i: int, j: int) -> float:
            rng = rng_for(seed, "wins")
            times = runtimes(
                rng.standard_normal((10_000, 1)), rng.standard_normal((10_000, self.q))
            )
            return float(
                (times[:, i] < times[:, j]).mean() + (times[:, i] == times[:, j]).mean() / 2
            )

        return Drawn(quality, costs, wins)


class RecordedWorld:
    """A recorded table of costs: the blocks are its rows, once each.

    Each draw takes the rows in an order of its own, but for `shuffle=False`. The quality of a
    candidate is its mean over all rows.

    Parameters
    ----------
    table : DataFrame or array_like, shape (n, m)
        Blocks x candidates; smaller is better.
    shuffle : bool
        False: rows in the order given, in every draw.

    Raises
    ------
    ScoresError
        NaN or infinite cells, fewer than two columns, no rows, or values that are not numbers.
    """

    def __init__(self, table: Any, *, shuffle: bool = True) -> None:
        costs = as_floats(table, "table", 2)
        if costs.shape[0] < 1 or costs.shape[1] < 2:
            raise ScoresError(
                f"table has shape {costs.shape}: give blocks x candidates, with at least 1 row "
                "and 2 columns"
            )
        bad = np.argwhere(~np.isfinite(costs))
        if len(bad):
            row, column = bad[0].tolist()
            raise ScoresError(
                f"table has {len(bad)} cell(s) without a finite number, the first in row {row}, "
                f"column {column}: fill or leave out those blocks"
            )
        self._costs = costs
        self._shuffle = shuffle

    @property
    def n_candidates(self) -> int:
        """How many candidates race."""
        return int(self._costs.shape[1])

    @property
    def n_blocks(self) -> int:
        """How many rows there are."""
        return len(self._costs)

    def draw(self, seed: int) -> Drawn:
        """Return the race that belongs to this seed."""
        rows = self._costs
        if self._shuffle:
            rows = rows[rng_for(seed, "order").permutation(len(rows))]

        def wins(i: int, j: int) -> float:
            return float((rows[:, i] < rows[:, j]).mean() + (rows[:, i] == rows[:, j]).mean() / 2.0)

        return Drawn(rows.mean(axis=0), lambda block: rows[block], wins)
