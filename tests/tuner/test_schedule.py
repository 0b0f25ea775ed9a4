"""How many races, of how many candidates."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racer.tuner.schedule import Schedule

LAWS = settings(max_examples=30, deadline=None, derandomize=True)


def of(free=4, total=1000, **settings_):
    return Schedule.of(
        free, total, **{"elites": None, "first_test": 5, "length": None, **settings_}
    )


@pytest.mark.parametrize(("free", "usual"), [(0, 2), (1, 2), (2, 3), (3, 3), (4, 4), (100, 8)])
def test_races_and_elites_are_2_and_log2_of_the_free_parameters(free, usual):
    schedule = of(free, None)
    assert (schedule.races, schedule.elites) == (usual, usual)


def test_a_larger_budget_has_more_races_and_as_many_elites():
    assert of(4, 100).races == 4
    assert of(4, 50_000).races == math.isqrt(50_000 // 14)
    assert of(4, 50_000).elites == 4


@LAWS
@given(st.integers(0, 20), st.integers(1, 9), st.integers(1, 9), st.integers(0, 5000))
def test_what_is_enough_for_few_races_is_enough(free, elites, first_test, more):
    least = of(free, 0, elites=elites, first_test=first_test).minimum
    assert of(free, least + more, elites=elites, first_test=first_test).minimum <= least + more


def test_elites_can_be_chosen():
    assert of(elites=7).elites == 7
    assert of(elites=7).races == of().races


def test_candidates_see_one_block_more_from_race_to_race():
    assert [of().blocks(race) for race in range(7)] == [6, 7, 8, 9, 10, 10, 10]
    assert [of(length=8).blocks(race) for race in range(7)] == [6, 7, 8, 8, 8, 8, 8]


def test_elites_cost_nothing_once_all_is_known_of_them():
    assert of().new_ones(1, 70, known=4) == 6
    assert of(length=5).new_ones(1, 70, known=4) == 14
    assert of(length=5).new_ones(0, 70, known=0) == 14
    assert of().new_ones(1, 7, known=4) == 0


def test_the_minimum_is_what_each_race_needs_for_one_new_candidate():
    # 4 races of 4 elites and 1 new one, on 6, 7, 8 and 9 blocks
    assert of(4, 100).minimum == 5 * (6 + 7 + 8 + 9)
    # then elites are known on all 5 instances
    assert of(4, 100, length=5).minimum == 5 * 5 + 3 * 5


@LAWS
@given(
    st.integers(0, 200),
    st.integers(0, 10**6),
    st.integers(1, 10) | st.none(),
    st.integers(1, 20),
    st.integers(1, 20) | st.none(),
    st.floats(0.0, 1.0),
)
def test_races_by_their_parts_use_the_budget_up(
    free, more, elites, first_test, length, conditional
):
    first_test = min(first_test, length or first_test)
    given_ = {"elites": elites, "first_test": first_test, "length": length}
    least = of(free, 0, **given_).minimum
    schedule = of(free, least + more, conditional=conditional, **given_)
    left = least + more
    for race in range(schedule.races):
        cells = schedule.part(race, left) if race else schedule.first_part(left)
        assert 0 <= cells <= left
        later = sum(map(schedule.least, range(race + 1, schedule.races)))
        assert cells == schedule.part(race, left) or left - cells >= later
        assert schedule.new_ones(race, cells, known=0) * schedule.blocks(race) <= cells
        left -= cells
    assert left == 0


@LAWS
@given(st.integers(0, 50), st.integers(1, 5), st.integers(1, 9), st.integers(0, 9))
def test_the_least_part_pays_for_a_new_candidate(free, elites, first_test, race):
    schedule = of(free, None, elites=elites, first_test=first_test)
    least = schedule.least(race)
    assert schedule.new_ones(race, least, known=elites) == 1
    assert schedule.new_ones(race, least - 1, known=elites) == 0


def test_races_of_a_larger_tuning_tell_deciders_of_more_evaluations_than_they_have():
    assert [of(4, total).stretch for total in (None, 100, 1000, 3000)] == [1, 1, 1, 3]
    assert of(4, 3000, length=6).stretch == 1


def test_the_first_race_has_more_where_parameters_are_conditional():
    assert of(4, 1400).first_part(1400) == of(4, 1400).part(0, 1400)
    assert of(4, 1400, conditional=0.5).first_part(1400) == 1.5 * of(4, 1400).part(0, 1400)
    least = of(4, 0).minimum
    assert of(4, least, conditional=1.0).first_part(least) == of(4, least).part(0, least)
