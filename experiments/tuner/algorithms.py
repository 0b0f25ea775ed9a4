"""Real algorithms: those of algorithms.c, compiled on the spot, and Debian's minisat."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.formulas import formula
from experiments.tuner.problem import Problem
from racer import Categorical, Integer, Real, Space
from racer.seeding import rng_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Config = Mapping[str, Any]

__all__ = ["ant_colony", "branch_and_bound", "differential_evolution", "minisat", "sa", "walksat"]

TUNING, HELD_OUT = 40, 80
CITIES = 50, 25  # of annealing, of ants
MOVES = 4_000
TOURS = 120
DIMENSIONS, VALUES = 8, 800  # of differential evolution
VARIABLES, CLAUSES = 100, 410  # of walksat
FLIPS, PENALTY = 4_000, 10
ITEMS, NODES = 14, 4_000
SAT = 110, 468  # variables and clauses of minisat's formulas


@lru_cache(maxsize=1)
def _library() -> Any:
    source = Path(__file__).with_name("algorithms.c")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "algorithms.so"
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(target), str(source), "-lm"]
        subprocess.run(command, check=True)  # noqa: S603
        library = ctypes.CDLL(str(target))
    for name in ("sa_tsp", "aco_tsp", "de", "walksat", "knapsack"):
        getattr(library, name).restype = ctypes.c_double
    return library


def _doubles(array: NDArray[np.float64]) -> Any:
    return np.ascontiguousarray(array, dtype=np.float64).ctypes.data_as(
        ctypes.POINTER(ctypes.c_double)
    )


def _argument(parameter: Any, value: Any) -> Any:
    """Return what C takes: the place of a choice, a number; for an inactive one what it ignores."""
    if isinstance(parameter, Categorical):
        return 0 if value is None else parameter.choices.index(value)
    number = parameter.low if value is None else value
    return ctypes.c_double(number) if isinstance(parameter, Real) else number


def _problem(space: Space, name: str, instances: list[tuple[Any, ...]], limit: int) -> Problem:
    """Return a problem whose cost a compiled function computes, from what it takes of an instance."""
    run = getattr(_library(), name)

    def cost(config: Config, instance: int, seed: int) -> float:
        arguments = [_argument(p, config.get(key)) for key, p in space.parameters.items()]
        return float(run(*instances[instance], *arguments, limit, ctypes.c_uint64(seed)))

    return Problem(space, cost, TUNING, HELD_OUT)


def _distances(seed: int, name: str, cities: int) -> list[tuple[Any, ...]]:
    """Return distances, in units in which a random tour of uniform cities would be about 1."""
    rng = rng_for(seed, name)
    found = []
    for number in range(TUNING + HELD_OUT):
        at = rng.random((cities, 2))
        if number % 2:  # in clusters
            at = (
                0.08 * rng.normal(size=(cities, 2)) + rng.random((5, 2))[rng.integers(0, 5, cities)]
            )
        apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
        found.append((_doubles(apart / (0.7124 * np.sqrt(cities))), cities))
    return found


def sa(seed: int) -> Problem:
    """Return simulated annealing for the travelling salesman: 50 cities, 4 000 moves; tour length."""
    moves = ["two-opt", "swap", "insert", "near"]
    space = Space(
        {
            "start": Real(1e-3, 10.0, log=True),
            "end": Real(1e-5, 1.0, log=True),
            "move": Categorical(moves),
            "width": Integer(2, 49),
            "nearest": Categorical([False, True]),
            "restarts": Integer(1, 20, log=True),
            "accept": Categorical(["metropolis", "threshold"]),
        },
        conditions={"width": {"move": "near"}},
    )
    return _problem(space, "sa_tsp", _distances(seed, "sa", CITIES[0]), MOVES)


def ant_colony(seed: int) -> Problem:
    """Four ant colonies for the travelling salesman: 25 cities, 120 tours; tour length."""
    kinds = ["as", "elitist", "max-min", "acs"]
    space = Space(
        {
            "kind": Categorical(kinds),
            "alpha": Real(0.0, 5.0),
            "beta": Real(0.0, 10.0),
            "rho": Real(0.01, 1.0),
            "ants": Integer(2, 60, log=True),
            "q0": Real(0.0, 1.0),
            "weight": Real(0.5, 50.0, log=True),
            "local": Categorical([False, True]),
            "near": Integer(2, 24),
        },
        conditions={"q0": {"kind": "acs"}, "weight": {"kind": "elitist"}, "near": {"local": True}},
    )
    return _problem(space, "aco_tsp", _distances(seed, "aco", CITIES[1]), TOURS)


def differential_evolution(seed: int) -> Problem:
    """Differential evolution of four turned functions in eight reals; log10 of what is reached."""
    strategies = ["rand1", "best1", "current-to-best1", "rand2"]
    bounds = ["clip", "reflect", "anew"]
    space = Space(
        {
            "size": Integer(4, 64, log=True),
            "weight": Real(0.0, 1.5),
            "cr": Real(0.0, 1.0),
            "strategy": Categorical(strategies),
            "crossover": Categorical(["binomial", "exponential"]),
            "bounds": Categorical(bounds),
            "jitter": Real(0.0, 1.0),
        }
    )
    rng = rng_for(seed, "de")
    instances = [
        (
            _doubles(np.linalg.qr(rng.normal(size=(DIMENSIONS, DIMENSIONS)))[0]),
            _doubles(rng.uniform(-3, 3, DIMENSIONS)),
            number % 4,
            DIMENSIONS,
        )
        for number in range(TUNING + HELD_OUT)
    ]
    return _problem(space, "de", instances, VALUES)


def walksat(seed: int) -> Problem:
    """Local search for 3-SAT, formulas with a hidden solution; flips, ten times the cap if unsolved."""
    kinds = ["walksat", "novelty", "tabu"]
    space = Space(
        {
            "kind": Categorical(kinds),
            "noise": Real(0.0, 1.0),
            "walk": Real(1e-4, 0.5, log=True),
            "tabu": Integer(0, 60),
            "restart": Integer(20, 4000, log=True),
            "age": Categorical([False, True]),
        },
        conditions={
            "noise": {"kind": ["walksat", "novelty"]},
            "walk": {"kind": ["novelty", "tabu"]},
            "tabu": {"kind": "tabu"},
        },
    )
    rng = rng_for(seed, "walksat")
    instances = [(_planted(rng), CLAUSES, VARIABLES) for _ in range(TUNING + HELD_OUT)]
    counted = _problem(space, "walksat", instances, FLIPS)

    def cost(config: Config, instance: int, seed: int) -> float:
        flips = counted(config, instance, seed)
        return flips if flips < FLIPS else PENALTY * float(FLIPS)

    return replace(counted, cost=cost)


def _planted(rng: np.random.Generator) -> Any:
    """Return clauses, shape (CLAUSES, 3), each true under a hidden assignment."""
    hidden = rng.random(VARIABLES) < 0.5
    which = rng.random((CLAUSES, VARIABLES)).argsort(axis=1)[:, :3]
    signs = rng.random((CLAUSES, 3)) < 0.5
    false = (signs != hidden[which]).all(axis=1)
    signs[false, 0] ^= True
    clauses = np.where(signs, which + 1, -which - 1).astype(np.int32)
    return clauses.ctypes.data_as(ctypes.POINTER(ctypes.c_int))


def branch_and_bound(seed: int) -> Problem:
    """Branch and bound for knapsacks with three constraints; nodes until the optimum is proved."""
    rules = ["ratio", "profit", "weight", "random"]
    first = ["none", "ratio", "order"]
    space = Space(
        {
            "rule": Categorical(rules),
            "power": Real(0.0, 4.0),
            **{f"mix{c}": Real(0.01, 1.0, log=True) for c in range(3)},
            **{f"merge{c}": Real(0.01, 1.0, log=True) for c in range(3)},
            "take": Categorical([True, False]),
            "first": Categorical(first),
            "noise": Real(0.001, 1.0, log=True),
        },
        conditions={
            "power": {"rule": "ratio"},
            **{f"mix{c}": {"rule": ["ratio", "weight"]} for c in range(3)},
        },
    )
    rng = rng_for(seed, "knapsack")
    instances = []
    for _ in range(TUNING + HELD_OUT):
        weight = rng.uniform(10.0, 100.0, (3, ITEMS)) * np.array([1.0, 1.5, 3.0])[:, None]
        profit = np.round(
            (weight / np.array([1.0, 1.5, 3.0])[:, None]).mean(axis=0)
            + rng.uniform(0.0, 30.0, ITEMS)
        )
        cap = weight.sum(axis=1) * np.array([0.4, 0.55, 0.7])
        instances.append((*map(_doubles, (profit, weight, cap)), ITEMS))
    return _problem(space, "knapsack", instances, NODES)


def minisat(seed: int) -> Problem:
    """Debian's minisat on random formulas at the threshold; conflicts."""
    program = shutil.which("minisat")
    if program is None:
        raise RuntimeError("minisat is not installed: apt-get install minisat")
    space = Space(
        {
            "rnd-freq": Real(0.0, 0.3),
            "var-decay": Real(0.6, 0.999),
            "cla-decay": Real(0.6, 0.999),
            "luby": Categorical([True, False]),
            "rfirst": Integer(10, 1000, log=True),
            "rinc": Real(1.1, 4.0),
            "ccmin-mode": Categorical([0, 1, 2]),
            "phase-saving": Categorical([0, 1, 2]),
            "elim": Categorical([True, False]),
            "grow": Integer(0, 20),
        },
        conditions={"grow": {"elim": True}},
    )
    texts = [
        formula(rng_for(seed, "minisat", number), *SAT).encode()
        for number in range(TUNING + HELD_OUT // 2)
    ]

    def cost(config: Config, instance: int, seed: int) -> float:
        flags = []
        for name, value in config.items():
            flag = f"-{name}={value}"
            if value is True or value is False:
                flag = f"-{name}" if value else f"-no-{name}"
            flags.append(flag)
        found = subprocess.run(  # noqa: S603
            [program, *flags, f"-rnd-seed={1 + seed % 10**6}"],
            input=texts[instance],
            capture_output=True,
            check=False,
        )
        conflicts = re.search(rb"conflicts\s*:\s*(\d+)", found.stdout)
        if conflicts is None:
            raise RuntimeError(found.stderr.decode())
        return float(conflicts[1])

    return Problem(space, cost, TUNING, HELD_OUT // 2)
