"""The worlds of the study of P(best): what is drawn, and who is truly the best.

A world is a function of the number of candidates and a seed; it returns what costs are drawn, and the
expected cost of each candidate. A problem to tune is a space and the expected cost of a configuration.
"""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

import racer
from racer.simulate import (
    HeavyTailedWorld,
    InteractionWorld,
    NormalWorld,
    UnequalInstancesWorld,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    World = Callable[[int, int], "Drawn"]  # of the number of candidates, and a seed

__all__ = ["FAILING", "RUNTIME", "TIMED", "WORLDS", "Drawn", "evaluate", "folds", "problems"]

PRICE = 50.0  # of a failure at a candidate's own rate, in standard deviations of a block's costs
RUNTIME = racer.Runtime(10.0, par=10.0)
HELD_OUT = 40_000  # instances on which the PAR10 is computed
FAILURES, TIMES = (zlib.crc32(b"failures"),), (zlib.crc32(b"times"),)  # seeds of no other world


class Drawn(Protocol):
    """Candidates of a draw."""

    @property
    def quality(self) -> Floats:
        """Expected costs (m,), failures at their price: who has the least is the best."""

    def costs(self, block: int) -> Floats:
        """Return the costs of a block, (m,); infinite where an evaluation failed."""


class Failing(NamedTuple):
    """Normal costs, and evaluations that fail at a rate of each candidate; see `Drawn`."""

    quality: Floats
    means: Floats
    rates: Floats
    seed: int

    def costs(self, block: int) -> Floats:
        """Return the costs of a block."""
        rng = np.random.default_rng([*FAILURES, self.seed, block])
        costs = self.means + rng.standard_normal(len(self.means))
        return np.where(rng.random(len(costs)) < self.rates, np.inf, costs)


def _failing(rates: Callable[[Generator, int], Floats]) -> World:
    def draw(m: int, seed: int) -> Failing:
        rng = np.random.default_rng([*FAILURES, seed, m])
        means, failing = 0.5 * rng.standard_normal(m), rates(rng, m)
        return Failing(means + PRICE * math.hypot(0.5, 1.0) * failing, means, failing, seed)

    return draw


def _simulated(world: Callable[[int], Any]) -> World:
    return lambda m, seed: world(m).draw(1000 * seed + m)


WORLDS: dict[str, World] = {
    "normal": _simulated(lambda m: NormalWorld(m, 1.0)),
    "near-equal": _simulated(lambda m: NormalWorld(m, 5.0)),
    "one better": _simulated(lambda m: NormalWorld(m, 1.0, qualities=(0.0,) + (0.5,) * (m - 1))),
    "all equal": _simulated(lambda m: NormalWorld(m, 1.0, qualities=(0.0,) * m)),
    "heavy tails": _simulated(lambda m: HeavyTailedWorld(m, 1.0)),
    "interaction": _simulated(lambda m: InteractionWorld(m, 0.5)),
    "unequal instances": _simulated(lambda m: UnequalInstancesWorld(m, 1.0)),
}
FAILING: dict[str, World] = {
    "all fail at .02": _failing(lambda _, m: np.full(m, 0.02)),
    "all fail at .1": _failing(lambda _, m: np.full(m, 0.1)),
    "half never fail": _failing(
        lambda rng, m: np.where(rng.random(m) < 0.5, 0.0, rng.uniform(0.0, 0.3, m))
    ),
    "each fails at its own rate": _failing(lambda rng, m: rng.beta(1.0, 9.0, m)),
}


class Timed(NamedTuple):
    """Log-normal run times, and shares of runs that hang; expected is the PAR10; see `Drawn`."""

    quality: Floats
    medians: Floats  # logarithms
    spreads: Floats
    hangs: Floats
    seed: int

    def costs(self, block: int) -> Floats:
        """Return the seconds of a block, on an instance of its own."""
        times: Floats = self.times(np.random.default_rng([*TIMES, self.seed, block]), 1)[0]
        return times

    def times(self, rng: Generator, n: int) -> Floats:
        """Return times on n instances, (n, m)."""
        size = (n, len(self.medians))
        hard = rng.standard_normal((n, 1))
        times = np.exp(self.medians + hard + self.spreads * rng.standard_normal(size))
        return np.where(rng.random(size) < self.hangs, np.inf, times)


def _timed(apart: float, spreads: tuple[float, float], hangs: tuple[float, ...] = (0.0,)) -> World:
    def draw(m: int, seed: int) -> Timed:
        rng = np.random.default_rng([*TIMES, seed, m])
        medians, own = rng.normal(-1.0, apart, m), rng.uniform(*spreads, m)
        drawn = Timed(medians, medians, own, rng.choice(hangs, m), seed)
        times = drawn.times(rng, HELD_OUT)
        par10 = np.where(times >= RUNTIME.limit, 10.0 * RUNTIME.limit, times).mean(axis=0)
        return drawn._replace(quality=par10)

    return draw


# standard deviation of the candidates' medians, range of that of their log times, shares that hang
TIMED: dict[str, World] = {
    "different speeds": _timed(1.0, (0.5, 0.5)),
    "nearly equal speeds": _timed(0.3, (0.5, 0.5)),
    "spreads of their own": _timed(0.3, (0.3, 1.4)),
    "some hang": _timed(0.5, (0.4, 0.4), (0.0, 0.02, 0.05, 0.15)),
    "all hang in 4 %": _timed(0.5, (0.4, 0.4), (0.04,)),
}


def folds(n: int, width: float, rng: Generator) -> tuple[Floats, Floats]:
    """Return costs (n, 10) of ten models over n folds that share data, and their qualities (10,).

    Two folds have correlation 1/n; qualities are uniform of this width, in standard deviations of a
    fold's noise.
    """
    quality = width * rng.random(10)
    shared = math.sqrt(1.0 / n) * rng.standard_normal(10)
    own = math.sqrt(1.0 - 1.0 / n) * rng.standard_normal((n, 10))
    return quality + shared + own, quality


def problems() -> dict[str, tuple[racer.Space, Callable[[Any], float]]]:
    """Return problems to be tuned, by name."""
    unit = racer.Real(0, 1)
    offsets = {"p": 0.0, "q": 0.03, "r": 0.1, "s": 0.3}
    return {
        "sphere": (
            racer.Space({f"x{i}": unit for i in range(4)}),
            lambda config: sum((x - 0.3) ** 2 for x in config.values()),
        ),
        "interaction": (
            racer.Space(dict.fromkeys("abc", unit)),
            lambda c: (c["a"] - c["b"]) ** 2 + 0.5 * (c["b"] - 0.7) ** 2 + 0.3 * abs(c["c"] - 0.2),
        ),
        "choices": (
            racer.Space({"m": racer.Categorical(list(offsets)), "x": unit}),
            lambda config: offsets[config["m"]] + (config["x"] - 0.4) ** 2,
        ),
        "pure noise": (racer.Space({"x": unit, "y": unit}), lambda config: 0.0 * config["x"]),
    }


def evaluate(formula: Any, noise: float, config: Any, instance: int, seed: int) -> float:
    """Return what a formula says, with noise that depends on the configuration and the seed."""
    key = zlib.crc32(repr(sorted(config.items())).encode())
    drawn = np.random.default_rng([seed, key]).normal()
    return float(formula(config) + noise * drawn + 0.5 * math.sin(instance))
