"""Groups of instances: kept together, and no test falls within one."""

import flat
import numpy as np
import pytest
from playing import eliminated

import racer
from racer.core.blocks import Stream


def evaluate(config, instance, seed):
    return config["x"] + np.random.default_rng([seed, config["x"]]).normal() / 4


def test_groups_are_shuffled_and_stay_together():
    stream = Stream(12, seed=1, block_size=3)
    order = [stream.place(block).instance for block in range(24)]
    for turn in (order[:12], order[12:]):
        assert sorted(turn) == list(range(12))
        assert all(turn[i : i + 3] == [turn[i], turn[i] + 1, turn[i] + 2] for i in range(0, 12, 3))
    assert order[:12] != list(range(12))
    old = stream.old_ones(0, 7)
    assert sorted(old) == list(range(6))
    assert next(stream.new_ones(7)) == 6
    with pytest.raises(racer.SettingError, match="block_size=3 with 10 instances: give whole"):
        Stream(10, seed=1, block_size=3)


@pytest.mark.parametrize(("first_test", "each_test"), [(2, 1), (1, 2)])
def test_a_race_tests_after_whole_groups(first_test, each_test):
    pool = [{"x": x} for x in range(6)]
    result = racer.race(
        pool,
        evaluate,
        racer.Instances(range(6), block_size=3),
        budget=100,
        seed=1,
        decider=racer.deciders.TRace(first_test=first_test, each_test=each_test),
    )
    assert len(result.eliminations)
    for drop in eliminated(result):
        assert (drop.block + 1) % 3 == 0
        assert (drop.block + 1) // 3 >= first_test
        assert ((drop.block + 1) // 3 - first_test) % each_test == 0


def test_tests_at_growing_distances_fall_on_whole_groups(racing):
    decider = racing.Scripted()
    race = racer.Race.of(
        range(3), range(30), decider=decider, budget=200, seed=1,
        first_test=2, each_test="growing", block_size=3, deterministic=False,
    )  # fmt: skip
    racing.play(race, lambda cell: float(cell.config))
    assert [blocks for blocks, _, _ in decider.looks] == [6, 9, 12, 15, 18, 24, 30, 39, 48, 60, 66]


def test_a_budget_that_ends_within_a_group_brings_no_test_of_its_part():
    pool = [{"x": x} for x in range(4)]
    arguments = {"seed": 1, "first_test": 1, "block_size": 4, "decider": "t-race"}
    result = flat.race(pool, evaluate, range(4), budget=6 * 4, each_test=2, **arguments)
    assert all(drop.block == 3 for drop in eliminated(result))


@pytest.mark.parametrize("decider", ["bayesian-friedman", "halving"])
def test_a_tuning_keeps_them_through_all_races_and_is_resumed(decider, path):
    space = racer.Space({"x": racer.Integer(0, 40), "k": racer.Categorical(["a", "b"])})
    events = []
    arguments = {"seed": 2, "first_test": 2, "block_size": 2, "decider": decider, "budget": 300}
    result = flat.tune(
        space, evaluate, range(6), **arguments, store=path, callbacks=[events.append]
    )
    assert eliminated(result)
    races = iter(result.completed_races)
    begun = 0
    for event in events:
        if isinstance(event, racer.BlockCompleted) and event.eliminated:
            assert (event.block - begun + 1) % 2 == 0
        if isinstance(event, racer.tuner.RaceCompleted):
            begun += next(races).blocks
    assert repr(racer.load(path)) == repr(result)
    with pytest.raises(racer.StoreError, match=r"block_size is 3, but the race in .* has 2"):
        flat.tune(space, evaluate, range(6), **{**arguments, "block_size": 3}, store=path)
