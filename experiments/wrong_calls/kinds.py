"""Wrong values by kind, targets, and how a wrong call is judged."""

# ruff: noqa: ARG001, ARG005  (functions of which it counts whether they are called)

from __future__ import annotations

import contextlib
import functools
import io
import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import click
import numpy as np

import racer
from racer import deciders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

HUGE = 10**400  # no float holds it


class Evaluated(BaseException):
    """An objective was called."""


class Thing:
    """An object that nothing takes."""

    def __repr__(self) -> str:
        return "Thing()"


EVALUATIONS: list[str] = []


def evaluated() -> NoReturn:
    """Note that something was evaluated, and stop it."""
    EVALUATIONS.append("one")
    raise Evaluated


def never(config: Any, instance: Any, seed: int) -> float:
    """Fail: nothing may be evaluated."""
    evaluated()


async def never_async(config: Any, instance: Any, seed: int) -> float:
    """Fail as well."""
    evaluated()


ARRAY = np.array([1.0, 2.0])
NAN, INF = float("nan"), float("inf")
TEXT, LIST, THING = "three", [1], Thing()


def whole(least: int) -> list[Any]:
    """Return what is no whole number from `least` on."""
    return [least - 1, -(10**9), 1.5, NAN, INF, "3", True, LIST, THING, ARRAY, None]


def real(*outside: float, nan: bool = True) -> list[Any]:
    """Return what is no number, and numbers `outside` the range."""
    return [*outside, *([NAN] if nan else []), HUGE, "0.5", True, LIST, {}, THING, ARRAY, None, 1j]


def one_of() -> list[Any]:
    """Return what is none of some names."""
    return ["nonesuch", "", 3, True, LIST, THING, ARRAY, NAN]


SEEDS = [value for value in whole(0) if value is not None]
POSITIVE = real(0, -1, -0.5, INF)
FRACTION = real(0, 1, -0.1, 1.5, INF)
FLAG = [1, 0, "yes", "False", LIST, THING, ARRAY, 0.5, NAN]
PATHS = [3, True, LIST, THING, ARRAY, NAN, {}]
NAMES = {
    # what a message may call an argument instead
    "candidates": "candidate",
    "instances": "instance",
    "test_instances": "instance",
    "n_jobs": "n_jobs|jobs",
    "initial": "initial|result|store",
    "of": "of|tuning|store",
    "x": "x|samples",
    "y": "y|samples",
    "callbacks": "callback",
    "scores": "scores|algorithm",
    "retries": "retries",
}


@dataclass(frozen=True)
class Target:
    """A call that works, and wrong values by argument.

    `make` takes the arguments by keyword; `base` are those of a call that works.
    """

    name: str
    make: Callable[..., object]
    wrong: Mapping[str, Any]  # to a list
    base: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """One wrong call; `names` is a pattern of what its message has to name."""

    target: str
    argument: str
    value: str
    run: Callable[[], object]
    names: str


def calls_of(target: Target) -> Iterator[Call]:
    """Yield the wrong calls of a target."""
    for argument, values in target.wrong.items():
        named = target.names.get(argument) or NAMES.get(argument) or re.escape(argument)
        for value in values:
            shown = f"{type(value).__name__} {str(value)[:90]!r}"
            run = functools.partial(target.make, **{**target.base, argument: value})
            yield Call(target.name, argument, shown, run, named)


def judged(call: Call) -> tuple[str, str]:
    """Make a call; return "refused", or what is wrong with it, and what it said."""
    EVALUATIONS.clear()
    how, said = _made(call)
    return ("evaluated" if EVALUATIONS else how), said


def _made(call: Call) -> tuple[str, str]:
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            found = call.run()
    except Evaluated:
        return "evaluated", ""
    except (racer.RacerError, click.ClickException) as error:
        said = str(error) if isinstance(error, racer.RacerError) else error.format_message()
    except BaseException as error:  # noqa: BLE001
        return "raw", f"{type(error).__name__}: {error}"
    else:
        return "accepted", repr(found)[:80]
    return ("refused" if re.search(call.names, said, re.IGNORECASE) else "unnamed"), said


RULES: dict[str, list[Any]] = {
    "budget": [*whole(1), 5, racer.Budget, "60", [], {"evaluations": 60}],
    "maximize": FLAG,
    "seed": SEEDS,
    "deterministic": FLAG,
    "generalize": [*FLAG, True],
    "first_test": whole(1),
    "each_test": [v for v in whole(1) if v is not None] + ["grow"],
    "block_size": whole(1),
    "decider": ["f-rase", "", 3, True, deciders.FRace, [deciders.FRace()], THING, ARRAY],
    "runtime": [0, -1, "5", True, LIST, THING, ARRAY, racer.Runtime, {"limit": 5}],
    "metrics": [3, "score", ["score"], {}, {"score": "up"}, {3: "min"}, {"": "min"}, THING, ARRAY],
    "objective": [3, THING, "score", racer.Pareto("a", "b"), LIST, racer.Pareto, ARRAY],
    "prices": [3, "1", [], [1.0, "x", 2.0], [1.0, -1.0, 1.0], [1.0], [NAN, 1, 1], THING, {}],
}
HOW: dict[str, list[Any]] = {
    "n_jobs": [0, 1.5, "2", True, LIST, THING, ARRAY, None, NAN, 10**30],
    "executor": [3, "dask", True, LIST, THING, ARRAY],
    "ahead": [-1, 1.5, "some", True, LIST, THING, ARRAY, None, NAN],
    "timeout": [v for v in POSITIVE if v is not None],
    "memory": [0, -1, 1.5, 10, "1 GB", True, LIST, THING, ARRAY, NAN, INF],
    "retries": whole(0),
    "store": [*PATHS, "", "a\0b", "nowhere/run.db", "/"],
    "progress": [*FLAG, None],
    "callbacks": [3, "print", [3], [None], THING, None, print],
}
EVALUATE = [None, 3, "never", THING, lambda: 1, lambda config: 1, dict, ARRAY, [never]]
INSTANCES = [3, [], THING, True, NAN, ""]
SCORES = np.random.default_rng(1).random((12, 3))
