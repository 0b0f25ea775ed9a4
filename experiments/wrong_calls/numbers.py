"""Wrong arguments of deciders, statistics, simulations, comparisons and benchmarks."""

# ruff: noqa: ARG001  (functions of which it counts whether they are called)

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import racer
from experiments.wrong_calls.kinds import (
    ARRAY,
    FLAG,
    FRACTION,
    HOW,
    HUGE,
    INF,
    LIST,
    NAN,
    PATHS,
    POSITIVE,
    RULES,
    SCORES,
    SEEDS,
    THING,
    Target,
    evaluated,
    never,
    one_of,
    real,
    whole,
)
from racer import deciders, simulate, stats

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def decider_targets() -> Iterator[Target]:
    """Yield the constructors of all deciders."""
    for name in sorted(deciders.__all__):
        kind = getattr(deciders, name)
        if not inspect.isclass(kind) or name not in _DECIDERS:
            continue
        arguments = inspect.signature(kind).parameters
        yield Target(name, kind, {a: DECIDER_ARGUMENTS[a] for a in arguments})
    names = {"decider": "decider|f-rase|''"}
    wrong = {"decider": [*RULES["decider"], None]}
    yield Target("as_decider", deciders.as_decider, wrong, {}, names)


_DECIDERS = {
    *("AnytimeRace", "BayesianBest", "BayesianFriedman", "BayesianFront", "BestForBudget"),
    *("BradleyTerryRace", "ConstrainedRace", "CorrelatedTRace", "FRace", "FrontRace", "MeanRace"),
    *("SequentialHalving", "SignedRankRace", "TRace", "WithinRace"),
}
_TABLES: list[Any] = [
    *(None, 3, "abc", [], [[]], [["a", "b"]], [[1, 2], [3]], {}, {1, 2}, THING, NAN, True),
    *(np.zeros((2, 2, 2, 2)), np.zeros((0, 3)), [[1j, 2.0]], [[THING, 1.0]], np.zeros(())),
    *([[HUGE, 1.0], [1.0, 2.0]], [[b"a", b"b"]], np.array([["2020-01-01"]], "M8[D]")),
]
STATS_ARGUMENTS: dict[str, list[Any]] = {
    **{n: v for n, v in DECIDER_ARGUMENTS.items() if n not in ("prior", "bounds")},
    "scores": [*_TABLES, np.zeros(5)],
    "among": [3, "x", [], [9], [-1], [0.5], ["a"], THING],
    "covariances": [*_TABLES[1:3], np.zeros(5), np.eye(2), np.zeros((1, 2, 2))],
    "samples": [*_TABLES, [[1.0, 2.0]], [[1.0], []], [[1.0], ["a"]], [1.0, 2.0]],
    "x": [*_TABLES[:-5], [1.0, 2.0], np.zeros((2, 2)), ["a"] * 12],
    "y": [*_TABLES[:-5], [1.0, 2.0], np.zeros((2, 2)), ["a"] * 12],
    "p_values": [*_TABLES[:3], *_TABLES[4:], [0.5, 1.5], [0.5, -0.1], [0.5, NAN], [[0.5]]],
    "table": [*_TABLES, np.zeros(5)],
    "maximize": [*FLAG, None],
    "seed": SEEDS,
    "permutations": whole(0),
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
    "ratios": [*FLAG, None],
    "penalty": [v for v in real(INF) if v is not None],
    "generalize": [*FLAG, None],
    "exact": [3, [True], ["a", "b"], [1, 0], THING],
    "instances": [3, [1], [1.5] * 12, ["a"] * 12, THING, np.zeros((12, 2))],
    "level": FRACTION,
    "correlation": real(-0.1, 1, INF),
    "settings": [],
}


def statistics_targets() -> Iterator[Target]:
    """Yield the functions of statistics."""
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
    own: dict[str, Any] = {
        "friedman_test": {"scores": SCORES},
        "front_posterior": {"scores": np.random.default_rng(1).random((12, 3, 2))},
        "correlated_t_test": {"scores": SCORES, "correlation": 0.1},
        "hierarchical_t_test": {"x": SCORES, "y": SCORES, "correlation": 0.1},
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


def simulation_targets() -> Iterator[Target]:
    """Yield worlds and `play`."""
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
        base: dict[str, Any] = {
            n: v for n, v in {"q": 3, "d": 2, "rho": 0.5}.items() if n in parameters
        }
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
    base = {
        "decider": "f-race",
        "world": simulate.NormalWorld(3, 0.5),
        "repetitions": 2,
    }
    base["blocks"] = 10
    yield Target("simulate.play", simulate.play, play, base)
    answers = {"n_items": whole(1), "seed": SEEDS}
    yield Target("simulate.answers", simulate.answers, answers)


def comparison_targets() -> Iterator[Target]:
    """Yield `compare`, `read_scores` and `bench`."""
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
        "correlation": [v for v in real(-0.1, 1, INF) if v is not None],
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
    evaluated()
