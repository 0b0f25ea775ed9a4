"""Stores of each schema, cut off half way: how they were made, and what they must end as.

Run with the code whose stores are to be kept:  python tests/tools/old_stores.py tests/data [NAME ..]
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import warnings
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from unittest.mock import patch

import numpy as np

import racer
from racer.evaluate.workers import InProcess
from racer.run import start


def evaluate(config, instance, seed):
    """Return noise around a number, or raise: a function of its arguments alone."""
    rng = np.random.default_rng([seed, config["n"], len(instance), int(1e6 * config.get("x", 3))])
    if rng.random() < 0.1:
        raise ValueError("no luck")
    return config["n"] + config.get("x", 3.0) + rng.normal()


def race(function=evaluate, *, decider="f-race", **more):
    pool = [{"n": n, "x": x} for n in range(3) for x in (0.25, 0.5)]
    return racer.race(pool, function, ["i", ("j", 1)], budget=90, seed=5, decider=decider, **more)


def bayesian(function=evaluate, **more):
    return race(function, decider="bayesian-friedman", **more)


def tune(function=evaluate, *, decider="f-race", budget=150, initial=({"k": "b", "n": 3},), **more):
    space = racer.Space(
        {
            "k": racer.Categorical(["a", "b"]),
            "x": racer.Real(0, 1),
            "n": racer.Integer(0, 9),
        },
        conditions={"x": {"k": "a"}},
    )
    return racer.tune(
        space,
        function,
        ["i", ("j", 1)],
        budget=budget,
        seed=5,
        decider=decider,
        initial=initial,
        test_instances=["t", "uu"],
        **more,
    )


def planned(function=evaluate, **more):
    """Tune with a decider that plans by the budget, beyond the end of a smaller budget."""
    return tune(function, decider="halving", budget=[150, 290], **more)


def times(function=evaluate, *, store):
    """Race for run times."""
    return race(function, decider="bayesian-friedman", runtime=TIMES, store=store)


TIMES = racer.Runtime(5.0, slack=1.0) if hasattr(racer, "Runtime") else None  # since schema 3

# name: what is run, and in which of its calls of `evaluate` it gets Ctrl-C
STORES = {
    "race": (race, 43),
    "bayesian": (bayesian, 43),
    "tune3": (tune, 77),
    "tests3": (tune, 153),
    "planned3": (planned, 240),
    "tune5": (tune, 77),
    "times": (times, 70),
}

# begun when a tuner sampled other candidates: they can be read, but not gone on with
ONLY_READ = ("tune", "tests", "planned", "tune2", "tests2", "planned2")


def rounded(dropped):
    """Return a list of drops with six digits of each probability: the last differ by machine."""
    drops = json.loads(dropped)
    for drop in drops:
        if isinstance(drop["probability"], float):
            drop["probability"] = round(drop["probability"], 6)
    return drops


def content(result, path):
    """Return what a result and its store say, but for measured seconds, as JSON holds it."""
    with closing(sqlite3.connect(path)) as connection:
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        block = "block" if schema == 1 else "iif(held_out, -1 - block, block)"
        outcomes = connection.execute(
            f"SELECT {block}, candidate, status, value FROM outcomes ORDER BY 1, 2"
        ).fetchall()
        verdicts = connection.execute("SELECT block, best, dropped FROM verdicts ORDER BY 1")
        kept = {
            "configs": list(result.configs),
            "best": result.best_index,
            "ended": result.ended,
            "evaluations": result.evaluations,
            "outcomes": [" ".join(map(repr, row)) for row in outcomes],
            "verdicts": [f"{block} {best} {rounded(dropped)}" for block, best, dropped in verdicts],
        }
    return json.loads(json.dumps(kept))


def cut_off(run, at, path):
    """Run on a new store, and stop it in the given call of `evaluate`."""
    calls = 0

    def stopping(config, instance, seed):
        nonlocal calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGINT)
        return evaluate(config, instance, seed)

    stopping.__module__, stopping.__qualname__ = "old_stores", "evaluate"
    # run times are evaluated in processes of their own, in which no call is counted
    workers = patch.object(start, "workers_for", lambda *_, **__: InProcess(stopping))
    with suppress(racer.RaceInterrupted), workers if run is times else nullcontext():
        run(stopping, store=path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
    return schema


def main(folder, *names):
    for name in names or STORES:
        run, at = STORES[name]
        path = Path(folder) / "new.db"
        schema = cut_off(run, at, path)
        path.rename(Path(folder) / f"schema{schema}_{name}.db")
        whole = content(run(store=path), path)
        path.unlink()
        Path(f"{path}.lock").unlink()
        expected = Path(folder) / f"store_{name}.json"
        expected.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        main(*sys.argv[1:])
