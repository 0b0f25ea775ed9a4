"""A race for actors of a cluster that is made up, and its result without them."""

from functools import cache

from executors import said

import racer

RACE = (range(6), [1.0, 2.0])
SETTINGS = {"budget": 120, "seed": 3, "decider": "f-race"}


def evaluate(config, instance, seed):
    return abs(config - 1) * instance + seed % 7


@cache
def alone():
    """Return what the result of one process says."""
    pool, instances = RACE
    return said(racer.race(pool, evaluate, instances, **SETTINGS))
