"""One race: when it looks, when it ends, what its blocks are."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import ONE_NUMBER, Scripted, eliminated, play, short, tell_block

from racer import (
    CandidateError,
    Ended,
    Outcome,
    Race,
    RacerWarning,
    SettingError,
)
from racer.deciders import AnytimeRace, BayesianFriedman, TRace
from racer.seeding import block_seed

LAWS = settings(max_examples=20, deadline=None, derandomize=True)


def config_of(cell):
    return cell.config


# -- when it looks


@pytest.mark.parametrize(
    ("first_test", "each_test", "blocks", "looks"),
    [
        (5, 1, 8, [5, 6, 7, 8]),
        (3, 2, 8, [3, 5, 7, 8]),
        (1, 3, 5, [1, 4, 5]),
        (4, 100, 6, [4, 6]),
        (5, "growing", 30, [5, 6, 8, 10, 13, 16, 20, 25, 30]),
        (1, "growing", 9, [1, 2, 3, 4, 5, 6, 8, 9]),
    ],
)
def test_looks_are_at_first_test_then_at_every_each_test_and_at_the_end(
    racing, first_test, each_test, blocks, looks
):
    decider = racing.Scripted()
    race = Race.of(
        [1, 2, 3], decider=decider, budget=3 * blocks, first_test=first_test, each_test=each_test
    )
    racing.play(race, config_of)
    assert [look for look, _, _ in decider.looks] == looks
    shown = [len(costs) for _, _, costs in decider.looks]
    assert shown == np.diff([0, *looks]).tolist()


def test_with_fewer_instances_than_first_test_the_only_look_is_at_the_end(racing):
    decider = racing.Scripted({3: [0]}, best=1)
    race = Race.of([2, 1], ["a", "b", "c"], decider=decider, deterministic=True, budget=100)
    result = racing.play(race, config_of)
    assert result.ended == Ended.DECIDED
    assert [look for look, _, _ in decider.looks] == [3]
    assert result.survivors == (1,)
    assert result.best == 1
    assert result.eliminations["block"].tolist() == [2]


def test_nobody_is_dropped_before_the_first_test(racing):
    """Blocks in which all fail are no evidence: the test at the end comes too early."""
    decider = racing.Scripted({2: [1]}, best=0)
    race = Race.of([1, 2], decider=decider, budget=6, first_test=3)
    with pytest.warns(RacerWarning):
        result = racing.play(race, lambda cell: None if cell.block == 1 else cell.config)
    assert [look for look, _, _ in decider.looks] == [2]
    assert (result.survivors, result.best) == ((0, 1), None)


def test_a_decider_is_shown_only_who_is_alive(racing):
    decider = racing.Scripted({2: [1], 4: [3]})
    race = Race.of(range(5), decider=decider, budget=22, first_test=2, each_test=2)
    racing.play(race, config_of)
    assert [(look, alive) for look, alive, _ in decider.looks] == [
        (2, [0, 1, 2, 3, 4]),
        (4, [0, 2, 3, 4]),
        (5, [0, 2, 4]),
    ]
    assert decider.looks[1][2] == [[0, 2, 3, 4]] * 2


# -- who stays


@pytest.mark.parametrize("min_survivors", [1, 2, 3])
def test_min_survivors_stay_and_those_with_the_strongest_evidence_go(racing, min_survivors):
    decider = racing.Scripted({2: [4, 2, 1, 3]})
    race = Race.of(range(5), decider=decider, budget=100, first_test=2, min_survivors=min_survivors)
    result = racing.play(race, config_of)
    assert result.ended == Ended.DECIDED
    assert [e.candidate for e in eliminated(result)] == [4, 2, 1, 3][: 5 - min_survivors]
    assert len(result.survivors) == min_survivors


def test_survivors_are_sorted_by_standing(racing):
    race = Race([3, 1, 2], decider=racing.Scripted(best=1), budget=15)
    assert racing.play(race, config_of).survivors == (1, 2, 0)


# -- how it ends


def equal(cell):
    return 1.0


def failing(cell):
    return None


ENDS = {
    Ended.DECIDED: ({"candidates": [1, 2, 3], "budget": 60}, config_of, 0),
    Ended.BUDGET: ({"candidates": [1, 2], "budget": 11, "decider": "f-race-sign"}, config_of, 0),
    Ended.INSTANCES: (
        {"candidates": [1, 2], "instances": [0, 1], "deterministic": True, "budget": 60}, config_of, 0
    ),
    Ended.UNDECIDED: ({"candidates": [1, 2], "budget": 12, "decider": "anytime"}, config_of, 0),
    Ended.SETTLED: (
        {"candidates": [1, 2], "budget": 400, "decider": Scripted(best=0, settled=True)}, config_of, 0
    ),
    Ended.ALL_EQUAL: ({"candidates": [1, 2], "budget": 20}, equal, None),
    Ended.ALL_FAILED: ({"candidates": [1, 2], "budget": 60}, failing, None),
    Ended.ONE_CANDIDATE: ({"candidates": ["only"], "budget": 60}, config_of, 0),
}  # fmt: skip


@pytest.mark.parametrize("ended", ENDS, ids=str)
def test_each_way_to_end(racing, ended):
    keywords, evaluate, best_index = ENDS[ended]
    race = Race.of(**keywords, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RacerWarning)
        result = racing.play(race, evaluate)
    assert race.ended == result.ended == ended
    assert result.best_index == best_index
    assert result.best == (None if best_index is None else keywords["candidates"][best_index])
    assert ended.message.endswith(".")


def test_no_way_to_end_is_forgotten():
    # the others are in tests/run and test_rejected
    assert {*ENDS, Ended.INTERRUPTED, Ended.DEADLINE, Ended.ALL_REJECTED} == set(Ended)
    assert len({ended.message for ended in Ended}) == len(Ended)


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_all_equal_by_the_last_of_the_instances(racing, blocks):
    race = Race.of([1, 2], range(blocks), deterministic=True, budget=60)
    result = racing.play(race, equal)
    assert (result.ended, result.best) == (Ended.ALL_EQUAL, None)


def test_one_block_that_tells_two_apart_is_enough_not_to_be_all_equal(racing):
    result = racing.play(
        Race([1, 2, 3], budget=30), lambda cell: float(cell.block == 3 and cell.candidate == 2)
    )
    assert result.ended == Ended.BUDGET
    assert result.survivors[-1] == 2


def test_all_failed_ends_at_the_first_test_and_warns_once_with_a_count(racing):
    race = Race.of([1, 2], budget=1000, first_test=3)
    with pytest.warns(RacerWarning, match="set aside: all 2 evaluations failed") as caught:
        result = racing.play(race, failing)
    assert [str(w.message).split(" is")[0] for w in caught] == ["block 0", "block 2"]
    assert str(caught[1].message).endswith("; the same happened on 3 blocks in all")
    assert "it failed" in str(caught[0].message)
    assert (result.ended, result.best, result.evaluations) == (Ended.ALL_FAILED, None, 6)
    assert result.survivors == (0, 1)
    assert result.blocks["set_aside"].tolist() == [True] * 3
    assert result.probability_best == {0: 0.5, 1: 0.5}


def test_a_block_in_which_all_fail_is_set_aside_and_does_not_count(racing):
    decider = racing.Scripted()
    race = Race.of([1, 2], decider=decider, budget=14, first_test=3)
    with pytest.warns(RacerWarning, match="block 1 is set aside"):
        result = racing.play(race, lambda cell: None if cell.block == 1 else cell.config)
    assert [look for look, _, _ in decider.looks] == [3, 4, 5, 6]
    assert all(costs == [[1, 2]] for _, _, costs in decider.looks[1:])
    assert result.blocks["set_aside"].tolist() == [False, True, *[False] * 5]
    assert result.table.shape == (7, 2)
    assert result.evaluations == 14


def test_a_race_survives_warnings_turned_into_errors():
    race = Race([1, 2], budget=20, seed=1)

    first, second = race.ask()
    race.tell(first, Outcome("failed", None))
    with pytest.raises(RacerWarning):
        race.tell(second, Outcome("failed", None))
    assert {cell.block for cell in race.ask()} == {1}


# -- failures


@pytest.mark.parametrize("decider", ONE_NUMBER, ids=short)
def test_failing_everywhere_is_worse_than_any_value(racing, decider):
    race = Race([1, 2, 3], decider=decider, budget=150, seed=1)

    def evaluate(cell):
        return None if cell.candidate == 0 else racing.noisy(cell, 0.1)

    result = racing.play(race, evaluate)
    assert result.best_index == 1
    assert 0 not in result.survivors


@pytest.mark.parametrize("decider", ONE_NUMBER, ids=short)
def test_two_that_always_fail_tie_and_the_third_wins(racing, decider):
    result = racing.play(
        Race([1, 2, 3], decider=decider, budget=150), lambda cell: 5.0 if cell.config == 3 else None
    )
    assert result.best == 3
    assert result.probability_best[2] > 0.9


# -- blocks


def cells_of(race, racing, evaluate=config_of):
    seen = []
    racing.play(race, lambda cell: seen.append(cell) or evaluate(cell))
    return seen


@LAWS
@given(st.integers(0, 2**40), st.integers(2, 5), st.sampled_from(ONE_NUMBER))
def test_the_seed_of_a_block_is_a_function_of_the_race_seed_and_its_number(
    racing, seed, m, decider
):
    race = Race(range(m), ["a", "b"], decider=decider, budget=40, seed=seed)
    for cell in cells_of(race, racing, racing.noisy):
        assert cell.seed == block_seed(seed, cell.block)
        assert cell.instance == "ab"[cell.block % 2]


@pytest.mark.parametrize("decider", ONE_NUMBER, ids=short)
def test_maximising_is_minimising_the_negative(racing, decider):
    def evaluate(sign):
        def of(cell):
            return None if cell.block == cell.candidate == 3 else sign * racing.noisy(cell, 2.0)

        return of

    low = racing.play(Race(range(6), decider=decider, budget=200, seed=8), evaluate(1))
    high = racing.play(
        Race.of(range(6), decider=decider, budget=200, seed=8, maximize=True), evaluate(-1)
    )
    one, other = racing.content(low), racing.content(high)
    assert np.array_equal(low.table, -high.table, equal_nan=True)
    assert {**one, "scores": None} == {**other, "scores": None}
    assert low.mean(0) == -high.mean(0)


# -- settings


@pytest.mark.parametrize("min_survivors", [2, 3])
def test_min_survivors_must_leave_something_to_race(min_survivors):
    with pytest.raises(SettingError, match="leaves nothing to race among 2 candidates"):
        Race.of([1, 2], budget=100, min_survivors=min_survivors)


def test_candidates_and_instances_are_checked_by_name():
    with pytest.raises(CandidateError, match=r"^candidates is a set"):
        Race({1, 2}, budget=100)
    with pytest.raises(CandidateError, match=r"^instances is a generator: give list"):
        Race([1, 2], (x for x in "ab"), budget=100)
    with pytest.raises(CandidateError, match=r"^instances is empty"):
        Race([1, 2], [], budget=100)
    with pytest.raises(CandidateError, match="candidates 0 and 1"):
        Race([1, 1.0], budget=100)
    assert Race([1, 2], ["a", "a"], budget=100).instances == ("a", "a")


def test_a_function_in_the_wrong_place_is_told_the_order():
    with pytest.raises(CandidateError, match=r"\(candidates, evaluate, instances\)"):
        Race([1, 2], print, budget=100)


def test_the_leader_shown_is_still_in():
    """1 beats 0 on four blocks of five, and on the fifth comes last of all."""
    seen = []

    def evaluate(cell):
        if cell.config == 1:
            return 99.0 if cell.block % 5 == 4 else 0.0
        return float(cell.config + 1)

    race = Race.of(
        list(range(10)),
        decider=BayesianFriedman(epsilon=0.0),
        budget=400,
        first_test=40,
        callbacks=[seen.append],
    )
    play(race, evaluate)
    last = [event for event in seen if hasattr(event, "best")][-1]
    assert last.best in last.alive


@pytest.mark.parametrize("decider", ONE_NUMBER, ids=short)
def test_rounding_decides_nothing(decider):
    """Costs that are equal but for rounding tie: 0.1 + 0.2 is not worse than 0.3."""
    race = Race(["a", "b"], decider=decider, budget=40, seed=1)
    while race.ask():
        tell_block(race, [0.1 + 0.2, 0.3])
    result = race.result()
    assert (result.ended, result.best_index) == (Ended.ALL_EQUAL, None)
    assert len(result.survivors) == (1 if decider == "halving" else 2)  # it drops by schedule
    assert result.table.iloc[0].tolist() == [0.1 + 0.2, 0.3]


@pytest.mark.parametrize(
    ("decider", "asks"),
    [
        ("f-race", "growing"),
        ("anytime", 1),
        ("halving", 1),
        (AnytimeRace(), 1),
        (TRace(), "growing"),
    ],
)
def test_a_decider_says_when_it_is_asked_unless_the_race_does(decider, asks):
    assert Race([1, 2], budget=100, decider=decider).settings["each_test"] == asks
    assert Race.of([1, 2], budget=100, decider=decider, each_test=4).settings["each_test"] == 4
