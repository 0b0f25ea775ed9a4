"""Wrong arguments of budgets, objectives, programs, parameters and spaces."""

# ruff: noqa: ARG005  (functions of which it counts whether they are called)

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import racer
from experiments.wrong_calls.kinds import (
    ARRAY,
    FLAG,
    INF,
    LIST,
    NAN,
    PATHS,
    POSITIVE,
    SEEDS,
    THING,
    Target,
    never,
    never_async,
    one_of,
    real,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def value_targets() -> Iterator[Target]:
    """Yield budgets, metrics, objectives, run times, commands."""
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


def space_targets() -> Iterator[Target]:
    """Yield parameters, spaces and their methods."""

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
        "parameters": [
            None,
            3,
            {},
            [],
            "x",
            {"x": (0, 1)},
            {3: racer.Real(0, 1)},
            THING,
            {"": racer.Real(0, 1)},
            {"x": racer.Real},
            [racer.Real(0, 1)],
        ],
        "conditions": [
            3,
            [x > 0.5],
            {"y": 3},
            {"z": x > 0.5},
            {"y": racer.Param("z") > 1},
            THING,
            {"x": x > 0.5},
            {"y": True},
            {"y": "x > 1"},
            {"y": {}},
            {"y": {"!": 1}},
        ],
        "forbidden": [
            3,
            x > 0.5,
            [3],
            [racer.Param("z") > 1],
            [True],
            "x > 1",
            ["x > 1"],
            THING,
            {},
            [{}],
            [(x >= 0.0) | (x <= 1.0)],
        ],
        "switches": [3, "x", {"z": "-z"}, {"x": 3}, [1], THING, {3: "-x"}],
        "default": [3, {}, {"x": 2.0, "y": 1}, {"x": 0.5}, {"x": 0.5, "y": 1, "z": 1}, THING, "x"],
        "repair": [3, "f", THING, LIST, {}],
    }
    base: dict[str, Any] = {"parameters": {"x": racer.Real(0, 1), "y": racer.Integer(1, 5)}}
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
    data: list[Any] = [
        None,
        3,
        [],
        {},
        "{}",
        {"parameters": 3},
        {"parameters": [{}]},
        THING,
        {"x": 1},
    ]
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
    yield Target("Space.from_sklearn", racer.Space.from_sklearn, {
        "param_distributions": [None, 3, [], {}, {"x": 3}, "x", THING, {3: [4]}, {"x": []}, {"x": "ab"}]
    }, {}, {"param_distributions": "distribution|param|x"})  # fmt: skip
