"""Worlds whose better configurations fail on some of twenty instances, or where chance fails any.

Nothing of the tuner was chosen on them. Which instances they are depends on the seed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from experiments.tuner.problem import Problem
from racer import Categorical, Integer, Real, Space
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.tuner.problem import Config

    Worth = Callable[[Config], float]
    Fails = Callable[[Config, int], bool]

__all__ = ["choice", "deadline", "luck"]

N = 20  # instances; what fails on one of them is not to be returned


def _world(space: Space, worth: Worth, fails: Fails, best: float, chance: float = 0.0) -> Problem:
    def cost(config: Config, instance: int, seed: int, chance: float = chance) -> float:
        luck = rng_for(seed, repr(sorted(config.items())))
        if fails(config, instance % N) or luck.random() < chance:
            raise ArithmeticError("failed")
        return worth(config) + (0.1 * luck.normal() if chance >= 0.0 else 0.0)

    return Problem(space, cost, N, N, partial(cost, chance=-1.0), best)


def deadline(seed: int) -> Problem:
    """Return steps and restarts, better and slower each: hard instances run out of time."""
    sizes = rng_for(seed, "sizes").permutation(N).tolist()
    space = Space({"steps": Integer(10, 10_000, log=True), "restarts": Integer(1, 8)})

    def worth(config: Config) -> float:
        return float((1.0 + config["steps"] / 100.0) ** -0.5 + 0.5 / config["restarts"])

    best = min(worth({"steps": 2_000 // n, "restarts": n}) for n in range(1, 9))
    return _world(
        space, worth, lambda c, i: c["steps"] * c["restarts"] > 40_000 / (1 + sizes[i]), best
    )


def choice(seed: int) -> Problem:
    """Return five algorithms, of which each of the three best crashes on one or two instances."""
    bad = rng_for(seed, "bad").permutation(N).tolist()
    space = Space({"algorithm": Categorical([*"abcde"]), "x": Real(0, 1), "y": Real(0, 1)})
    base = {"a": 0.0, "b": 0.1, "c": 0.2, "d": 0.4, "e": 0.7}
    crashes = {"a": bad[:2], "b": bad[2:3], "c": bad[3:5], "d": [], "e": []}

    def worth(config: Config) -> float:
        x, y = config["x"], config["y"]
        return float(base[config["algorithm"]] + (x - 0.3) ** 2 + (y - 0.8) ** 2)

    return _world(space, worth, lambda c, i: i in crashes[c["algorithm"]], 0.4)


def luck(seed: int) -> Problem:
    """Return a sphere of which one evaluation in twenty fails by chance."""
    at = rng_for(seed, "at").uniform(0.2, 0.8, 4).tolist()
    space = Space({f"x{k}": Real(0, 1) for k in range(4)})

    def worth(config: Config) -> float:
        return float(sum((config[f"x{k}"] - at[k]) ** 2 for k in range(4)))

    return _world(space, worth, lambda *_: False, 0.0, chance=0.05)
