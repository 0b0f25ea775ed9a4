"""`racer.race`: the main job in one call."""

from __future__ import annotations

import inspect

from objectives import Counting
from processes import python

import racer


def costly(config, instance, seed):
    return float(config)


def test_evaluate_is_called_with_configuration_instance_and_block_seed():
    evaluate = Counting(lambda config, *_: config)
    result = racer.race([1, 2], evaluate, ["a", "b"], budget=10, seed=3)
    seeds = result.blocks["seed"].tolist()
    of_block = zip(evaluate.calls[::2], evaluate.calls[1::2], strict=True)  # in an order of its own
    assert [sorted(pair) for pair in of_block][:2] == [
        [(1, "a", seeds[0]), (2, "a", seeds[0])],
        [(1, "b", seeds[1]), (2, "b", seeds[1])],
    ]
    assert all(type(seed) is int for _, _, seed in evaluate.calls)


def test_all_settings_reach_the_race():
    seen = []
    result = racer.race(
        [3, 1, 2],
        costly,
        racer.Instances(range(20), deterministic=True),
        decider=racer.deciders.FRace(posthoc="sign", first_test=3, each_test=2, min_survivors=2),
        budget=racer.Budget(evaluations=100, seconds=100),
        goal="max",
        seed=11,
        limits=racer.Limits(retries=1),
        callbacks=[seen.append],
    )
    assert result.best == 3
    assert result.seed == 11
    assert result.survivors == (0, 2)
    assert result.blocks["instance"].tolist() == [0, 1, 2, 3, 4]
    assert isinstance(seen[-1], racer.RaceEnded)


def test_settings_are_keywords():
    parameters = inspect.signature(racer.race).parameters.values()
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == ["candidates", "evaluate", "instances"]


def test_a_race_loads_only_what_it_needs():
    """Each module costs start-up, and makes each fork of a limited evaluation dearer."""
    others = ("racer.tuner", "racer.model.surrogate", "racer.evaluate.actors", "scipy.linalg")
    script = (
        "import sys, scipy.special; before = {*sys.modules}; "  # which needs more where it is old
        "import racer; racer.race([1, 2], lambda c, i, s: c, budget=20, seed=1); "
        f"print([name for name in {{*sys.modules}} - before if name.startswith({others})])"
    )
    done = python("-c", script)
    assert done.stdout == "[]\n"
