"""A race for actors of a cluster that is made up, and its result without them."""

from __future__ import annotations

from functools import cache

import racer

RACE = (range(6), [1.0, 2.0])
SETTINGS = {"budget": 120, "seed": 3, "decider": "f-race"}


def evaluate(config, instance, seed):
    return abs(config - 1) * instance + seed % 7


def said(result):
    """Return what a result says."""
    return result.best_index, result.survivors, result.evaluations, result.table.to_json()


@cache
def alone():
    """Return what the result of one process says."""
    pool, instances = RACE
    return said(racer.race(pool, evaluate, instances, **SETTINGS))
