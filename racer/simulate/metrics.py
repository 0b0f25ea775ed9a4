"""Worlds of several metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from racer._checks import as_floats, check_positive, is_real, whole
from racer.errors import SettingError
from racer.seeding import rng_for
from racer.simulate.worlds import Drawn
from racer.stats.several import on_front

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES = "abcdefgh"


def front_of(quality: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which candidates none is better than in every metric, given qualities (m, d)."""
    return np.asarray(on_front(quality[None])[0])


@dataclass(frozen=True, eq=False)
class MetricsWorld:
    """Candidates of several metrics, with means of their own and normal noise.

    Parameters
    ----------
    q : int >= 2
        Candidates.
    d : int from 2 to 8
        Metrics, whose names are "a", "b", "c", ..
    rho : float > 0
        Standard deviation of the noise.
    qualities : array_like, shape (q, d), optional
        Means, smaller is better, in any order; by default each from U[0, 1], drawn for each race.
    correlation : float in (-1, 1)
        Of the noise of the first two metrics.

    Raises
    ------
    SettingError
        A parameter out of range.

    Examples
    --------
    >>> import racer
    >>> from racer.simulate import MetricsWorld, play
    >>> front = racer.Pareto("a", "b")
    >>> found = play("front", MetricsWorld(5, 2, 0.1), repetitions=4, blocks=40, objective=front)
    >>> found.summary["best_dropped"]
    0.0
    """

    q: int
    d: int
    rho: float
    qualities: NDArray[np.float64] | None = None
    correlation: float = 0.0

    def __post_init__(self) -> None:
        whole(self.q, "q", least=2)
        if whole(self.d, "d", least=2) > len(_NAMES):
            raise SettingError(f"d={self.d}: at most {len(_NAMES)} metrics")
        check_positive(self.rho, "rho")
        if not is_real(self.correlation) or not -1.0 < self.correlation < 1.0:
            raise SettingError(f"correlation={self.correlation!r}: give a number from -1 to 1")
        if self.qualities is not None:
            given = as_floats(self.qualities, "qualities", 2)
            if given.shape != (self.q, self.d):
                raise SettingError(f"qualities has shape {given.shape}: give {(self.q, self.d)}")
            object.__setattr__(self, "qualities", given)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return tuple(_NAMES[: self.d])

    @property
    def n_candidates(self) -> int:
        """How many candidates race."""
        return self.q

    @property
    def n_blocks(self) -> None:
        """None: as many as asked for."""
        return

    def draw(self, seed: int) -> Drawn:
        """Return the race that belongs to this seed: qualities (q, d), and costs (q, d) of a block."""
        rng = rng_for(seed, "qualities")
        given = self.qualities
        quality = rng.random((self.q, self.d)) if given is None else rng.permutation(given)

        def costs(block: int) -> NDArray[np.float64]:
            noise = rng_for(seed, "costs", block).standard_normal((self.q, self.d))
            own = np.sqrt(1.0 - self.correlation**2)
            noise[:, 1] = self.correlation * noise[:, 0] + own * noise[:, 1]
            return np.asarray(quality + self.rho * noise)

        return Drawn(quality, costs, lambda _i, _j: float("nan"))
