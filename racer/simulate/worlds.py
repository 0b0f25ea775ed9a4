"""Worlds: candidates of known quality, and the costs that a race would see of them."""

from __future__ import annotations

import math
import reprlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from racer._checks import as_floats, check_positive, flag, is_real, whole
from racer.errors import ScoresError, SettingError
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """One draw of a world: the truth, and the costs that a race sees.

    Attributes
    ----------
    quality : ndarray, shape (m,)
        Quality of each candidate; smaller is better.
    costs : callable
        From a block's number to the costs of all candidates on it, shape (m,).
    wins : callable
        From two candidates to the probability that the first has the smaller cost on a block,
        ties counted half.

    Examples
    --------
    >>> from racer.simulate import NormalWorld
    >>> drawn = NormalWorld(2, 0.1, qualities=(0.0, 0.1)).draw(seed=1)
    >>> round(drawn.wins(0, 1), 3)
    0.76
    """

    quality: Floats
    costs: Callable[[int], Floats]
    wins: Callable[[int, int], float]


class World(Protocol):
    """A distribution of races.

    Examples
    --------
    >>> from racer.simulate import NormalWorld
    >>> world = NormalWorld(10, 0.5)
    >>> world.n_candidates, world.n_blocks
    (10, None)
    """

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


_CHUNK = 64  # blocks drawn with one generator
_FEATURES = 2  # of a block, to which candidates respond


def _normal_wins(gap: float, rho: float) -> float:
    """Return the probability that a difference N(gap, 2 rho^2) is positive."""
    return 0.5 * math.erfc(-gap / (2.0 * rho))


def _share_won(own: Floats, other: Floats) -> float:
    """Return the fraction of blocks on which the first cost is smaller, ties counted half."""
    return float((own < other).mean() + (own == other).mean() / 2.0)


@dataclass(frozen=True)
class _EndlessWorld(ABC):
    """A world of q candidates in which a block's costs depend on seed and block alone."""

    q: int
    rho: float
    qualities: tuple[float, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        whole(self.q, "q", least=2)
        for setting in fields(self):
            if setting.type == "float":  # as annotated: all of these are scales
                check_positive(getattr(self, setting.name), setting.name)
        given: Any = self.qualities
        if given is None:
            return
        if isinstance(given, np.ndarray):
            given = given.tolist()
        if (
            not isinstance(given, list | tuple)
            or len(given) != self.q
            or not all(is_real(quality) and math.isfinite(quality) for quality in given)
        ):
            raise SettingError(
                f"qualities={reprlib.repr(given)}: give {self.q} finite numbers, one per candidate"
            )
        object.__setattr__(self, "qualities", tuple(map(float, given)))

    @property
    def n_candidates(self) -> int:
        """How many candidates race."""
        return self.q

    @property
    def n_blocks(self) -> None:
        """None: as many as asked for."""
        return

    def draw(self, seed: int) -> Drawn:
        """Return the race that belongs to this seed."""
        rng = rng_for(seed, "qualities")
        given = self.qualities
        quality = self._uniform(rng) if given is None else np.array(given)[rng.permutation(self.q)]

        @lru_cache(maxsize=2)
        def chunk(number: int) -> Floats:
            costs = self._costs(quality, seed, rng_for(seed, "costs", number))
            costs.setflags(write=False)
            return costs

        def costs(block: int) -> Floats:
            number, row = divmod(block, _CHUNK)
            return np.asarray(chunk(number)[row])

        return Drawn(quality, costs, partial(self._wins, quality, seed))

    def _uniform(self, rng: Generator) -> Floats:
        """Draw means from U[0, 1], larger better as in Benavoli et al. (2015); here as costs."""
        return -rng.random(self.q)

    @abstractmethod
    def _costs(self, quality: Floats, seed: int, rng: Generator) -> Floats:
        """Draw the costs of a chunk of blocks, shape (_CHUNK, q)."""

    @abstractmethod
    def _wins(self, quality: Floats, seed: int, i: int, j: int) -> float:
        """Return the probability that i has the smaller cost on a block."""


@dataclass(frozen=True)
class NormalWorld(_EndlessWorld):
    """Means from U[0, 1] and independent normal noise (Benavoli et al. 2015, section 7.1).

    Parameters
    ----------
    q : int >= 2
        Candidates.
    rho : float > 0
        Standard deviation of the noise.
    qualities : sequence of q floats, optional
        The candidates' mean costs, in an order that each draw shuffles, instead of random ones.

    Examples
    --------
    >>> from racer.simulate import NormalWorld, play
    >>> world = NormalWorld(3, 0.1)
    >>> world.draw(1).costs(0).round(2)
    array([-0.92, -0.24,  0.16])
    >>> play("f-race", world, repetitions=5, blocks=20).summary["observations"] <= 60
    True
    """

    def _costs(self, quality: Floats, seed: int, rng: Generator) -> Floats:  # noqa: ARG002
        return quality + self.rho * rng.standard_normal((_CHUNK, self.q))

    def _wins(self, quality: Floats, seed: int, i: int, j: int) -> float:  # noqa: ARG002
        return _normal_wins(quality[j] - quality[i], self.rho)


@dataclass(frozen=True)
class HeavyTailedWorld(_EndlessWorld):
    """Means from U[0, 1] and noise from Student's t with 2 degrees of freedom (no variance).

    Parameters
    ----------
    q, rho, qualities
        As in `NormalWorld`; rho is the scale of the noise.

    Examples
    --------
    >>> from racer.simulate import HeavyTailedWorld, play
    >>> world = HeavyTailedWorld(3, 0.1)
    >>> world.draw(1).costs(0).round(2)
    array([-0.86, -0.13, -0.17])
    >>> play("f-race", world, repetitions=5, blocks=20).summary["observations"] <= 60
    True
    """

    def _costs(self, quality: Floats, seed: int, rng: Generator) -> Floats:  # noqa: ARG002
        return quality + self.rho * rng.standard_t(2, (_CHUNK, self.q))

    def _wins(self, quality: Floats, seed: int, i: int, j: int) -> float:  # noqa: ARG002
        from scipy.integrate import quad  # noqa: PLC0415

        # P(e_i - e_j < gap), with density (2 + x^2)^(-3/2) and its distribution function
        gap = (quality[j] - quality[i]) / self.rho

        def integrand(x: float) -> float:
            y = x + gap
            return float((2.0 + x * x) ** -1.5 * (0.5 + y / (2.0 * math.sqrt(2.0 + y * y))))

        return float(quad(integrand, -np.inf, np.inf)[0])


@dataclass(frozen=True)
class UnequalInstancesWorld(NormalWorld):
    """Normal noise, but each block has a difficulty and a scale of its own.

    cost = difficulty + scale (mean + noise), difficulty normal, log(scale) normal: a block of
    large scale outweighs all others in a mean of costs, and is no more informative. Within
    blocks, costs are ordered as in the `NormalWorld` of the same seed.

    Parameters
    ----------
    q, rho, qualities
        As in `NormalWorld`, before scaling.
    spread : float > 0
        Standard deviation of log(scale); the difficulty has ten times as large a deviation.

    Examples
    --------
    >>> from racer.simulate import UnequalInstancesWorld, play
    >>> world = UnequalInstancesWorld(3, 0.1)
    >>> world.draw(1).costs(0).round(2)
    array([-8.02, -7.95, -7.91])
    >>> play("f-race", world, repetitions=5, blocks=20).summary["observations"] <= 60
    True
    """

    spread: float = 1.5

    def _costs(self, quality: Floats, seed: int, rng: Generator) -> Floats:
        # drawn first, so that costs within blocks have the order of NormalWorld's
        plain = super()._costs(quality, seed, rng)
        difficulty, log_scale = rng.standard_normal((2, _CHUNK, 1))
        return np.asarray(10.0 * self.spread * difficulty + np.exp(self.spread * log_scale) * plain)


@dataclass(frozen=True)
class RuntimeWorld(_EndlessWorld):
    """Skewed runtimes that end at a cutoff: many blocks tie there.

    log(runtime) = quality + difficulty of the block + noise, both normal; a run longer than the
    cutoff costs the cutoff. The probability of winning is a fraction of 10 000 blocks.

    Parameters
    ----------
    q, rho, qualities
        As in `NormalWorld`, but of the logarithm of the runtime.
    difficulty : float > 0
        Standard deviation of the difficulty.
    cutoff : float > 0
        In units of the median runtime of a candidate of quality 0 on a block of difficulty 0.
    tail : float > 0, optional
        Degrees of freedom of Student's t, for noise with heavier tails than the normal.

    Examples
    --------
    >>> from racer.simulate import RuntimeWorld, play
    >>> world = RuntimeWorld(3, 0.1)
    >>> world.draw(1).costs(0).round(2)
    array([1.2, 2. , 2. ])
    >>> play("f-race", world, repetitions=5, blocks=20).summary["observations"] <= 60
    True
    """

    difficulty: float = 1.0
    cutoff: float = 2.0
    tail: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tail is not None:
            check_positive(self.tail, "tail")

    def _uniform(self, rng: Generator) -> Floats:
        return 1.0 - rng.random(self.q)

    def _costs(self, quality: Floats, seed: int, rng: Generator) -> Floats:  # noqa: ARG002
        return self._runtimes(quality, rng, _CHUNK)

    def _wins(self, quality: Floats, seed: int, i: int, j: int) -> float:
        # blocks of their own: the race's draws do not depend on whether this is asked
        times = self._runtimes(quality, rng_for(seed, "wins"), 10_000)
        return _share_won(times[:, i], times[:, j])

    def _runtimes(self, quality: Floats, rng: Generator, blocks: int) -> Floats:
        difficulty = self.difficulty * rng.standard_normal((blocks, 1))
        size = blocks, self.q
        drawn = rng.standard_normal(size) if self.tail is None else rng.standard_t(self.tail, size)
        times = np.exp(quality + difficulty + self.rho * drawn)
        return np.asarray(np.minimum(times, self.cutoff))


@dataclass(frozen=True)
class InteractionWorld(_EndlessWorld):
    """Normal noise, and candidates that are good at different instances.

    cost = quality + response of the candidate times features of the block + noise: each candidate
    has its own response to two features, drawn once per race. Equal candidates are equal over all
    blocks, but not on each; a block's order of the candidates is not pure chance.

    Parameters
    ----------
    q, rho, qualities
        As in `NormalWorld`.
    interaction : float > 0
        Standard deviation of a response's part of a cost.

    Examples
    --------
    >>> from racer.simulate import InteractionWorld, play
    >>> world = InteractionWorld(3, 0.1, interaction=0.5)
    >>> world.draw(1).costs(0).round(2)
    array([-0.75,  0.02, -0.26])
    >>> play("f-race", world, repetitions=5, blocks=20).summary["observations"] <= 60
    True
    """

    interaction: float = 1.0

    def _responses(self, seed: int) -> Floats:
        """Return the response of each candidate to each feature, (_FEATURES, q)."""
        drawn = rng_for(seed, "responses").standard_normal((_FEATURES, self.q))
        # the features' parts add up to a variance of interaction^2, however many they are
        return np.asarray(self.interaction / math.sqrt(_FEATURES) * drawn)

    def _costs(self, quality: Floats, seed: int, rng: Generator) -> Floats:
        features = rng.standard_normal((_CHUNK, _FEATURES))
        noise = self.rho * rng.standard_normal((_CHUNK, self.q))
        return np.asarray(quality + features @ self._responses(seed) + noise)

    def _wins(self, quality: Floats, seed: int, i: int, j: int) -> float:
        responses = self._responses(seed)
        differ = float(((responses[:, i] - responses[:, j]) ** 2).sum())
        # `_normal_wins` doubles the variance, and `differ` is of the difference already
        return _normal_wins(quality[j] - quality[i], math.sqrt(self.rho**2 + differ / 2.0))


@dataclass(frozen=True)
class CrossingRuntimesWorld(InteractionWorld):
    """Run times whose order changes with the instance: the exponential of `InteractionWorld`.

    Each block has a difficulty, too, by which all its run times are multiplied (log-normal, of the
    same spread as the interaction). Qualities are of the logarithm of the run time.

    Parameters
    ----------
    q, rho, interaction, qualities
        As in `InteractionWorld`, of the logarithm of the run time.

    Examples
    --------
    >>> from racer.simulate import CrossingRuntimesWorld, play
    >>> world = CrossingRuntimesWorld(3, 0.1)
    >>> world.draw(1).costs(0).round(2)
    array([1.27, 3.64, 1.52])
    >>> play("f-race", world, repetitions=5, blocks=20).summary["observations"] <= 60
    True
    """

    def _costs(self, quality: Floats, seed: int, rng: Generator) -> Floats:
        log_times = super()._costs(quality, seed, rng)
        difficulty = self.interaction * rng.standard_normal((_CHUNK, 1))
        return np.asarray(np.exp(log_times + difficulty))


@dataclass(frozen=True)
class RareFailuresWorld(_EndlessWorld):
    """Candidates that differ in nothing but how often they do catastrophically.

    cost = noise - 1 + loss with probability (quality + 1) / loss: the mean is the quality, and a
    mean over few blocks is a poor estimate. Qualities are -U[0, 1], so that at most one run in
    `loss` is a failure.

    Parameters
    ----------
    q, rho, qualities
        As in `NormalWorld`; given qualities lie between -1 and loss - 1.
    loss : float > 0
        Cost of a failure; at least 1 unless smaller qualities are given.

    Examples
    --------
    >>> from racer.simulate import RareFailuresWorld, play
    >>> world = RareFailuresWorld(3, 0.1)
    >>> world.draw(1).costs(0).round(2)
    array([-0.98, -0.92, -0.78])
    >>> play("f-race", world, repetitions=5, blocks=20).summary["observations"] <= 60
    True
    """

    loss: float = 20.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.qualities is None and self.loss < 1.0:
            raise SettingError(
                f"loss={self.loss:g}: give a number >= 1, as a candidate of quality 0 loses with "
                "probability 1 / loss; or give smaller qualities="
            )
        given = self.qualities or (0.0,)
        if not -1.0 <= min(given) <= max(given) <= self.loss - 1.0:
            raise SettingError(
                f"qualities={reprlib.repr(given)}: give numbers from -1 to loss - 1 = "
                f"{self.loss - 1.0:g}"
            )

    def _costs(self, quality: Floats, seed: int, rng: Generator) -> Floats:  # noqa: ARG002
        noise = self.rho * rng.standard_normal((_CHUNK, self.q))
        failed = rng.random((_CHUNK, self.q)) < (quality + 1.0) / self.loss
        return np.asarray(noise - 1.0 + self.loss * failed)

    def _wins(self, quality: Floats, seed: int, i: int, j: int) -> float:  # noqa: ARG002
        one, other = (quality[[i, j]] + 1.0) / self.loss
        alike = one * other + (1.0 - one) * (1.0 - other)
        far = _normal_wins(self.loss, self.rho)
        return float(0.5 * alike + (1.0 - one) * other * far + one * (1.0 - other) * (1.0 - far))


class RecordedWorld:
    """A recorded table of costs: the blocks are its rows, once each.

    Each draw takes the rows in an order of its own, unless `shuffle=False`. The quality of a
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

    Examples
    --------
    >>> from racer.simulate import RecordedWorld, play
    >>> table = [[0.1, 0.2], [0.3, 0.5], [0.2, 0.4], [0.1, 0.3], [0.6, 0.7], [0.2, 0.3]]
    >>> play("f-race", RecordedWorld(table), repetitions=5).summary["best_dropped"]
    0.0
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
        self._shuffle = flag(shuffle, "shuffle")

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
        return Drawn(
            rows.mean(axis=0),
            lambda block: rows[block],
            lambda i, j: _share_won(rows[:, i], rows[:, j]),
        )
