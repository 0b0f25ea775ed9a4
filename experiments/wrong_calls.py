"""Wrong calls over the whole public surface: each has to be refused, with its argument named.

A target is a call that works, with the kind of each of its arguments; every kind has a list of
values that cannot be meant. One argument at a time is replaced by each of them. A call passes if
it raises an error of racer's (exit code 1 or 2 of the command line) that names the argument,
before anything is evaluated. All others are listed: `accepted`, `evaluated`, `raw` (another
exception: a traceback for the user) or `unnamed`.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
import numpy as np
import pandas as pd

import racer
from experiments.report import print_row
from racer import deciders, simulate, stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Call", "calls", "judged", "main"]

HUGE = 10**400  # no float holds it


class Evaluated(BaseException):
    """An objective was called."""


class Thing:
    """An object that nothing takes."""

    def __repr__(self) -> str:
        return "Thing()"


EVALUATIONS: list[str] = []


def _evaluated() -> NoReturn:
    EVALUATIONS.append("one")
    raise Evaluated


def never(config: Any, instance: Any, seed: int) -> float:
    """Fail: nothing may be evaluated."""
    _evaluated()


async def never_async(config: Any, instance: Any, seed: int) -> float:
    """Fail as well."""
    _evaluated()


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
LISTED = [3, THING, NAN, True]
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
    wrong: Mapping[str, list[Any]]
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


def _calls_of(target: Target) -> Iterator[Call]:
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


# -- races and tunings -----------------------------------------------------------------------------

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
    "n_jobs": [0, 1.5, "2", True, LIST, THING, ARRAY, None, NAN],
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
CANDIDATES = [None, 3, [], (), {}, "", THING, True, NAN, [1, 1], {1, 2}]
INSTANCES = [3, [], THING, True, NAN, ""]


def _races() -> Iterator[Target]:
    base = {"candidates": [1, 2, 3], "evaluate": never, "instances": [*range(8)], "budget": 60}
    race_only = {
        "candidates": CANDIDATES,
        "instances": INSTANCES,
        "min_survivors": [*whole(1), 3, 4],
        "instance_order": one_of(),
        "groups": [3, [1], [1] * 9, "12345678", {}, THING, [[1]] * 8, True],
    }
    evaluate = {"evaluate": EVALUATE}
    generalize = {"generalize": FLAG}
    yield Target("race", racer.race, {**RULES, **generalize, **race_only, **evaluate, **HOW}, base)
    base.pop("evaluate")
    callbacks = {"callbacks": HOW["callbacks"]}
    yield Target("Race", racer.Race, {**RULES, **generalize, **race_only, **callbacks}, base)
    space = racer.Space({"x": racer.Real(0, 1), "k": racer.Categorical(["a", "b"])})
    tune_only = {
        "space": [None, 3, {}, {"x": racer.Real(0, 1)}, "x", THING, racer.Space],
        "instances": INSTANCES,
        "test_instances": [*INSTANCES],
        "initial": [3, "nowhere.db", [3], [{"x": 2}], [{"y": 1}], [{}], THING, [THING], True],
        "elites": [v for v in whole(1) if v is not None],
        "instance_order": [*one_of(), None],
    }
    rules = {**RULES, **generalize, "prices": [3, "1", [], [1.0, 2.0], THING, {}, -1.0]}
    base = {"space": space, "evaluate": never, "instances": [*range(8)], "budget": 120}
    yield Target("tune", racer.tune, {**rules, **tune_only, **evaluate, **HOW}, base)
    base.pop("evaluate")
    tune_only.pop("initial")
    tune_only["initial"] = [3, [3], [{"x": 2}], [{"y": 1}], [{}], THING, [THING], True, "x"]
    yield Target("Tuner", racer.Tuner, {**rules, **tune_only, **callbacks}, base)


def _told() -> Iterator[Target]:
    """Yield what a race in ask and tell may be told."""

    def tell(cell: Any = None, outcome: Any = None) -> None:
        race = racer.Race([1, 2, 3], budget=60, seed=1)
        cells = race.ask()
        race.tell(cells[0] if cell is None else cell, outcome)

    def tell_block(told: Any = (1.0, 2.0, 3.0), seconds: Any = None) -> None:
        racer.Race([1, 2, 3], budget=60, seed=1).tell_block(told, seconds=seconds)

    outcomes = [
        *(None, 3.0, "ok", THING, ("ok", 1.0), racer.Outcome),
        *(racer.Outcome("okay", 1.0), racer.Outcome("ok", NAN), racer.Outcome("ok")),  # type: ignore[arg-type]
        *(racer.Outcome("ok", "1"), racer.Outcome("ok", True), racer.Outcome("ok", INF)),  # type: ignore[arg-type]
        *(racer.Outcome("ok", 1.0, seconds=-1.0), racer.Outcome("ok", 1.0, seconds=NAN)),
        *(racer.Outcome("failed", 1.0), racer.Outcome("failed", None, attempts=0)),
        *(racer.Outcome("ok", 1.0, attempts=0), racer.Outcome("ok", 1.0, spend=-1.0)),
        *(racer.Outcome("ok", 1.0, spend=NAN), racer.Outcome("failed", None, message=3)),  # type: ignore[arg-type]
    ]
    cell = [3, "cell", THING, racer.Cell(0, 7, 7, None, 1), racer.Cell(9, 0, 1, None, 1), (0, 0)]
    names = {"outcome": "outcome|told|status|value|seconds|spend|metrics|message|attempts"}
    target = {"outcome": racer.Outcome("ok", 1.0)}
    yield Target("Race.tell", tell, {"cell": cell, "outcome": outcomes}, target, names)
    told = [None, 3.0, [1.0], [1.0, NAN, 2.0], ["a", "b", "c"], THING, [[1.0, 2.0, 3.0]], {}, 1j]
    told += [[True, None, 1.0], [racer.Outcome("ok", 1.0)], [racer.Outcome("ok", 1.0), 1.0, 2.0]]
    names = {"told": "values|outcome"}
    wrong = {"told": told, "seconds": [v for v in real(-1.0, INF) if v is not None]}
    yield Target("Race.tell_block", tell_block, wrong, {}, names)


def _stores(folder: Path) -> Iterator[Target]:
    """Yield calls about recorded runs, made by small ones."""
    space = racer.Space({"x": racer.Real(0, 1), "k": racer.Categorical(["a", "b"])})

    def evaluate(config: Any, instance: Any, seed: int) -> float:
        x = config["x"] if isinstance(config, dict) else config
        return float(x + seed % 7)

    run, tuned = folder / "run.db", folder / "tuned.db"
    racer.race([1, 2, 3], evaluate, [*range(20)], budget=30, seed=1, store=run)
    result = racer.tune(space, evaluate, [1, 2, 3], budget=60, seed=1, store=tuned)
    (folder / "text.txt").write_text("nothing")
    (folder / "empty.db").write_bytes(b"")
    others = [str(folder / "text.txt"), str(folder), str(folder / "none.db"), "", "a\0b"]
    others += [str(folder / "empty.db")]
    stores = [*PATHS, None, *others]
    names = {"store": "store|file|path", "budget": "budget"}
    how = {n: v for n, v in HOW.items() if n in inspect.signature(racer.resume).parameters}
    wrong: dict[str, list[Any]] = {
        "store": stores,
        "evaluate": EVALUATE,
        "candidates": [3, [], [1, 2], [1, 2, 4], "abc", THING, True],
        "instances": [3, [], [1, 2], [*range(19), 99], "abc", THING, True],
        "test_instances": [3, [1], THING],
        "space": [3, space, THING],
        "decider": ["f-rase", 3, "f-race", deciders.TRace(), THING, deciders.FRace],
        "budget": [*[v for v in whole(1) if v is not None], 12, racer.Budget(seconds=1e9), "90"],
        "runtime": [3, racer.Runtime(5.0), THING],
        "prices": [3, [1.0, 1.0, 1.0], THING, lambda config, instance: 1.0],
        **how,
    }
    base = {"store": run, "evaluate": never, "budget": 90}
    yield Target("resume", racer.resume, wrong, base, names)
    yield Target("load", racer.load, {"store": stores}, {}, names)
    again = {"candidates": [1, 2, 3], "evaluate": never, "instances": [*range(20)], "budget": 90}
    changed = {
        "candidates": [[1, 2], [1, 2, 4], [3, 2, 1], ["1", "2", "3"]],
        "instances": [None, [*range(19)], [*range(1, 21)]],
        "seed": [2],
        "maximize": [True],
        "first_test": [4],
        "min_survivors": [2],
        "decider": ["f-race"],
        "block_size": [2],
        "timeout": [5.0],
        "retries": [1],
        "runtime": [racer.Runtime(5.0)],
        "metrics": [{"a": "min"}],
        "prices": [[1.0, 1.0, 1.0]],
        "groups": [[i // 2 for i in range(20)]],
        "instance_order": ["shuffled"],
        "deterministic": [True],
        "generalize": [False],
        "each_test": [3],
        "budget": [29, racer.Budget(seconds=9.0)],
    }
    names = {"block_size": "block_size|each_test", **names}
    yield Target("race(store=)", racer.race, changed, {**again, "store": run}, names)
    ablation: dict[str, list[Any]] = {
        "of": [*PATHS, None, *others, str(run), racer.load(run)],
        "evaluate": EVALUATE,
        "source": [99, -1, "worst", {"x": 2}, {"y": 1}, 1.5, THING, None, {}, True],
        "target": [99, -1, "worst", {"x": 2}, {"y": 1}, 1.5, THING, None, {}, True],
        "budget": [v for v in whole(1) if v is not None and v is not LIST] + ["30"],
        "blocks": [v for v in whole(2) if v is not None],
        **{n: v for n, v in HOW.items() if n in inspect.signature(racer.ablation).parameters},
    }
    base = {"of": result, "evaluate": never, "source": {"x": 0.0, "k": "a"}}
    names = {"of": "of|tun|store|path|file", "store": "store|path|file"}
    yield Target("ablation", racer.ablation, ablation, base, names)
    outputs = [*PATHS, None, "", "a\0b", str(folder), str(folder / "no" / "page.html"), str(run)]
    names = {"path": "path|page|file|folder|directory|store"}
    recorded = racer.load(run)

    def report(path: Any) -> None:
        try:
            recorded.report(path)
        except OSError as error:  # as is documented
            raise racer.SettingError(str(error)) from None

    yield Target("report", report, {"path": outputs}, {}, names)


# -- values ----------------------------------------------------------------------------------------


def _values() -> Iterator[Target]:
    evaluations = [v for v in whole(1) if v is not None]
    money = [v for v in POSITIVE if v is not None]
    wrong = {"evaluations": evaluations, "seconds": money, "spend": money}
    yield Target("Budget", racer.Budget, wrong, {"evaluations": 5}, {"spend": "spend|money"})
    metric: dict[str, list[Any]] = {
        "direction": one_of(),
        "exact": FLAG,
        "margin": real(-1, INF),
        "bounds": [3, (1,), (1, 0), (0, 0), (0, NAN), (0, INF), ("0", "1"), THING, "01", ARRAY],
    }
    names = {"direction": "Metric"}
    yield Target("Metric", racer.Metric, metric, {}, names)
    runtime: dict[str, list[Any]] = {
        "limit": real(0, -1, INF),
        "slack": real(0.5, -1),
        "par": [v for v in real(0.5, INF) if v is not None],
        "utility": ["sqrt", 3, THING, LIST, lambda: 1, lambda t: t, lambda t: "x", True, ARRAY],
    }
    yield Target("Runtime", racer.Runtime, runtime, {"limit": 5.0})
    yield Target("Pareto", lambda metrics: racer.Pareto(*metrics), {
        "metrics": [[], ["a"], ["a", "a"], [3, 4], list("abcdefghi"), [None, "a"], ["", "a"]]
    }, names={"metrics": "Pareto"})  # fmt: skip
    yield Target("Within", lambda metric, limits: racer.Within(metric, **limits), {
        "metric": [3, None, "", "b", THING],
        "limits": [{}, *({"b": v} for v in real(-0.1, INF))],
    }, {"metric": "a", "limits": {"b": 0.1}}, {"metric": "Within|metric", "limits": "Within"})  # fmt: skip
    limits = [3, "<= 1", ("<", 1), ("<=",), ("<=", "x"), ("<=", NAN), (1, "<="), None, THING]
    yield Target("Constrained", lambda metric, limits: racer.Constrained(metric, **limits), {
        "metric": [3, None, "", "b", THING],
        "limits": [{}, *({"b": v} for v in limits)],
    }, {"metric": "a", "limits": {"b": ("<=", 0.1)}},
        {"metric": "Constrained|metric", "limits": "Constrained"})  # fmt: skip
    two = {"metrics": {"a": "min", "b": "max"}, "objective": "a", "budget": 60}
    aims: dict[str, list[Any]] = {
        "objective": [
            *("c", 3, None, racer.Pareto("a", "c"), racer.Within("c", a=1), racer.Within("a", c=1)),
            *(racer.Constrained("a", b=("<=", 1.0)), racer.Constrained("c", a=("<=", 1)), THING),
            *({"pareto": 3}, {"pareto": ["a", "b"], "x": 1}, {}),
        ],
        "metrics": [
            {"a": "min", "b": "up"},
            *(
                {"a": "min", "spend": "min"},
                {"b": "max"},
                {"a": 3, "b": "max"},
                None,
                [("a", "min")],
            ),
            {"a": "min", "b": racer.Metric},
        ],
        "maximize": [True],
        "runtime": [racer.Runtime(5.0)],
    }
    yield Target("Race(metrics=)", racer.Race, aims, {**two, "candidates": [1, 2, 3]})
    throttled = {
        "evaluate": [never, None, 3, THING],
        "calls_per_minute": real(0, -1, INF),
    }
    base = {"evaluate": never_async, "calls_per_minute": 60}
    names = {"evaluate": "evaluate|objective"}
    yield Target("Throttled", racer.Throttled, throttled, base, names)
    command: dict[str, list[Any]] = {
        "argv": ["", [], 3, None, [3], ["./x", None], "'", THING, "a\0b", ["a\0"], {}],
        "switches": [3, "x", [1], {"x": 3}, {3: "-x"}, THING],
        "reads": one_of(),
        "protocol": one_of(),
        "cost": one_of(),
        "cwd": [3, True, LIST, THING, "nowhere", ARRAY, "a\0b"],
        "success_codes": [3, "0", [], [-1], [256], [1.5], ["0"], [True], None, THING, [None]],
    }
    names = {"argv": "argv|command|program|argument|placeholder"}
    yield Target("Command", racer.Command, command, {"argv": ["true", "{instance}"]}, names)


def _spaces() -> Iterator[Target]:
    def holds(parameter: Any) -> racer.Space:
        return racer.Space({"p": parameter})

    for name, kind in (("Real", racer.Real), ("Integer", racer.Integer)):
        wrong: dict[str, list[Any]] = {
            "low": [*real(10, INF), "x"],
            "high": [*real(0, INF), "x"],
            "log": FLAG,
            "step": [v for v in real(0, -1, 100, INF) if v is not None],
        }
        if kind is racer.Real:
            wrong["digits"] = [v for v in whole(0) if v is not None] + [400]
        else:
            wrong |= {"low": [*wrong["low"], 1.5], "high": [*wrong["high"], 8.5]}
            wrong["step"] += [1.5]
        make: Callable[..., object] = lambda kind=kind, **given: holds(kind(**given))  # noqa: E731
        names = dict.fromkeys(wrong, r"\bp\b")
        yield Target(name, make, wrong, {"low": 1, "high": 9}, names)
        yield Target(
            f"{name} log", make, {"low": [0, -1]}, {"low": 1, "high": 9, "log": True}, names
        )
    for name in ("Categorical", "Ordinal"):
        kind = getattr(racer, name)
        argument = "choices" if name == "Categorical" else "levels"
        values = [3, None, [], "abc", ["a", "a"], [1, 1.0], THING, True, {}, {"a": 1}, [NAN]]
        make = lambda kind=kind, **given: holds(kind(**given))  # noqa: E731
        yield Target(name, make, {argument: values}, {}, {argument: r"\bp\b"})
    x = racer.Param("x")
    space: dict[str, list[Any]] = {
        "parameters": [None, 3, {}, [], "x", {"x": (0, 1)}, {3: racer.Real(0, 1)}, THING]
        + [{"": racer.Real(0, 1)}, {"x": racer.Real}, [racer.Real(0, 1)]],
        "conditions": [3, [x > 0.5], {"y": 3}, {"z": x > 0.5}, {"y": racer.Param("z") > 1}, THING]
        + [{"x": x > 0.5}, {"y": True}, {"y": "x > 1"}, {"y": {}}, {"y": {"!": 1}}],
        "forbidden": [3, x > 0.5, [3], [racer.Param("z") > 1], [True], "x > 1", ["x > 1"], THING]
        + [{}, [{}], [(x >= 0.0) | (x <= 1.0)]],
        "switches": [3, "x", {"z": "-z"}, {"x": 3}, [1], THING, {3: "-x"}],
        "default": [3, {}, {"x": 2.0, "y": 1}, {"x": 0.5}, {"x": 0.5, "y": 1, "z": 1}, THING, "x"],
        "repair": [3, "f", THING, LIST, {}],
    }
    base = {"parameters": {"x": racer.Real(0, 1), "y": racer.Integer(1, 5)}}
    names = {"parameters": "parameter|Space|x|''", "conditions": "condition", "forbidden": "forbid"}
    names |= {"conditions": "condition|y|x", "default": "default", "switches": "switch"}
    yield Target("Space", racer.Space, space, base, names)
    yield Target(
        "Param", racer.Param, {"name": [3, None, "", THING, True, LIST]}, {}, {"name": "Param"}
    )
    some = racer.Space({"x": racer.Real(0, 1), "y": racer.Integer(1, 5)})
    sample: dict[str, list[Any]] = {
        "n": whole(0),
        "seed": SEEDS,
        "method": one_of(),
        "known": [3, THING, [3], [{"z": 1}]],
        "exclude": [3, THING],
    }
    yield Target("Space.sample", some.sample, sample, {"n": 2})
    configs = [3, None, {}, {"x": 0.5}, {"x": 2, "y": 1}, {"x": "a", "y": 1}, THING, [0.5, 1]]
    names = {"config": "config|x|y|parameter", "vector": "vector"}
    yield Target("Space.encode", some.encode, {"config": configs}, {}, names)
    vectors = [3, None, [], [0.5], [0.5, 0.5, 0.5], [2, 0.5], [NAN, 0.5], "ab", THING, [[0.5, 0.5]]]
    yield Target("Space.decode", some.decode, {"vector": vectors}, {}, names)
    data = [None, 3, [], {}, "{}", {"parameters": 3}, {"parameters": [{}]}, THING, {"x": 1}]
    data += [{**some.to_json(), "parameters": "x"}, {**some.to_json(), "forbidden": 3}]
    yield Target(
        "Space.from_json",
        racer.Space.from_json,
        {"data": data},
        {},
        {"data": "space|param|data|forbid|JSON"},
    )
    text: dict[str, list[Any]] = {
        "text": [3, None, "", "x", "x '' r", "x '' r (1, oops)", "x '' q (1, 2)", THING, b"x"],
        "digits": whole(0),
        "repair": [3, "f", THING],
    }
    base = {"text": 'x "" r (0, 1)'}
    names = {"text": "param|line|text"}
    yield Target("Space.from_irace", racer.Space.from_irace, text, base, names)
    for name in ("read_irace", "read_pcs", "read_configspace"):
        paths = [*PATHS, None, "", "nowhere.txt", "/", "a\0b", "/dev/null", "/dev/zero"]
        names = {"path": "path|file|nowhere|director|param|''|/|null"}
        yield Target(f"Space.{name}", getattr(racer.Space, name), {"path": paths}, {}, names)
    yield Target("Space.from_optuna", racer.Space.from_optuna, {
        "distributions": [None, 3, [], {}, {"x": THING}, "x", THING, {3: 4}]
    }, {}, {"distributions": "distribution|param|x"})  # fmt: skip
    yield Target("Space.from_sklearn", racer.Space.from_sklearn, {
        "param_distributions": [None, 3, [], {}, {"x": 3}, "x", THING, {3: [4]}, {"x": []}, {"x": "ab"}]
    }, {}, {"param_distributions": "distribution|param|x"})  # fmt: skip


# -- deciders, statistics, simulation ----------------------------------------------------------------

DECIDER_ARGUMENTS: dict[str, list[Any]] = {
    "alpha": FRACTION,
    "confidence": FRACTION,
    "threshold": FRACTION,
    "epsilon": real(-0.1, 0.5, 1, INF),
    "strength": real(-1, INF),
    "pair_strength": real(-1, INF),
    "ignorance": real(-1, INF),
    "sigma": POSITIVE,
    "prior": POSITIVE,
    "margin": real(-0.1, INF),
    "rope": real(-0.1, INF),
    "correlation": real(-0.1, 1, INF),
    "draws": whole(100),
    "bounds": [3, None, (1, 0), (0,), (0, NAN), (0, INF), ("a", "b"), THING, ARRAY, (0, 0)],
    "gate": ["nonesuch", "", 3, LIST, THING, ARRAY, 1, 0, None],
    "by": one_of(),
    "form": one_of(),
    "equalities": one_of(),
    "posthoc": one_of(),
    "correction": one_of(),
    "last_two": one_of(),
    "familywise": FLAG,
    "population": FLAG,
    "independent": FLAG,
}


def _deciders() -> Iterator[Target]:
    for name in sorted(deciders.__all__):
        kind = getattr(deciders, name)
        if not inspect.isclass(kind) or name not in _DECIDERS:
            continue
        arguments = inspect.signature(kind).parameters
        yield Target(name, kind, {a: DECIDER_ARGUMENTS[a] for a in arguments})
    names = {"decider": "decider|f-rase|''"}
    wrong = {"decider": [v for v in RULES["decider"]] + [None]}
    yield Target("as_decider", deciders.as_decider, wrong, {}, names)


_DECIDERS = {
    *("AnytimeRace", "BayesianBest", "BayesianFriedman", "BayesianFront", "BestForBudget"),
    *("BradleyTerryRace", "ConstrainedRace", "CorrelatedTRace", "FRace", "FrontRace", "MeanRace"),
    *("PlackettLuceRace", "SequentialHalving", "SignedRankRace", "TRace", "WithinRace"),
}
SCORES = np.random.default_rng(1).random((12, 3))
_TABLES = [
    *(None, 3, "abc", [], [[]], [["a", "b"]], [[1, 2], [3]], {}, {1, 2}, THING, NAN, True),
    *(np.zeros((2, 2, 2, 2)), np.zeros((0, 3)), [[1j, 2.0]], [[THING, 1.0]], np.zeros(())),
    *([[HUGE, 1.0], [1.0, 2.0]], [[b"a", b"b"]], np.array([["2020-01-01"]], "M8[D]")),
]
STATS_ARGUMENTS: dict[str, list[Any]] = {
    **{n: v for n, v in DECIDER_ARGUMENTS.items() if n not in ("prior", "bounds")},
    "scores": [*_TABLES, np.zeros(5)],
    "samples": [*_TABLES, [[1.0, 2.0]], [[1.0], []], [[1.0], ["a"]], [1.0, 2.0]],
    "x": [*_TABLES[:-5], [1.0, 2.0], np.zeros((2, 2)), ["a"] * 12],
    "y": [*_TABLES[:-5], [1.0, 2.0], np.zeros((2, 2)), ["a"] * 12],
    "p_values": [*_TABLES[:3], *_TABLES[4:], [0.5, 1.5], [0.5, -0.1], [0.5, NAN], [[0.5]]],
    "table": [*_TABLES, np.zeros(5)],
    "maximize": [*FLAG, None],
    "seed": SEEDS,
    "permutations": [v for v in whole(0)],
    "flips": whole(1),
    "control": [v for v in whole(0) if v is not None] + [3, 99],
    "n_blocks": [v for v in whole(1) if v is not None],
    "n_candidates": [*whole(2)],
    "alternative": one_of(),
    "zeros": one_of(),
    "ties": one_of(),
    "sigma_prior": one_of(),
    "sigma_scale": [v for v in POSITIVE if v is not None],
    "runs": one_of(),
    "local_rope": one_of(),
    "names": [3, ["a"], ["a"] * 4, ["a", "a", "b"], THING, True, 1.5],
    "prior": [0, -1, NAN, INF, "x", [1.0], THING, [1.0, 1.0, -1.0], None, {}],
    "tolerance": real(-1, INF),
    "by_block": [*FLAG, None],
    "generalize": [*FLAG, None],
    "exact": [3, [True], ["a", "b"], [1, 0], THING],
    "instances": [3, [1], [1.5] * 12, ["a"] * 12, THING, np.zeros((12, 2))],
    "level": FRACTION,
    "correlation": real(-0.1, 1, INF),
    "settings": [],
}


def _stats() -> Iterator[Target]:
    bases: dict[str, Any] = {
        "scores": SCORES,
        "x": SCORES[:, 0],
        "y": SCORES[:, 1],
        "samples": [SCORES[:, 0], SCORES[:, 1]],
        "p_values": [0.1, 0.2, 0.3],
        "table": SCORES,
        "n_candidates": 3,
        "n_blocks": 12,
    }
    own = {
        "friedman_test": {"scores": SCORES},
        "front_posterior": {"scores": np.random.default_rng(1).random((12, 3, 2))},
        "correlated_t_test": {"scores": SCORES, "correlation": 0.1},
        "nemenyi_critical_difference": {"n_candidates": 3, "n_blocks": 12},
        "plackett_luce_by_budget": {"scores": {1.0: SCORES, 2.0: SCORES}},
    }
    for name in sorted(stats.__all__):
        function = getattr(stats, name)
        if not inspect.isfunction(function):
            continue
        parameters = inspect.signature(function).parameters
        needed = {n: bases[n] for n, p in parameters.items() if p.default is p.empty and n in bases}
        wrong = {n: STATS_ARGUMENTS[n] for n in parameters}
        if name in ("best_posterior", "win_table"):  # nothing is known yet
            wrong["scores"] = [
                v for v in wrong["scores"] if not (isinstance(v, np.ndarray) and v.shape == (0, 3))
            ]
        if name == "win_table":
            wrong["threshold"] = real(-1, INF)
        if name == "front_posterior":
            wrong["maximize"] = [True, 3, [True], ["a", "b"], [1, 0], THING]
        if name == "nemenyi_critical_difference":
            wrong["n_blocks"] = whole(1)
        if name == "plackett_luce":
            wrong["names"] = wrong["names"]
        names = {
            "table": "table|scores|wins|algorithm",
            "x": r"\bx\b",
            "y": r"\by\b",
            "p_values": "p_values|p-values",
        }
        yield Target(f"stats.{name}", function, wrong, {**needed, **own.get(name, {})}, names)


def _simulations() -> Iterator[Target]:
    qualities = [3, "abc", [], (), (1.0,), (NAN,) * 3, ("a",) * 3, THING, (0.0, INF, 1.0)]
    arguments: dict[str, list[Any]] = {
        "q": whole(2),
        "d": whole(2),
        "rho": POSITIVE,
        "interaction": real(-1, INF),
        "loss": real(INF),
        "difficulty": real(-1, INF),
        "cutoff": real(0, -1),
        "tail": [v for v in real(0, -1, INF) if v is not None],
        "spread": real(-1, INF),
        "spreads": qualities,
        "qualities": qualities,
        "correlation": real(-1.5, 1.5, INF),
    }
    for name in sorted(simulate.__all__):
        kind = getattr(simulate, name)
        if not name.endswith("World") or name in ("World", "RecordedWorld"):
            continue
        parameters = inspect.signature(kind).parameters
        base = {n: v for n, v in {"q": 3, "d": 2, "rho": 0.5}.items() if n in parameters}
        wrong = {n: arguments[n] for n in parameters}
        yield Target(f"simulate.{name}", kind, wrong, base)
    recorded = {"table": _TABLES, "shuffle": FLAG}
    table = pd.DataFrame(SCORES)
    yield Target("simulate.RecordedWorld", simulate.RecordedWorld, recorded, {"table": table})
    play: dict[str, list[Any]] = {
        "decider": RULES["decider"],
        "world": [None, 3, "normal", THING, simulate.NormalWorld],
        "repetitions": whole(1),
        "n_jobs": HOW["n_jobs"],
        "seed": SEEDS,
        "blocks": [v for v in whole(1) if v is not None],
        "budget": [v for v in whole(1) if v is not None],
        "first_test": whole(1),
        "each_test": RULES["each_test"],
        "min_survivors": whole(1),
        "runtime": RULES["runtime"],
        "objective": [3, THING, "nonesuch", LIST],
        "select": [*one_of(), None],
        "epsilon": real(-0.1, INF),
    }
    base = {"decider": "f-race", "world": simulate.NormalWorld(3, 0.5), "repetitions": 2}
    base["blocks"] = 10
    yield Target("simulate.play", simulate.play, play, base)
    answers = {"n_items": whole(1), "seed": SEEDS}
    yield Target("simulate.answers", simulate.answers, answers)


def _compared() -> Iterator[Target]:
    frame = pd.DataFrame(SCORES, columns=["a", "b", "c"])
    wrong: dict[str, list[Any]] = {
        "scores": [*_TABLES, np.zeros(5), pd.DataFrame(), frame[["a"]], frame.astype(str) + "x"],
        "method": one_of(),
        "design": [*one_of(), None],
        "maximize": [*FLAG, None],
        "control": ["z", 3, THING, LIST, ARRAY],
        "rope": [v for v in real(-1, INF) if v is not None],
        "alpha": FRACTION,
        "posthoc": one_of(),
        "local_rope": one_of(),
        "data_set": ["z", 3, THING, LIST],
        "algorithm": ["z", 3, THING, LIST],
        "fold": ["z", 3, THING, LIST],
        "score": ["z", 3, THING, LIST],
        "seed": SEEDS,
    }
    names = {
        "scores": "scores|column|algorithm|data",
        "algorithm": "algorithm|long",
        "score": "score|long",
    }
    names |= {"data_set": "data_set|data set|long", "fold": "fold"}
    yield Target("compare", racer.compare, wrong, {"scores": frame}, names)
    paths = [*PATHS, None, "", "nowhere.csv", "/dev/null", "a\0b"]

    def read(path: Any) -> object:
        return racer.read_scores(path)

    yield Target(
        "read_scores", read, {"path": paths}, {}, {"path": "path|file|nowhere|''|null|score"}
    )
    bench: dict[str, list[Any]] = {
        "programs": [None, 3, {}, [], "ls", {"a": never}, {"a": 3, "b": 4}, [never, never], THING],
        "instances": [3, [], THING, True],
        "margin": real(-0.1, INF),
        "rounds": whole(1),
        "warmup": whole(0),
        "cpu": [*FLAG, None],
        "same_output": [3, "yes", THING, LIST, None],
        "alpha": FRACTION,
        "seed": SEEDS,
        "progress": [*FLAG, None],
    }
    base = {"programs": {"a": _program, "b": _program}, "rounds": 2, "instances": [1, 2]}
    yield Target("bench", racer.bench, bench, base, {"programs": "program|name"})


def _program(instance: Any) -> None:
    _evaluated()


# -- other frameworks --------------------------------------------------------------------------------


def _integrations() -> Iterator[Target]:
    with contextlib.suppress(ImportError):
        yield from _optuna()
    with contextlib.suppress(ImportError):
        yield from _sklearn()


def _optuna() -> Iterator[Target]:
    import optuna  # noqa: PLC0415

    from racer.integrations import optuna as ours  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    pruner: dict[str, list[Any]] = {
        "decider": RULES["decider"],
        "instances": [v for v in whole(1) if v is not None],
        "first_test": [v for v in whole(1) if v is not None],
        "epsilon": real(-0.1, 0.5, 1, INF),
        "confidence": FRACTION,
        "seed": SEEDS,
    }
    yield Target("RacingPruner", ours.RacingPruner, pruner)
    sampler: dict[str, list[Any]] = {
        "n_startup_trials": whole(0),
        "by_instance": [*FLAG, None],
        "constraints_func": [3, "f", THING, LIST],
        "seed": SEEDS,
    }
    yield Target("RacingSampler", ours.RacingSampler, sampler)
    study = optuna.create_study()
    floats = optuna.distributions.FloatDistribution
    names = {"study": "study"}
    evidence = {"study": [None, 3, THING, "study"], "confidence": FRACTION}
    yield Target(
        "best_trials_by_evidence", ours.best_trials_by_evidence, evidence, {"study": study}, names
    )

    def race(**given: Any) -> object:
        fresh = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
        return ours.race_study(given.pop("study", fresh), **given)

    wrong: dict[str, list[Any]] = {
        "study": [None, 3, THING, "study"],
        "evaluate": EVALUATE,
        "instances": [*INSTANCES, None],
        "suggest": [None, 3, "x", {}, {"x": 3}, THING, {"x": racer.Real(0, 1)}, lambda: 1],
        "budget": [*whole(1), 3],
        "trials": whole(1),
        "elites": [v for v in whole(0) if v is not None],
        "decider": RULES["decider"],
        "first_test": [v for v in whole(1) if v is not None],
        "metrics": RULES["metrics"],
        "objective": RULES["objective"],
        **{name: HOW[name] for name in ("n_jobs", "timeout", "memory", "retries", "progress")},
        "seed": SEEDS,
    }
    base = {"evaluate": never, "instances": [*range(8)], "suggest": {"x": floats(0, 1)}}
    base |= {"budget": 60, "seed": 1}
    yield Target("race_study", race, wrong, base)


def _model() -> None:
    """Stand for a model, where a checksum of one is taken."""


def _sklearn() -> Iterator[Target]:
    from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: PLC0415

    from racer.integrations import sklearn as ours  # noqa: PLC0415

    class Never(ClassifierMixin, BaseEstimator):
        """A model that may not be fitted."""

        def __reduce__(self) -> Any:
            return _model, ()

        def __init__(self, depth: int = 1) -> None:
            self.depth = depth

        def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
            _evaluated()

        def predict(self, X: Any) -> Any:  # noqa: N803
            _evaluated()

    data = np.arange(40.0).reshape(20, 2)
    target = np.arange(20) % 2
    common: dict[str, list[Any]] = {
        "decider": RULES["decider"],
        "correlation": ["nonesuch", -0.1, 1, NAN, THING, ARRAY, True, LIST],
        "confidence": FRACTION,
        "rope": real(-0.1, INF),
        "first_test": whole(1),
        "elites": [v for v in whole(1) if v is not None],
        "budget": [v for v in whole(1) if v is not None] + [1],
        "n_candidates": [v for v in whole(1) if v is not None],
        "store": [*PATHS, "", "a\0b", "nowhere/run.db", "/"],
        "random_state": ["x", THING, LIST, -1],
        "cv": [1, "x", THING, 1.5],
        "scoring": ["nonesuch", 3, THING],
        "space": [None, 3, {}, "x", THING, {"nope": racer.Integer(1, 3)}],
        "param_grid": [3, "x", {"depth": 3}, {"depth": []}, {"nope": [1, 2]}, THING],
        "error_score": ["x", THING, None],
        "n_jobs": [0, 1.5, "2", THING, LIST],
    }
    for name, given in (
        ("RacingSearchCV", {"param_grid": {"depth": [1, 2, 3]}}),
        ("TunedSearchCV", {"space": racer.Space({"depth": racer.Integer(1, 9)}), "budget": 60}),
    ):
        kind = getattr(ours, name)
        parameters = inspect.signature(kind).parameters

        def fit(kind: Any = kind, **settings: Any) -> object:
            with contextlib.redirect_stderr(io.StringIO()):
                try:
                    return kind(Never(), **{"random_state": 1, **settings}).fit(data, target)
                except (ValueError, TypeError) as error:  # as scikit-learn raises
                    raise racer.SettingError(str(error)) from None

        wrong = {n: v for n, v in common.items() if n in parameters}
        names = {"cv": "cv|split|cross-valid|fold", "param_grid": "grid|depth|nope|param"}
        names |= {"space": "space|param|nope", "random_state": "seed|random_state"}
        names |= {"scoring": "scor", "n_candidates": "n_candidates|grid"}
        yield Target(name, fit, wrong, given, names)


# -- the command line --------------------------------------------------------------------------------

WRONG_TEXT = {
    "integer": ["x", "1.5", "nan", "", "-5", "1e9"],
    "integer range": ["x", "1.5", "nan", "", "-5"],
    "float": ["x", "nan", "inf", "-1", ""],
    "float range": ["x", "nan", "-1", ""],
    "choice": ["nonesuch", ""],
    "boolean": ["perhaps", "3"],
}


def _cli(folder: Path) -> Iterator[Call]:
    """Yield calls of every command, with wrong values of every option, in a folder of their own."""
    from racer.cli.commands import _COMMANDS, main as program  # noqa: PLC0415

    touched = folder / "evaluated"
    runner = folder / "run.sh"
    runner.write_text(f"#!/bin/sh\ntouch {touched}\necho $1\n")
    runner.chmod(0o755)
    (folder / "space.txt").write_text('x "--x " r (0, 1)\nn "--n " i (1, 9)\n')
    (folder / "list.txt").write_text("one\ntwo\nthree\n")
    (folder / "scores.csv").write_text("data,a,b,c\n" + "".join(
        f"d{i},{row[0]},{row[1]},{row[2]}\n" for i, row in enumerate(SCORES)))  # fmt: skip
    (folder / "candidates.json").write_text('[{"x": 1}, {"x": 2}]')
    (folder / "binary.bin").write_bytes(bytes(range(256)) * 8)
    (folder / "empty").write_bytes(b"")
    scenario = {"space": "space.txt", "command": ["./run.sh", "{x}", "{instance}"], "budget": 40}
    scenario |= {"instances": "list.txt", "store": ""}
    _write_toml(folder / "scenario.toml", scenario)
    _in_process(program, ["tune", "scenario.toml", "--store", "program.db"], touched)
    files = ["binary.bin", "empty", ".", "nowhere", "list.txt", "candidates.json"]
    works = {
        "tune": ["scenario.toml"],
        "check-scenario": ["scenario.toml"],
        "race": ["candidates.json", "--instances", "list.txt", "--budget", "40"],
        "compare": ["scores.csv"],
        "resume": ["program.db", "--yes", "--budget", "60"],
        "ablation": ["program.db", "--yes", "--source", '{"x": 0.0, "n": 1}'],
        **{name: ["run.db"] for name in ("show", "watch", "report", "check")},
        "export": ["run.db", "--json"],
        "bench": ["./run.sh", "./run.sh", "--rounds", "1"],
        "demo": ["--candidates", "3", "--budget", "30"],
        "init": ["fresh"],
        "import-irace": ["scenario.txt"],
    }
    ends = {"race": ["--", "./run.sh", "{parameters}", "{instance}"]}

    def call(argument: str, value: str, *words: str, names: str) -> Call:
        def run() -> object:
            touched.unlink(missing_ok=True)
            with contextlib.chdir(folder):
                return _in_process(program, [*words], touched)

        return Call(f"racer {words[0]}", argument, value, run, names)

    for name in sorted(_COMMANDS):
        command = program.get_command(click.Context(program), name)
        assert command is not None
        good, end = works[name], ends.get(name, [])
        for wrong, says in (("--nonesuch", "nonesuch"), ("--", "")):
            if wrong != "--":
                yield call("flag", wrong, name, wrong, *good, *end, names=says)
        arguments = [p for p in command.params if isinstance(p, click.Argument)]
        if arguments and name not in {"bench", "init"}:
            rest = good[1:]
            for file in files:
                if file not in _FITTING.get(name, ()):
                    shown = "directory|folder" if file == "." else re.escape(file)
                    shown += "|parameters.txt" if file == "empty" else ""
                    yield call(arguments[0].name or "", file, name, file, *rest, *end, names=shown)
        for option in command.params:
            if not isinstance(option, click.Option) or option.is_flag or option.name == "help":
                continue
            flag = max(option.opts, key=len)
            pattern = f"{re.escape(flag)}|{re.escape(flag[2:])}|{option.name}"
            for value in WRONG_TEXT.get(option.type.name, []):
                if (option.name, value) in _FINE or (value == "-5" and flag == "--jobs"):
                    continue
                yield call(flag, value, name, *good, flag, value, *end, names=pattern)
            if option.type.name == "path" and option.name not in _OUTPUTS:
                for value in ("nowhere", "binary.bin") if option.name != "cwd" else ("nowhere",):
                    names = f"{pattern}|{value}"
                    yield call(flag, value, name, *good, flag, value, *end, names=names)
    yield from _scenarios(folder, scenario, call)


_FITTING = {"race": ("candidates.json", "list.txt"), "import-irace": ("empty",)}
_FINE = {("decider", ""), ("seed", "1e9")}
_OUTPUTS = {"store", "output", "plot", "csv", "configurations", "into", "instances_folder"}
_OUTPUTS |= {"test_instances_folder", "optuna", "instances", "test_instances", "initial"}


def _scenarios(folder: Path, works: Mapping[str, Any], call: Callable[..., Call]) -> Iterator[Call]:
    """Yield scenario files with a wrong value of each key."""
    from racer.scenario.settings import SETTINGS  # noqa: PLC0415

    by_kind: dict[str, list[Any]] = {
        "path": [3, True, ["a"], {"a": 1}, "a\0b"],
        "paths": [3, True, {"a": 1}, [3], "a\0b"],
        "instances": [3, True, {"a": 1}, "a\0b", []],
        "command": ["x", [], [3], True, {"a": 1}, [""], ["./run.sh", "a\0b"]],
        "codes": [3, [], [-1], [256], ["0"], [1.5], True],
        "text": [3, True, ["a"], {"a": 1}, "nonesuch", ""],
        "whole": ["3", 1.5, True, [3], {"a": 1}, -7, 10**30, NAN],
        "distance": ["grow", 0, 1.5, True, [3], -1],
        "number": ["3", True, [3], -1, 0, NAN, INF, {"a": 1}],
        "flag": [1, "true", [True], {"a": 1}, 0.5],
        "runtime": [
            "5",
            True,
            0,
            -1,
            NAN,
            INF,
            [5],
            {"slack": 2},
            {"limit": 5, "x": 1},
            {"limit": "5"},
        ]
        + [{"limit": 5, "slack": 0.1}, {"limit": 5, "par": "x"}, {"limit": 5, "utility": 3}],
        "table": [3, "a", [], {}, {"a": 3}, {"a": "up"}, {"a": {"direction": 3}}, {"a": {"x": 1}}],
        "objective": [3, [], {}, "nonesuch", {"pareto": 3}, {"x": 1}, True],
    }
    for number, (key, setting) in enumerate(SETTINGS.items()):
        for place, value in enumerate(by_kind[setting.kind]):
            path = folder / f"s{number}_{place}.toml"
            given = {k: v for k, v in works.items() if not (key == "evaluate" and k == "command")}
            _write_toml(path, {**given, key: value})
            names = f"{key}|{key.replace('_', ' ')}"
            if key in ("objective", "metrics"):
                names += "|metric|objective|reads"
            yield call(f"scenario {key}", str(value)[:30], "tune", path.name, names=names)
    for number, text in enumerate(
        (
            "budget = ",
            "[[[",
            "\0",
            "budgt = 3\n",
            'space = "space.txt"\nspace = "x"\n',
            "x" * 99,
            "é=1",
        )
    ):
        (folder / f"t{number}.toml").write_text(text, encoding="latin-1")
        yield call("scenario", text[:20], "tune", f"t{number}.toml", names=f"t{number}.toml")


def _write_toml(path: Path, values: Mapping[str, Any]) -> None:
    def shown(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k} = {shown(v)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(shown, value)) + "]"
        if isinstance(value, float) and not np.isfinite(value):
            return str(value)
        return json.dumps(value)

    path.write_text("".join(f"{key} = {shown(value)}\n" for key, value in values.items()))


def _in_process(program: Any, words: list[str], touched: Path) -> object:
    """Run a command; raise a ClickException with what it wrote, if it was refused."""
    err, out = io.StringIO(), io.StringIO()
    code: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            program.main(words, prog_name="racer")
        except SystemExit as end:
            code = end.code
    if touched.exists():
        EVALUATIONS.append("one")
    if code in (1, 2):
        raise click.ClickException(err.getvalue() + out.getvalue())
    return f"exit code {code}: {out.getvalue()[-100:]}"


# -- all -----------------------------------------------------------------------------------------------


def calls(folder: Path, only: str = "") -> Iterator[Call]:
    """Yield all wrong calls; files that they need are made in `folder`."""
    with contextlib.chdir(folder):
        groups = [
            *(_races(), _told(), _stores(folder), _values(), _spaces(), _deciders(), _stats()),
            *(_simulations(), _compared(), _integrations()),
        ]
        for group in groups:
            for target in group:
                if re.search(only, target.name):
                    yield from _calls_of(target)
        if re.search(only, "racer"):
            (folder / "scenario.txt").write_text("nonsense = {")
            yield from (c for c in _cli(folder) if re.search(only, c.target))


@click.command()
@click.option("--only", default="", help="A pattern of targets.")
@click.option("--show", is_flag=True, help="List what is not refused, or does not name it.")
def main(*, only: str, show: bool) -> None:
    """Make wrong calls, and count how they end."""
    tally: dict[str, Counter[str]] = {}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for call in calls(Path(folder), only):
            how, said = judged(call)
            tally.setdefault(call.target, Counter())[how] += 1
            if how != "refused":
                wrong.append((how, call, said))
    kinds = ("refused", "unnamed", "raw", "evaluated", "accepted")
    print_row("call", *kinds, head=True)
    for target, counts in [*tally.items(), ("**all**", sum(tally.values(), Counter()))]:
        print_row(target, *(counts[kind] for kind in kinds))
    if show:
        for how, call, said in wrong:
            print(
                f"{how}: {call.target}({call.argument}={call.value}): {said[:200]}", file=sys.stderr
            )
    os.sys.exit(bool(wrong))  # type: ignore[attr-defined]
