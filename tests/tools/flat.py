"""Calls with the settings of `Rules` by name, for tests that draw many of them, or pass them on."""

from copy import copy
from dataclasses import replace

import racer
from racer.core.arguments import DefaultWith, goal_of
from racer.core.runtime import Runtime
from racer.deciders.decider import Scheduled
from racer.deciders.named import as_decider

GOAL = ("maximize", "metrics", "objective", "runtime")
ITEMS = ("groups", "block_size", "deterministic", "generalize")
TESTS = ("first_test", "each_test", "min_survivors")
NAMES = {"instance_order": "order", "test_instances": "held_out"} | {name: name for name in ITEMS}


def given(settings):
    """Return the arguments of `racer.race`, or `racer.tune`, that are settings of `Rules`."""
    left = dict(settings)
    goal = {name: left.pop(name, None) for name in GOAL}
    items = {new: left.pop(old) for old, new in NAMES.items() if old in left}
    tests = {name: left.pop(name) for name in TESTS if name in left}
    goal["runtime"] = Runtime.of(goal["runtime"])
    if any(value is not None for value in goal.values()):
        left["goal"] = goal_of(goal)
    if items:
        left["instances"] = racer.Instances(left.get("instances"), **items)
    if tests:
        known = left.get("decider")
        left["decider"] = scheduled(as_decider(known), tests) if known else DefaultWith(tests)
    return left


def scheduled(decider, tests):
    """Return a decider with these settings of its tests, one of the test's own too."""
    if isinstance(decider, Scheduled):
        return replace(decider, **tests)
    own = copy(decider)
    for name, value in tests.items():
        object.__setattr__(own, name, value)
    return own


def race(candidates, evaluate, instances=None, **settings):
    return racer.race(candidates, evaluate, **given({"instances": instances, **settings}))


def tune(space, evaluate, instances=None, **settings):
    return racer.tune(space, evaluate, **given({"instances": instances, **settings}))
