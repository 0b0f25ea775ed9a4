"""One race of a run."""

from __future__ import annotations

from itertools import count, islice

import pytest

from racer import Outcome, RacerWarning
from racer.deciders import SequentialHalving
from racer.deciders.names import as_decider
from racer.racing.rules import Rules
from racer.tuner.series_race import SeriesRace

PLANS = "best-for-budget"


def contest(
    entrants=(7, 3, 9),
    until=None,
    budget=1000,
    blocks=None,
    length=None,
    patient=False,
    watch=None,
    **rules,
):
    settings = {"decider": as_decider("f-race-sign"), "seed": 1, "each_test": 1, "min_survivors": 1}
    settings |= rules
    return SeriesRace(
        entrants,
        count(100) if blocks is None else iter(blocks),
        until or [0] * len(entrants),
        Rules(budget=budget, deterministic=length is not None, **settings),
        length=length,
        patient=patient,
        watch=watch,
    )


def tell(race, value=float):
    told = [value(candidate) for candidate in race.alive]
    race.tell([Outcome("failed", None) if v is None else Outcome("ok", v) for v in told])


def play(race, value=float):
    while race.ended is None:
        tell(race, value)
    return race


def in_turns(race):
    """Return costs with which each entrant leads, and comes last, in turns."""
    return lambda candidate: (race.race.n_blocks + race.entrants.index(candidate)) % 3


def test_entrants_keep_their_numbers_and_blocks_come_as_given():
    race = contest(blocks=[4, 0, 2, 8, 6, 9, 1])
    seen = []
    assert race.alive == [7, 3, 9]
    while race.ended is None:
        seen.append(race.block)
        tell(race)
    assert seen[:5] == [4, 0, 2, 8, 6]
    assert race.alive == [3]
    assert (race.ended, race.race.n_blocks) == ("decided", len(seen))
    assert race.race.result().best_index is not None


def test_a_race_in_which_nobody_goes_is_given_up_at_the_next_look():
    race = contest()
    play(race, in_turns(race))
    assert (race.ended, race.race.n_blocks) == ("no-elimination", 6)
    assert race.alive == [7, 3, 9]


def test_looks_are_counted_not_blocks():
    race = contest(each_test=3)
    play(race, in_turns(race))
    assert (race.ended, race.race.n_blocks) == ("no-elimination", 8)
    race = contest(each_test="growing", first_test=7)
    play(race, in_turns(race))
    assert (race.ended, race.race.n_blocks) == ("no-elimination", 9)


def test_it_is_not_given_up_while_anyone_is_protected():
    race = contest(until=[0, 12, 0])
    play(race, in_turns(race))
    assert (race.ended, race.race.n_blocks) == ("no-elimination", 12)


def test_nor_where_it_is_to_be_patient_or_the_decider_plans():
    race = contest(budget=120, patient=True)
    assert play(race, in_turns(race)).ended == "budget"
    race = contest(budget=120, decider=SequentialHalving())
    assert play(race, in_turns(race)).ended != "no-elimination"


def test_the_protected_do_not_go():
    race = contest(until=[0, 0, 10])
    alive = []
    while race.ended is None:
        tell(race)
        alive.append((race.race.n_blocks, 9 in race.alive))
    assert all(there for blocks, there in alive if blocks < 10)
    assert not alive[-1][1]


def test_few_blocks():
    race = play(contest(length=3, first_test=3, blocks=[2, 0, 1]))
    assert (race.ended, race.race.n_blocks) == ("instances", 3)


def test_a_budget_that_ends_it():
    race = contest(budget=17)
    play(race, in_turns(race))
    assert (race.ended, race.race.n_blocks) == ("budget", 5)


def test_all_fail():
    race = contest()
    with pytest.warns(RacerWarning, match="is set aside: all 3 evaluations failed") as warned:
        play(race, lambda candidate: None)
    assert [str(w.message)[6:9] for w in warned] == ["101", "102", "103", "104", "105"]
    assert race.ended == "all-failed"
    assert race.race.result().best_index is None


def test_what_all_have_in_common_tells_nobody_apart():
    race = play(contest(), lambda candidate: 1.0)
    assert race.race.result().best_index is None


def test_it_is_watched():
    seen = []
    play(contest(watch=seen.append))
    assert [event.block for event in seen[:-1]] == list(range(len(seen) - 1))
    assert seen[-1].ended.value == "decided"


@pytest.mark.parametrize(("name", "sizes"), [("f-race-sign", [8, 8]), (PLANS, [7, 5, 5, 4, 4])])
def test_who_is_expected_as_far_as_the_decider_plans(name, sizes):
    """Without a plan until none is protected, with it all blocks; who is protected in any case."""
    race = contest(
        entrants=range(8), until=[3] + [0] * 7, budget=80, first_test=2, decider=as_decider(name)
    )
    tell(race, lambda candidate: -candidate)  # the protected one is the worst
    expected = list(islice(race.expected(), 5))
    assert [block for block, _ in expected] == list(range(102, 102 + len(expected)))
    assert [len(ranked) for _, ranked in expected] == sizes
    assert 0 in expected[0][1]
