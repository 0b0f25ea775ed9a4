"""Playing races: the same race as a real one, and indicators that mean what they say."""

import math

import numpy as np
import pytest
from playing import ONE_NUMBER, short

import racer
from racer import Budget, BudgetError, SettingError
from racer.deciders import BayesianFriedman, FRace
from racer.simulate import Drawn, NormalWorld, RecordedWorld, play

NAMES = {
    *("mae", "iter", "observations", "regret", "indistinguishable", "truly_indistinguishable"),
    *("best_dropped", "survivors"),
}


@pytest.mark.parametrize("decider", ONE_NUMBER, ids=short)
def test_a_played_race_is_the_real_race(decider):
    rng = np.random.default_rng(4)
    table = rng.normal(size=(60, 7)) + 0.15 * np.arange(7)
    played = play(decider, RecordedWorld(table, shuffle=False), repetitions=1, seed=5)
    row = played.frame.iloc[0]

    real = racer.race(
        range(7),
        lambda candidate, block, seed: table[block, candidate],
        racer.Instances(range(60), deterministic=True),
        decider=decider,
        budget=7 * 60,
        seed=int(row["seed"]),
    )
    assert row["selected"] == real.leader
    assert row["observations"] == real.evaluations
    assert row["survivors"] == len(real.survivors)
    assert row["ended"] == real.ended
    assert row["iter"] == len(real.blocks) / 60
    assert row["best_dropped"] == (table.mean(axis=0).argmin() not in real.survivors)


def test_the_result_is_the_same_for_any_number_of_jobs():
    alone, together = (
        play("f-race", NormalWorld(6, 0.5), repetitions=6, blocks=40, n_jobs=jobs, seed=2)
        for jobs in (1, 2)
    )
    assert alone.frame.equals(together.frame)
    assert alone.summary.keys() == alone.errors.keys() == NAMES


def test_means_and_standard_errors_are_those_of_the_frame():
    result = play("f-race", NormalWorld(8, 0.5), repetitions=30, blocks=60, seed=1)
    for name in ("mae", "iter", "observations", "regret", "survivors"):
        column = result.frame[name]
        assert result.summary[name] == pytest.approx(column.mean())
        assert result.errors[name] == pytest.approx(column.std() / math.sqrt(30))
    assert math.isnan(result.summary["truly_indistinguishable"])


def test_regret_and_mae_are_those_of_the_selected():
    world = NormalWorld(5, 2.0)
    for _, row in play("t-race", world, repetitions=10, blocks=10, seed=3).frame.iterrows():
        quality = world.draw(int(row["seed"])).quality
        chosen = quality[int(row["selected"])]
        assert row["mae"] == sorted(quality).index(chosen)
        assert row["regret"] == pytest.approx(chosen - quality.min())


def test_the_mean_can_select_another_than_the_standing():
    """One large difference against two small ones: ranks and means disagree."""
    table = [[0.0, 1.0], [0.0, 1.0], [9.0, 0.0]]
    world = RecordedWorld(table, shuffle=False)
    settings = {"decider": FRace(first_test=1), "repetitions": 1}
    assert play(world=world, **settings).frame["selected"].tolist() == [0]
    assert play(world=world, select="mean", **settings).frame["selected"].tolist() == [1]


def test_of_several_best_candidates_the_share_dropped_counts():
    """Sequential halving keeps one of eight: of two best ones at most one is left."""
    world = NormalWorld(8, 1e-9, qualities=(0.0, 0.0, *[1.0] * 6))
    played = play("halving", world, repetitions=5, blocks=200, budget=160)
    assert played.frame["best_dropped"].tolist() == [0.5] * 5
    world = NormalWorld(8, 1.0, qualities=(0.0,) * 8)
    equal = play("halving", world, repetitions=2, blocks=200, budget=160)
    assert equal.summary["best_dropped"] == 7 / 8
    assert equal.summary["mae"] == 0.0


def test_indistinguishable_pairs_are_counted_and_judged():
    alike = NormalWorld(3, 50.0)  # means within 1, noise of 50: nobody is distinguishable
    decider = BayesianFriedman(gate=False, each_test=10)
    result = play(decider, alike, repetitions=4, blocks=900)
    assert result.summary["indistinguishable"] > 0
    assert result.summary["truly_indistinguishable"] == 1.0


def test_budgets_bind():
    result = play("f-race", NormalWorld(10, 1.0), repetitions=5, blocks=500, budget=300)
    assert (result.frame["observations"] <= 300).all()
    assert (result.frame["observations"] > 250).any()


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"budget": Budget(seconds=9)}, SettingError, "no seconds go by .* give evaluations only"),
        ({"budget": Budget(spend=9)}, SettingError, "no money is spent; give evaluations only"),
        ({"blocks": None}, SettingError, "give a number of blocks"),
        ({"blocks": 0}, SettingError, "blocks=0"),
        ({"decider": FRace(min_survivors=4)}, SettingError, "min_survivors=4"),
        ({"budget": 3}, BudgetError, "budget of 3"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_played(settings, error, message):
    with pytest.raises(error, match=message):
        play(world=NormalWorld(4, 1.0), **({"decider": "f-race", "blocks": 20} | settings))


def test_a_recorded_world_has_no_more_blocks_than_rows():
    world = RecordedWorld(np.eye(4))
    with pytest.raises(SettingError, match="this world has 4"):
        play("f-race", world, blocks=5)
    with pytest.raises(SettingError, match="decider="):
        play("f-rce", world)


def test_a_world_without_times_has_no_run_times():
    with pytest.raises(
        SettingError, match=r"Runtime.*: the cost of candidate \d on block 0 of .* is -"
    ):
        play(None, NormalWorld(5, 0.5), goal=racer.Runtime(2.0), blocks=12, repetitions=1)


class Constant:
    """A world whose costs are the same on all blocks."""

    n_candidates, n_blocks = 3, None

    def __init__(self, costs):
        self.costs = costs

    def draw(self, seed):
        return Drawn(
            np.zeros(3), lambda block: self.costs if block else [1, 2, 3], lambda i, j: 0.5
        )


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (
            [1.0, np.nan, 2.0],
            "the cost of candidate 1 on block 1 of this world is nan: give finite",
        ),
        (
            [1.0, 2.0],
            r"costs of this world on block 1 have shape \(2,\) .* numbers, of shape \(3,\)",
        ),
        (["a", "b", "c"], "type <U1: give an array of numbers"),
    ],
)
def test_costs_that_no_race_can_use_are_named_with_their_block(costs, message):
    with pytest.raises(SettingError, match=message):
        play("f-race", Constant(costs), repetitions=1, blocks=8)


def test_it_says_how_many_races_and_the_means():
    played = play("f-race", NormalWorld(5, 1), blocks=20, repetitions=9)
    assert repr(played).startswith("Play(9 races: mae=")
    assert len(repr(played)) < 200
