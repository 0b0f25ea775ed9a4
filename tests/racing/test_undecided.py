"""A race ends when its decider says that nobody can go any more."""

import pytest
from playing import Scripted

import racer
from racer import Ended, Race, RaceEnded


def config_of(cell):
    return cell.config


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"budget": 40}, (40, None, None)),
        ({"budget": racer.Budget(seconds=9.0)}, (None, None, None)),
        ({"budget": 40, "instances": ["a", "b", "c"]}, (40, None, 3)),
        ({"budget": 40, "instances": ["a", "b", "c"], "deterministic": True}, (40, 3, 3)),
    ],
)
def test_a_decider_is_told_what_the_race_may_use(settings, told):
    decider = Scripted()
    Race.of([1, 2], decider=decider, **settings)
    given = decider.setting
    assert (given.budget, given.n_blocks, given.n_instances) == told


def test_undecided_ends_the_race_once(racing):
    events = []
    decider = Scripted(best=0, undecided=7)
    race = Race([1, 2, 3], decider=decider, budget=99, callbacks=[events.append])
    result = racing.play(race, config_of)
    assert race.ask() == ()
    assert (race.ended, result.ended) == (Ended.UNDECIDED, Ended.UNDECIDED)
    assert (len(result.blocks), result.evaluations) == (7, 21)
    assert (result.best_index, result.survivors) == (0, (0, 1, 2))
    assert events[-1] == RaceEnded(Ended.UNDECIDED, eliminated=())
    assert sum(isinstance(event, RaceEnded) for event in events) == 1


@pytest.mark.parametrize(("drops", "ended"), [((2,), Ended.BUDGET), ((1, 2), Ended.DECIDED)])
def test_while_somebody_goes_nothing_is_undecided(racing, drops, ended):
    race = Race([1, 2, 3], decider=Scripted({5: drops}, best=0, undecided=5), budget=16)
    assert racing.play(race, config_of).ended == ended


@pytest.mark.parametrize(
    ("evaluate", "ended"),
    [
        (lambda cell: 1.0, Ended.ALL_EQUAL),
        (lambda cell: None if cell.candidate and cell.block else 1.0, Ended.UNDECIDED),
    ],
)
def test_all_equal_is_worse_news(racing, evaluate, ended):
    race = Race([1, 2], decider=Scripted(best=0, undecided=6), budget=99)
    assert racing.play(race, evaluate).ended == ended


@pytest.mark.parametrize(
    "settings",
    [
        {"budget": 12},
        {"budget": 99, "instances": range(6), "deterministic": True},
        {"budget": 99, "each_test": 4},
    ],
)
def test_undecided_says_more_than_that_budget_or_instances_are_spent(racing, settings):
    decider = Scripted(best=0, undecided=6)
    race = Race.of([1, 2], decider=decider, **{"first_test": 2, **settings})
    assert racing.play(race, config_of).ended == Ended.UNDECIDED
