"""Formulas with what makes tuning hard: each class has one difficulty.

An instance shifts the optimum a little, and adds a level; an evaluation adds noise of sd 1. The
quality leaves out level, scale and noise.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.tuner.problem import Problem
from racer import Categorical, Real, Space
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Config = Mapping[str, Any]
    Array = NDArray[np.float64]

__all__ = [
    "boundary",
    "categoricals",
    "eighty",
    "failures",
    "few_deterministic",
    "heavy_tails",
    "hierarchy",
    "interactions",
    "large_noise",
    "many_parameters",
    "memory",
    "rastrigin",
    "scales",
    "sphere",
]

TUNING, HELD_OUT = 50, 200
SHIFT = 0.15  # sd of an instance's shift in each coordinate
LEVEL = 20.0  # sd of an instance's level


def _normal(config: Config, seed: int) -> float:
    """Return noise that is a function of a configuration and a seed."""
    return random.Random(f"{seed} {list(config.values())}").gauss(0.0, 1.0)  # noqa: S311


def _problem(
    seed: int,
    name: str,
    space: Space,
    base: Callable[[Config, Array], float],
    optimum: Config,
    *,
    shifts: int,
    scale: float = 0.0,
    noise: Callable[[Config, int], float] = _normal,
    shift: float = SHIFT,
    tuning: int = TUNING,
) -> Problem:
    """Return level + scale base(config, shift of the instance) + noise."""
    rng = rng_for(seed, name)
    n = tuning + HELD_OUT
    levels = rng.normal(0.0, LEVEL, n).tolist()
    scales = np.exp(rng.normal(0.0, scale, n)).tolist()
    of_instances = rng.normal(0.0, shift, (n, shifts))

    def worth(config: Config, instance: int, _: int) -> float:
        return float(base(config, of_instances[instance]))

    def cost(config: Config, instance: int, seed: int) -> float:
        value = base(config, of_instances[instance])
        return float(levels[instance] + scales[instance] * value + noise(config, seed))

    drawn = Problem(space, cost, tuning, HELD_OUT, worth)
    return Problem(space, cost, tuning, HELD_OUT, worth, drawn.quality(optimum))


def _reals(n: int) -> Space:
    return Space({f"x{i}": Real(-5.0, 5.0) for i in range(n)})


def _point(config: Config) -> Array:
    return np.fromiter(config.values(), dtype=np.float64)


def _squares(config: Config, shift: Array) -> float:
    z = _point(config) - shift
    return float(z @ z)


def _waves(config: Config, shift: Array) -> float:
    z = _point(config) - shift
    return float((10.0 + z * z - 10.0 * np.cos(2.0 * np.pi * z)).sum())


def _origin(space: Space) -> Config:
    return dict.fromkeys(space.parameters, 0.0)


def sphere(seed: int) -> Problem:
    """Five reals, no difficulty."""
    space = _reals(5)
    return _problem(seed, "sphere", space, _squares, _origin(space), shifts=5, scale=0.25)


def rastrigin(seed: int) -> Problem:
    """Five reals, many local optima."""
    space = _reals(5)
    return _problem(seed, "rastrigin", space, _waves, _origin(space), shifts=5, scale=0.25)


def scales(seed: int) -> Problem:
    """Instances of which the costs differ in scale, a log-normal factor of sd 1.5."""
    space = _reals(5)
    return _problem(seed, "scales", space, _squares, _origin(space), shifts=5, scale=1.5)


def interactions(seed: int) -> Problem:
    """Six reals in a rotated valley: condition number 300."""
    space = _reals(6)
    rng = rng_for(seed, "rotation")
    turned = np.linalg.qr(rng.normal(size=(6, 6)))[0] * np.geomspace(0.3, 5.2, 6)[:, None]

    def base(config: Config, shift: Array) -> float:
        z = turned @ (_point(config) - shift)
        return float(z @ z)

    return _problem(seed, "interactions", space, base, _origin(space), shifts=6)


def categoricals(seed: int) -> Problem:
    """Eight choices of four to six, with effects of their own and of neighbouring pairs."""
    rng = rng_for(seed, "choices")
    counts = [4, 5, 6, 4, 5, 6, 4, 5]
    own = [rng.exponential(3.0, k) for k in counts]
    pairs = [rng.normal(0.0, 2.0, (counts[i], counts[(i + 1) % 8])) for i in range(8)]
    parameters: dict[str, Any] = {
        f"c{i}": Categorical(list(range(k))) for i, k in enumerate(counts)
    }
    space = Space({**parameters, "x0": Real(-5.0, 5.0), "x1": Real(-5.0, 5.0)})

    def of_choices(chosen: Any) -> float:
        total = sum(float(own[i][c]) for i, c in enumerate(chosen))
        return total + sum(float(pairs[i][chosen[i], chosen[(i + 1) % 8]]) for i in range(8))

    best = _best_choices(own, pairs)
    least = of_choices(best)

    def base(config: Config, shift: Array) -> float:
        values = list(config.values())
        x = values[8] - shift[0], values[9] - shift[1]
        return float(of_choices(values[:8]) - least + x[0] ** 2 + x[1] ** 2)

    optimum = {**{f"c{i}": c for i, c in enumerate(best)}, "x0": 0.0, "x1": 0.0}
    return _problem(seed, "categoricals", space, base, optimum, shifts=2)


def _best_choices(own: list[Array], pairs: list[Array]) -> list[int]:
    """Return the best choices around the ring, by dynamic programming for each first choice."""
    found: list[tuple[float, list[int]]] = []
    for first in range(len(own[0])):
        paths = {first: (float(own[0][first]), [first])}
        for i in range(1, len(own)):
            paths = {
                c: min(
                    (value + float(pairs[i - 1][path[-1], c] + own[i][c]), [*path, c])
                    for value, path in paths.values()
                )
                for c in range(len(own[i]))
            }
        found += [
            (value + float(pairs[-1][path[-1], first]), path) for value, path in paths.values()
        ]
    return min(found)[1]


def boundary(seed: int) -> Problem:
    """Five reals on a log scale, the optimum of three of them at a bound."""
    space = Space({f"x{i}": Real(1e-5, 1.0, log=True) for i in range(5)})
    at = np.array([-5.0, -5.0, 0.0, -2.0, -3.5])

    def base(config: Config, shift: Array) -> float:
        off = np.log10(_point(config)) - at
        off[3:] -= shift
        return float(3.0 * np.abs(off[:3]).sum() + (off[3:] ** 2).sum() * 3.0)

    optimum = {f"x{i}": float(10.0**a) for i, a in enumerate(at)}
    return _problem(seed, "boundary", space, base, optimum, shifts=2)


def memory(seed: int) -> Problem:
    """Two sizes on a log scale and two reals; a product above 5 000, a third of the space, fails."""
    parameters: dict[str, Any] = {f"size{i}": Real(1.0, 1000.0, log=True) for i in range(2)}
    space = Space({**parameters, "x0": Real(-5.0, 5.0), "x1": Real(-5.0, 5.0)})
    at = np.array([1.9, 1.6, 0.0, 0.0])
    weight = np.array([10.0, 10.0, 1.0, 1.0])

    def base(config: Config, shift: Array) -> float:
        if config["size0"] * config["size1"] > 5_000.0:
            raise ArithmeticError("out of memory")
        z = _point(config)
        z[:2] = np.log10(z[:2])
        return float(weight @ (z - at - shift * np.sqrt(1.0 / weight)) ** 2)

    optimum = {"size0": 10.0**1.9, "size1": 10.0**1.6, "x0": 0.0, "x1": 0.0}
    return _problem(seed, "memory", space, base, optimum, shifts=4)


def many_parameters(seed: int, reals: int = 20) -> Problem:
    """Twenty reals, or so many, and four choices, of which four reals and a choice matter."""
    rng = rng_for(seed, "which")
    names = [f"x{i}" for i in range(reals)]
    matter = [names[i] for i in rng.choice(reals, 4, replace=False).tolist()]
    parameters: dict[str, Any] = {name: Real(-5.0, 5.0) for name in names}
    parameters |= {f"c{i}": Categorical(["a", "b", "c"]) for i in range(4)}
    space = Space(parameters)

    def base(config: Config, shift: Array) -> float:
        z = np.array([config[name] for name in matter]) - shift
        return float(z @ z + 0.5 * z[0] * z[1] + 3.0 * (config["c0"] != "b"))

    optimum = {**dict.fromkeys(names, 0.0), **{f"c{i}": "b" for i in range(4)}}
    return _problem(seed, "many parameters", space, base, optimum, shifts=4)


def eighty(seed: int) -> Problem:
    """Sixty-five reals and fifteen choices, whose weights fall from 4 to a hundredth of that.

    Neighbours by weight interact; the optimum is not in the middle.
    """
    rng, reals, choices = rng_for(seed, "eighty"), 65, 15
    weights = rng.permutation(np.geomspace(4.0, 0.04, reals))
    turns = rng.uniform(-0.5, 0.5, reals - 1)
    at = rng.uniform(-3.0, 3.0, reals)
    good = rng.integers(0, 3, choices).tolist()
    penalties = rng.permutation(np.geomspace(6.0, 0.06, choices))
    parameters: dict[str, Any] = {f"x{i}": Real(-5.0, 5.0) for i in range(reals)}
    parameters |= {f"c{i}": Categorical([0, 1, 2]) for i in range(choices)}
    space = Space(parameters)

    def base(config: Config, shift: Array) -> float:
        values = list(config.values())
        z = np.sqrt(weights) * (np.array(values[:reals], dtype=np.float64) - at - shift)
        wrong = np.array(values[reals:]) != good
        return float(z @ z + turns @ (z[1:] * z[:-1]) + penalties @ wrong)

    optimum = dict(zip(space.parameters, [*at.tolist(), *good], strict=True))
    return _problem(seed, "eighty", space, base, optimum, shifts=reals)


def heavy_tails(seed: int) -> Problem:
    """Five reals; noise of Student's t with 1.2 degrees of freedom."""
    space = _reals(5)

    def noise(config: Config, seed: int) -> float:
        draw = random.Random(f"{seed} {list(config.values())}")  # noqa: S311
        return draw.gauss(0.0, 1.0) / math.sqrt(draw.gammavariate(0.6, 2.0) / 1.2 + 1e-12)

    return _problem(seed, "heavy tails", space, _squares, _origin(space), shifts=5, noise=noise)


def hierarchy(seed: int) -> Problem:
    """Four algorithms of three variants, each with two reals of its own.

    The best algorithm is good only near its optimum, the others are mediocre everywhere.
    """
    rng = rng_for(seed, "tree")
    algorithms = [f"a{i}" for i in rng.permutation(4).tolist()]
    at = rng.uniform(-3.5, 3.5, (4, 3, 2))
    level = np.array([0.0, 4.0, 6.0, 8.0])
    steep = np.array([2.0, 0.6, 0.4, 0.2])
    of_variant = np.array([0.0, 3.0, 5.0])
    parameters: dict[str, Any] = {"algorithm": Categorical([f"a{i}" for i in range(4)])}
    conditions: dict[str, Any] = {}
    for a in algorithms:
        parameters[f"{a}_variant"] = Categorical(["u", "v", "w"])
        conditions[f"{a}_variant"] = {"algorithm": a}
        for v in "uvw":
            for i in range(2):
                parameters[f"{a}_{v}{i}"] = Real(-5.0, 5.0)
                conditions[f"{a}_{v}{i}"] = {f"{a}_variant": v}
    space = Space(parameters, conditions=conditions)

    def base(config: Config, shift: Array) -> float:
        a = algorithms.index(config["algorithm"])
        name = config["algorithm"]
        variant = config[f"{name}_variant"]
        v = "uvw".index(variant)
        z = [config[f"{name}_{variant}{i}"] - at[a, v, i] - shift[i] for i in range(2)]
        return float(level[a] + of_variant[v] + steep[a] * (z[0] ** 2 + z[1] ** 2))

    best = algorithms[0]
    optimum = {
        "algorithm": best,
        f"{best}_variant": "u",
        f"{best}_u0": float(at[0, 0, 0]),
        f"{best}_u1": float(at[0, 0, 1]),
    }
    return _problem(seed, "hierarchy", space, base, optimum, shifts=2)


def large_noise(seed: int) -> Problem:
    """Six reals in a valley of condition number 30, on 500 instances, noise of sd 3."""
    rng = rng_for(seed, "valley")
    at = rng.uniform(-3.0, 3.0, 6)
    turned = np.linalg.qr(rng.normal(size=(6, 6)))[0] * np.geomspace(0.4, 2.2, 6)[:, None]
    space = _reals(6)

    def base(config: Config, shift: Array) -> float:
        z = turned @ (_point(config) - at - shift)
        return float(z @ z)

    def loud(config: Config, seed: int) -> float:
        return 3.0 * _normal(config, seed)

    optimum = dict(zip(space.parameters, at.tolist(), strict=True))
    return _problem(seed, "large noise", space, base, optimum, shifts=6, noise=loud, tuning=500)


def failures(seed: int) -> Problem:
    """Five reals; where x0 + x1 > 1.5 an evaluation fails: a third of the space, near the optimum."""
    space = _reals(5)

    def base(config: Config, shift: Array) -> float:
        if config["x0"] + config["x1"] > 1.5:
            raise ArithmeticError("diverged")
        z = _point(config) - shift
        z[:2] -= 0.7
        return float(z @ z)

    optimum = {"x0": 0.7, "x1": 0.7, "x2": 0.0, "x3": 0.0, "x4": 0.0}
    return _problem(seed, "failures", space, base, optimum, shifts=5)


def few_deterministic(seed: int) -> Problem:
    """Four reals and a choice on six instances without noise, shifted more than elsewhere."""
    space = Space({**{f"x{i}": Real(-5.0, 5.0) for i in range(4)}, "c": Categorical(list("abcd"))})
    penalty = dict(zip("abcd", (0.0, 2.0, 4.0, 6.0), strict=True))
    shifts = rng_for(seed, "few").normal(0.0, 0.5, (6, 4))
    shifts -= shifts.mean(axis=0)
    levels = rng_for(seed, "levels").normal(0.0, LEVEL, 6).tolist()

    def worth(config: Config, instance: int, _: int) -> float:
        z = np.array([config[f"x{i}"] for i in range(4)]) - shifts[instance % 6]
        return float((3.0 + z * z - 3.0 * np.cos(np.pi * z)).sum()) + penalty[config["c"]]

    def cost(config: Config, instance: int, seed: int) -> float:
        return float(levels[instance % 6] + worth(config, instance, seed))

    grid = np.linspace(-1.5, 1.5, 3001)[:, None, None] - shifts  # each real on its own
    reference = float((3.0 + grid**2 - 3.0 * np.cos(np.pi * grid)).mean(axis=1).min(axis=0).sum())
    return Problem(space, cost, 6, 6, worth, reference, deterministic=True)
