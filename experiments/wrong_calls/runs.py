"""Wrong arguments of races, tunings, and calls about recorded runs."""

# ruff: noqa: ARG001, ARG005  (functions of which it counts whether they are called)

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import racer
from experiments.wrong_calls.kinds import (
    EVALUATE,
    FLAG,
    HOW,
    INF,
    INSTANCES,
    LIST,
    NAN,
    PATHS,
    RULES,
    THING,
    Target,
    never,
    one_of,
    real,
    whole,
)
from racer import deciders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CANDIDATES: list[Any] = [None, 3, [], (), {}, "", THING, True, NAN, [1, 1], {1, 2}]


def race_targets() -> Iterator[Target]:
    """Yield races and tunings, run or asked."""
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


def told_targets() -> Iterator[Target]:
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
        *(racer.Outcome("ok", "1"), racer.Outcome("ok", value=True), racer.Outcome("ok", INF)),  # type: ignore[arg-type]
        *(racer.Outcome("ok", 1.0, seconds=-1.0), racer.Outcome("ok", 1.0, seconds=NAN)),
        *(racer.Outcome("failed", 1.0), racer.Outcome("failed", None, attempts=0)),
        *(racer.Outcome("ok", 1.0, attempts=0), racer.Outcome("ok", 1.0, spend=-1.0)),
        *(racer.Outcome("ok", 1.0, spend=NAN), racer.Outcome("failed", None, message=3)),  # type: ignore[arg-type]
    ]
    cell = [3, "cell", THING, racer.Cell(0, 7, 7, None, 1), racer.Cell(9, 0, 1, None, 1), (0, 0)]
    names = {"outcome": "outcome|told|status|value|seconds|spend|metrics|message|attempts"}
    target = {"outcome": racer.Outcome("ok", 1.0)}
    yield Target("Race.tell", tell, {"cell": cell, "outcome": outcomes}, target, names)
    told: list[Any] = [
        None,
        3.0,
        [1.0],
        [1.0, NAN, 2.0],
        ["a", "b", "c"],
        THING,
        [[1.0, 2.0, 3.0]],
        {},
        1j,
    ]
    told += [[True, None, 1.0], [racer.Outcome("ok", 1.0)], [racer.Outcome("ok", 1.0), 1.0, 2.0]]
    names = {"told": "values|outcome"}
    wrong = {"told": told, "seconds": [v for v in real(-1.0, INF) if v is not None]}
    yield Target("Race.tell_block", tell_block, wrong, {}, names)


def store_targets(folder: Path) -> Iterator[Target]:
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
    recorded: Any = racer.load(run)

    def report(path: Any) -> None:
        try:
            recorded.report(path)
        except OSError as error:  # as is documented
            raise racer.SettingError(str(error)) from None

    yield Target("report", report, {"path": outputs}, {}, names)
