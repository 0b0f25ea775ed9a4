"""What an argument cannot mean, by its name, whatever takes it."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

import racer
from racer import Param, Real, deciders, simulate

HUGE = 10**400  # no float holds it
NAN, INF = float("nan"), float("inf")
ARRAY, LIST = np.array([1.0, 2.0]), [1]
X = Param("x")


class Thing:
    """An object that nothing takes."""

    def __repr__(self) -> str:
        return "Thing()"


class Evaluated(BaseException):
    """An objective was called."""


THING = Thing()
EVALUATIONS: list[str] = []


def never(config: Any, instance: Any, seed: Any) -> NoReturn:  # noqa: ARG001
    """Note that something was evaluated, and stop it."""
    EVALUATIONS.append("one")
    raise Evaluated


def whole(least: int, *more: Any) -> list[Any]:
    """Return wrong values of an argument that takes whole numbers from `least` on."""
    return [least - 1, -(10**9), 1.5, NAN, INF, "3", True, LIST, THING, ARRAY, None, *more]


def real(*outside: float) -> list[Any]:
    """Return wrong values of an argument that takes numbers, with those `outside` its range."""
    return [*outside, NAN, HUGE, "0.5", True, LIST, {}, THING, ARRAY, None, 1j]


NAMES = ["nonesuch", "", 3, True, LIST, THING, ARRAY, NAN]
FLAG = [1, 0, "yes", "False", LIST, THING, ARRAY, 0.5, NAN]
PATHS = [3, True, LIST, THING, ARRAY, NAN, {}]
INSTANCES = [3, [], THING, True, NAN, ""]
CHOICES = [3, None, [], "abc", ["a", "a"], [1, 1.0], THING, True, {}, {"a": 1}, [NAN]]
COLUMN = ["z", 3, THING, LIST, ARRAY]
ENDS = [99, -1, "worst", {"x": 2}, {"y": 1}, 1.5, THING, None, {}, True]
LIMITS = [3, "<= 1", ("<", 1), ("<=",), ("<=", "x"), ("<=", NAN), (1, "<="), None, THING]
QUALITIES = [3, "abc", [], (), (1.0,), (NAN,) * 3, ("a",) * 3, THING, (0.0, INF, 1.0)]
TABLES: list[Any] = [
    *(None, 3, "abc", [], [[]], [["a", "b"]], [[1, 2], [3]], {}, {1, 2}, THING, NAN, True),
    *(np.zeros((2, 2, 2, 2)), [[1j, 2.0]], [[THING, 1.0]], np.zeros(()), np.zeros(5)),
    *([[HUGE, 1.0], [1.0, 2.0]], [[b"a", b"b"]], np.array([["2020-01-01"]], "M8[D]")),
]
VECTORS = [*TABLES[:13], [1.0, 2.0], np.zeros((2, 2)), ["a"] * 12]

_ARGUMENTS: dict[str, list[Any]] = {
    # numbers
    "first_test elites n_blocks rounds evaluations repetitions n_items trials flips": whole(1),
    "retries warmup digits n permutations n_startup_trials": whole(0),
    "blocks n_candidates q": whole(2),
    "block_size": whole(1),
    "budget": whole(1, 5, racer.Budget, "60", [], {"evaluations": 60}),
    "each_test": whole(1, "grow"),
    "min_survivors": whole(1, 3, 4),
    "draws": whole(100),
    "seed": [value for value in whole(0) if value is not None],
    "deadline timeout seconds spend sigma sigma_scale rho tail": real(0, -1, -0.5, INF),
    "alpha confidence threshold level": real(0, 1, -0.1, 1.5, INF),
    "strength pair_strength ignorance tolerance interaction difficulty spread": real(-1, INF),
    "margin rope": real(-0.1, INF),
    "epsilon": real(-0.1, 0.5, 1, INF),
    "correlation": real(-0.1, 1, INF),
    "limit calls_per_minute": real(0, -1, INF),
    "penalty loss": real(INF),
    "cutoff": real(0, -1),
    "low": [*real(10, INF), "x"],
    "high": [*real(0, INF), "x"],
    "step": real(0, -1, 100, INF),
    "slack": real(0.5, -1),
    "par": [value for value in real(0.5, INF) if value is not None],
    "memory": [0, -1, 1.5, 10, "1 GB", True, LIST, THING, ARRAY, NAN, INF],
    "n_jobs": [0, 1.5, "2", True, LIST, THING, ARRAY, None, NAN, 10**30],
    "ahead": [-1, 1.5, "some", True, LIST, THING, ARRAY, None, NAN],
    # names and flags
    "deterministic generalize log exact familywise population independent shuffle": FLAG,
    "maximize progress cpu by_instance": [*FLAG, None],
    "direction reads protocol cost by form equalities posthoc correction last_two": NAMES,
    "alternative zeros ties sigma_prior runs local_rope method design select measure": NAMES,
    "instance_order": [*NAMES, None],
    "gate": ["nonesuch", "", 3, LIST, THING, ARRAY, 1, 0, None],
    "name": [3, None, "", THING, True, LIST],
    "metric": [3, None, "", "b", THING],
    "names": [3, ["a"], ["a"] * 4, ["a", "a", "b"], THING, True, 1.5],
    # races and tunings
    "candidates": [None, 3, [], (), {}, "", THING, True, NAN, [1, 1], {1, 2}],
    "space": [None, 3, {}, {"x": Real(0, 1)}, "x", THING, racer.Space],
    "evaluate": [None, 3, "never", THING, lambda: 1, lambda config: config, dict, ARRAY, [never]],
    "instances test_instances": INSTANCES,
    "groups": [3, [1], [1] * 9, "12345678", {}, THING, [[1]] * 8, True],
    "initial": [3, [3], [{"x": 2}], [{"y": 1}], [{}], THING, [THING], True],
    "decider": ["f-rase", "", 3, True, deciders.FRace, [deciders.FRace()], THING, ARRAY],
    "runtime": [0, -1, "5", True, LIST, THING, ARRAY, racer.Runtime, {"limit": 5}],
    "metrics": [3, "score", ["score"], {}, {"score": "up"}, {3: "min"}, {"": "min"}, THING, ARRAY],
    "objective": [3, THING, "score", racer.Pareto("a", "b"), LIST, racer.Pareto, ARRAY],
    "prices": [3, "1", [], [1.0], THING, {}],
    "executor": [3, "dask", True, LIST, THING, ARRAY],
    "store": [*PATHS, "", "a\0b", "nowhere/run.db", "/"],
    "callbacks": [3, "print", [3], [None], THING, None, print],
    "of": [*PATHS, None, "", "a\0b", "nowhere.db"],
    "source target": ENDS,
    "programs": [None, 3, {}, [], "ls", {"a": never}, {"a": 3, "b": 4}, [never, never], THING],
    "same_output": [3, "yes", THING, LIST, None],
    # spaces, and what describes a cost
    "choices levels": CHOICES,
    "parameters": [None, 3, {}, [], "x", {"x": (0, 1)}, {3: Real(0, 1)}, THING, {"x": Real}],
    "conditions": [3, [X > 0.5], {"y": 3}, {"z": X > 0.5}, THING, {"x": X > 0.5}, {"y": "x > 1"}],
    "forbidden": [3, X > 0.5, [3], [Param("z") > 1], [True], "x > 1", THING, [{}]],
    "switches": [3, "x", {"z": "-z"}, {"x": 3}, [1], THING, {3: "-x"}],
    "default": [3, {}, {"x": 2.0, "y": 1}, {"x": 0.5}, {"x": 0.5, "y": 1, "z": 1}, THING, "x"],
    "repair constraints_func": [3, "f", THING, LIST],
    "known": [3, THING, [3], [{"z": 1}]],
    "exclude": [3, THING],
    "config": [3, None, {}, {"x": 0.5}, {"x": 2, "y": 1}, {"x": "a", "y": 1}, THING, [0.5, 1]],
    "vector": [3, None, [], [0.5], [0.5, 0.5, 0.5], [2, 0.5], [NAN, 0.5], "ab", THING],
    "data": [None, 3, [], {}, "{}", {"parameters": 3}, {"parameters": [{}]}, THING, {"x": 1}],
    "text": [3, None, "", "x", "x '' r", "x '' r (1, oops)", "x '' q (1, 2)", THING, b"x"],
    "path": [*PATHS, None, "", "nowhere.txt", "/", "a\0b", "/dev/null", "/dev/zero"],
    "param_distributions": [
        None,
        3,
        [],
        {},
        {"x": 3},
        "x",
        THING,
        {3: [4]},
        {"x": []},
        {"x": "ab"},
    ],
    "bounds": [3, (1,), (1, 0), (0, 0), (0, NAN), (0, INF), ("0", "1"), THING, "01", ARRAY],
    "utility": ["sqrt", 3, THING, LIST, lambda: 1, lambda t: t, lambda t: "x" * t, True, ARRAY],
    "argv": ["", [], 3, None, [3], ["./x", None], "'", THING, "a\0b", ["a\0"], {}],
    "cwd": [3, True, LIST, THING, "nowhere", ARRAY, "a\0b"],
    "success_codes": [3, "0", [], [-1], [256], [1.5], ["0"], [True], None, THING, [None]],
    # comparisons, statistics and worlds
    "algorithm data_set fold score control": COLUMN,
    "scores table": TABLES,
    "samples": [*TABLES, [[1.0, 2.0]], [[1.0], []], [[1.0], ["a"]], [1.0, 2.0]],
    "x y": VECTORS,
    "p_values": [*TABLES[:3], *TABLES[4:16], [0.5, 1.5], [0.5, -0.1], [0.5, NAN], [[0.5]]],
    "among": [3, "x", [], [9], [-1], [0.5], ["a"], THING],
    "covariances": [3, "abc", np.zeros(5), np.eye(2), np.zeros((1, 2, 2))],
    "prior": [0, -1, NAN, INF, "x", [1.0], THING, [1.0, 1.0, -1.0], None, {}],
    "spreads qualities": QUALITIES,
    "world": [None, 3, "normal", THING, simulate.NormalWorld],
    # searches and studies
    "study": [None, 3, THING, "study"],
    "suggest": [None, 3, "x", {}, {"x": 3}, THING, {"x": Real(0, 1)}, lambda: 1],
    "param_grid": [3, "x", {"depth": 3}, {"depth": []}, {"nope": [1, 2]}, THING],
    "random_state": ["x", THING, LIST, -1],
    "cv": [1, "x", THING, 1.5],
    "scoring": ["nonesuch", 3, THING],
    "error_score": ["x", THING, None],
}
ARGUMENTS = {name: values for names, values in _ARGUMENTS.items() for name in names.split()}
_CALLED = {  # what a message may call an argument instead
    "candidates": "candidate",
    "instances test_instances": "instance",
    "n_jobs": "jobs",
    "initial": "result|store",
    "of": "tun|store|path|file",
    "callbacks": "callback",
    "scores": "algorithm|column|data",
    "samples table": "scores|wins|algorithm|samples|x|y",
    "x y": "samples",
    "p_values": "p-values",
    "store path": "file|path|nowhere|director|folder|''|/|null|score",
    "low high log step digits choices levels": r"\bp\b",
    "algorithm data_set score": "data set|long",
    "parameters data text": r"param|Space|forbid|JSON|line|\bx\b",
    "conditions forbidden switches": "condition|forbid|switch|x|y",
    "config param_distributions param_grid": "x|y|param|grid|distrib|depth",
    "evaluate metric direction name": "objective|Metric|Within|Param",
    "spend": "money",
    "programs": "program|name",
    "argv": "command|program|argument|placeholder",
    "space": "param|nope",
    "random_state": "seed",
    "cv": "split|cross-valid|fold",
    "scoring": "scor",
    "block_size": "each_test",
    "limit": r"\bb=",
    "told": "values|outcome",
    "outcome": "told|status|value|seconds|spend|metrics|message|attempts",
}
CALLED = {name: pattern for names, pattern in _CALLED.items() for name in names.split()}
