"""Stores that are kept for ever: a race, a tuning, one of run times and an ablation per version.

Made anew with each version of racer, whose stores are then added to tests/data/stores:

    python tests/tools/kept_stores.py tests/data/stores
"""

import math
import sqlite3
import sys
import warnings
from contextlib import closing
from pathlib import Path

import flat
import numpy as np

import racer

KEPT = Path(__file__).resolve().parents[1] / "data" / "stores"
INSTANCES = ("i", ("j", 1))
SPACE = racer.Space(
    {"k": racer.Categorical(["a", "b"]), "x": racer.Real(0, 1), "n": racer.Integer(0, 9)},
    conditions={"x": {"k": "a"}},
)


def evaluate(config, instance, seed):
    """Return noise around a number, or NaN: a function of its arguments alone."""
    rng = np.random.default_rng([seed, config["n"], len(instance), int(1e6 * config.get("x", 3))])
    if rng.random() < 0.1:
        return math.nan
    return config["n"] + config.get("x", 3.0) + abs(rng.normal())


def race(folder, **more):
    pool = [{"n": n, "x": x} for n in range(3) for x in (0.25, 0.5)]
    settings = {"budget": 90, "seed": 5, "decider": "bayesian-friedman", **more}
    return flat.race(pool, evaluate, INSTANCES, **settings, store=folder / "race.db")


def run_times(folder):
    """Race for run times, which `evaluate` reports."""
    pool = [{"n": n, "x": x} for n in range(3) for x in (0.25, 0.5)]
    settings = {"budget": 40, "seed": 5, "runtime": racer.Runtime(5.0, slack=1.0)}
    return flat.race(pool, evaluate, INSTANCES, **settings, store=folder / "run_times.db")


def tuning(folder):
    settings = {"budget": [100, 150], "seed": 5, "initial": [{"k": "b", "n": 9}]}
    tests = ["t", "uu"]
    return flat.tune(
        SPACE, evaluate, INSTANCES, test_instances=tests, **settings, store=folder / "tuning.db"
    )


def ablation(folder):
    """Ablate the tuning whose store is in the same folder."""
    settings = {"target": {"k": "a", "x": 0.25, "n": 0}, "blocks": 6}
    return racer.ablation(folder / "tuning.db", evaluate, **settings, store=folder / "ablation.db")


CONTESTS = {call.__name__: call for call in (race, run_times, tuning, ablation)}
TABLES = {
    "candidates": "*",
    "outcomes": "block, candidate, attempts, status, value, metrics, spend, message, held_out, bound",
    "verdicts": "block, best, dropped",
    "ending": "ended, dropped",
}


def content(path):
    """Return the rows of a store, but for what is measured."""
    with closing(sqlite3.connect(path)) as connection:
        return {
            table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()
            for table, columns in TABLES.items()
        }


def main(folder):
    place = Path(folder) / racer.__version__
    place.mkdir()
    for name, call in CONTESTS.items():
        call(place)
        with closing(sqlite3.connect(place / f"{name}.db")) as connection:
            connection.execute("VACUUM")
        (place / f"{name}.db.lock").unlink()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        main(*sys.argv[1:])
