"""One side of `bench.py engine --against`: times what it is asked for, line by line.

Runs as a file of its own with the racer of any checkout, so that it uses nothing but `racer.race`
and `racer.tune` as they were from the beginning. A request is a line of JSON, a `Cell` of
`experiments.bench.against`; the answer is one too.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import racer

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

CONFIGS, INSTANCES = {m: list(range(m)) for m in (10, 100)}, list(range(20))


def evaluate(config: int, instance: int, seed: int) -> float:
    """Return something that looks like noise, for next to nothing."""
    return ((seed + 7919 * instance) * 2654435761 + config * 40503 * seed) % 1000003 / 1000003


def evaluate_point(config: dict[str, float], instance: int, seed: int) -> float:
    """Return noise around a bowl."""
    return sum(x * x for x in config.values()) + 0.1 * evaluate(1, instance, seed)


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a call and the CPU seconds that it took."""
    began = time.process_time()
    result = call()
    return result, time.process_time() - began


def races(decider: str, m: int, evaluations: int, store: Path | None) -> tuple[float, int, int]:
    """Race candidates that are all alike, again and again; return seconds, evaluations, blocks.

    "one test" is a race in which all stay until the end, so that no decider is in its time.
    """
    late = racer.deciders.FRace(first_test=evaluations // m)
    rule = late if decider == "one test" else decider
    seconds, done, blocks = 0.0, 0, 0
    for seed in range(evaluations):
        left = evaluations - done
        if left < 5 * m:
            break
        if store is not None:
            store.unlink(missing_ok=True)
        race = partial(racer.race, CONFIGS[m], evaluate, INSTANCES, decider=rule, budget=left)
        result, taken = timed(partial(race, seed=seed, store=store))
        seconds += taken
        done += result.evaluations
        blocks += len(result.blocks)
    return seconds, done, blocks


def tuning(evaluations: int, store: Path | None) -> tuple[float, int]:
    """Tune three numbers; return CPU seconds and evaluations."""
    space = racer.Space({f"x{i}": racer.Real(-5.0, 5.0) for i in range(3)})
    tune = partial(racer.tune, space, evaluate_point, INSTANCES, budget=evaluations, seed=1)
    result, seconds = timed(partial(tune, store=store))
    return seconds, result.evaluations


def objective_alone(m: int, evaluations: int) -> None:
    """Make the calls that any engine has to make."""
    for index in range(evaluations):
        evaluate(index % m, index % 20, index)


def answer(
    decider: str, candidates: int, evaluations: int, store: Path | None
) -> dict[str, float | None]:
    """Return CPU microseconds per evaluation beyond the objective, and candidates per block."""
    if decider == "tuning":
        seconds, done = tuning(evaluations, store)
        return {"us": seconds / done * 1e6, "alive": None}
    _, floor = timed(partial(objective_alone, candidates, evaluations))
    seconds, done, blocks = races(decider, candidates, evaluations, store)
    return {"us": (seconds / done - floor / evaluations) * 1e6, "alive": done / blocks}


def main(checkout: str) -> None:
    """Answer requests until there are no more."""
    home = Path(racer.__file__).resolve().parents[1]
    if home != Path(checkout).resolve():
        sys.exit(f"racer came from {home}, not from {checkout}")
    races("f-race", 10, 200, None)  # both load the modules that are imported late
    tuning(100, None)
    print("ready", flush=True)
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            cell = json.loads(line)
            store = Path(folder) / "run.db" if cell.pop("store") else None
            try:
                measured = answer(**cell, store=store)
            except racer.SettingError:  # a decider that this checkout does not have
                measured = {"us": None, "alive": None}
        print(json.dumps(measured), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
