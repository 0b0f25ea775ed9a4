"""Objectives that ignore their seed, where nobody has said so."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from random import Random

import flat
import pytest
from playing import Scripted, content

import racer
from racer.core.table import Table
from racer.racing.repeats import _tied
from racer.seeding import block_seed

SPACE = racer.Space({"x": racer.Real(0, 1), "y": racer.Integer(0, 99)})
TUNING = {"budget": 260, "seed": 1}


def ignores_seed(config, instance, seed):
    return Random(f"{config} {instance}").random()


def raced(**more):
    return flat.race(range(6), ignores_seed, range(7), budget=400, seed=1, first_test=4, **more)


def tuned(**more):
    return flat.tune(SPACE, ignores_seed, range(3), **TUNING, **more)


def stopped_after(blocks, start, path):
    """Interrupt what `start` begins in a store."""

    def stop(event):
        if isinstance(event, racer.BlockCompleted) and event.block == blocks:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", racer.RacerWarning)
        with pytest.raises(racer.RaceInterrupted):
            start(store=path, callbacks=[stop])


def test_repeated_values_are_no_evidence():
    with pytest.warns(
        racer.RacerWarning, match="30 evaluations on instances used again, .* exactly"
    ):
        found = raced()
    known = raced(deterministic=True)
    assert found.probability_best == known.probability_best
    assert (found.best, found.survivors) == (known.best, known.survivors)
    assert found.ended is known.ended is racer.Ended.INSTANCES
    assert found.evaluations == known.evaluations + 30
    assert list(found.blocks["set_aside"]) == [False] * 7 + [True] * 5
    assert found.shared_blocks == 7
    assert found.mean(0) == known.mean(0)


@pytest.mark.parametrize("start", [raced, tuned])
def test_it_is_the_same_with_workers_and_after_a_resume(start, tmp_path, in_series):
    with pytest.warns(racer.RacerWarning, match="ignore its seed"):
        alone = start()
    with pytest.warns(racer.RacerWarning, match="ignore its seed"), ThreadPoolExecutor(3) as pool:
        assert content(start(n_jobs=racer.Workers(3, pool, ahead=6))) == content(alone)
    for blocks in (5, 9):
        path = tmp_path / f"{blocks}.db"
        stopped_after(blocks, start, path)
        with warnings.catch_warnings():  # before it was interrupted, or after
            warnings.simplefilter("ignore", racer.RacerWarning)
            assert content(racer.resume(path, ignores_seed)) == content(alone)
        assert content(racer.load(path)) == content(alone)


def test_a_tuning_goes_on_with_each_instance_used_once(in_series):
    with pytest.warns(racer.RacerWarning, match="ignore its seed"):
        found = tuned()
    assert found.shared_blocks == 3
    assert list(found.blocks["set_aside"]) == [False] * 3 + [True] * 5
    assert all(race.blocks == 3 for race in found.completed_races[2:])
    tuned(deterministic=False)


@pytest.mark.parametrize("instances", [None, ["one"]])
def test_repetitions_of_nothing_else_are_what_was_asked_for(instances):
    result = racer.race([1, 2], lambda c, *_: c, instances, budget=60)
    assert result.ended is racer.Ended.DECIDED


def test_one_value_that_differs_makes_all_of_them_evidence():
    def evaluate(config, instance, seed):
        return ignores_seed(config, instance, 0) + (config == 3 and seed == last)

    last = raced(deterministic=False).blocks["seed"][11]
    settings = {"decider": racer.deciders.FRace(alpha=1e-9), "budget": 84, "seed": 1}
    found = flat.race(range(6), evaluate, range(7), **settings)
    known = flat.race(range(6), evaluate, range(7), **settings, deterministic=False)
    assert found.evaluations == 84
    assert content(found) == content(known)


def test_few_different_values_may_be_equal_by_chance():
    result = racer.race([0, 1], lambda c, *_: c, range(5), budget=20)
    assert list(result.blocks["set_aside"]) == [False] * 5 + [True] * 5
    with pytest.warns(racer.RacerWarning, match="ignore its seed"):
        racer.race([0, 1], lambda c, *_: c, range(5), budget=40)


def test_groups_are_whole_when_withheld_blocks_turn_out_to_be_evidence():
    def evaluate(candidate, instance, seed):  # the seed changes the second of the repeated blocks
        return 10.0 * instance + candidate + (seed == block_seed(1, 8))

    decider = Scripted()
    how = {"decider": decider, "first_test": 2, "each_test": 4, "seed": 1}
    flat.race([1.0, 2.0], evaluate, range(7), groups=[0, 0, 0, 1, 1, 1, 2], budget=26, **how)
    first = [costs[0] for _, _, rows in decider.looks for costs in rows]
    assert first == pytest.approx([11.0, 41.0, 61.0, 34.0 / 3.0, 41.0])


def test_ties_are_counted_on_the_first_blocks_and_by_all_metrics():
    def table_of(outcome):
        table = Table()
        for block, costs in enumerate([(1.0, 2.0), (1.0, 3.0), (1.0, 1.0)]):
            table.add(block, range(3), [*map(outcome, costs), racer.Outcome("failed")])
        return table

    def several(cost):
        return racer.Outcome("ok", 7.0, metrics={"error": 7.0, "seconds": cost})

    one_of_six = (1 + 1) / (1 + 6)  # 1 and 1 of 1, 2, 1, 3, as is the bound where none is equal
    assert _tied(table_of(lambda cost: racer.Outcome("ok", cost)), 2) == one_of_six
    assert _tied(table_of(several), 2) == one_of_six
    assert _tied(table_of(several), 1) == 1 / (1 + 1)


def test_what_is_found_late_in_a_tuning_leaves_nothing_unspent_and_repeats_nothing():
    tuner = racer.Tuner(
        racer.Space({"x": racer.Real(0, 1), "y": racer.Real(0, 1)}), range(18), budget=5000, seed=1
    )
    later = set()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", racer.RacerWarning)
        while cells := tuner.ask():
            later |= {cell.block for cell in cells if said}
            for cell in cells:
                value = (cell.config["x"] - 0.3) ** 2 + (cell.config["y"] - 0.6) ** 2
                tuner.tell(cell, racer.Outcome("ok", value * (1 + cell.instance)))
    assert [str(warning.message)[:29] for warning in said] == ["evaluate seems to ignore its "]
    assert later
    assert max(later) < 18
    result = tuner.result()
    assert len(result.blocks) - result.blocks["set_aside"].sum() == 18
    assert result.evaluations > 4950
