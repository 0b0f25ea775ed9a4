"""A race ends when its decider says that nobody can go any more."""

import numpy as np
import pytest

import racer
from racer import Ended, Race, RaceEnded
from racer.deciders import Decider, Drop, Verdict


class Resigned(Decider):
    """A decider that says "undecided" once it has seen so many blocks, and may drop then."""

    def __init__(self, after, drops=()):
        self.after = after
        self.drops = drops
        self.told = None

    def start(self, setting):
        self.told = setting.budget, setting.n_blocks, setting.n_instances
        return 0

    def decide(self, state, blocks):
        state += len(blocks.costs)
        left = [c for c in self.drops if c in blocks.candidates]
        drops = tuple(
            Drop(c, "inferior", against=0, probability=0.99, measure="posterior") for c in left
        )
        said = state >= self.after
        return state, Verdict(
            drops if said else (), 0, blocks.costs.mean(axis=0), {}, undecided=said
        )


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
    decider = Resigned(1)
    Race.of([1, 2], decider=decider, **settings)
    assert decider.told == told


def test_undecided_ends_the_race_once(racing):
    events = []
    race = Race([1, 2, 3], decider=Resigned(7), budget=99, callbacks=[events.append])
    result = racing.play(race, config_of)
    assert race.ask() == ()
    assert (race.ended, result.ended) == (Ended.UNDECIDED, Ended.UNDECIDED)
    assert (len(result.blocks), result.evaluations) == (7, 21)
    assert (result.best_index, result.survivors) == (0, (0, 1, 2))
    assert events[-1] == RaceEnded(Ended.UNDECIDED, eliminated=())
    assert sum(isinstance(event, RaceEnded) for event in events) == 1


@pytest.mark.parametrize(("drops", "ended"), [((2,), Ended.BUDGET), ((1, 2), Ended.DECIDED)])
def test_while_somebody_goes_nothing_is_undecided(racing, drops, ended):
    race = Race([1, 2, 3], decider=Resigned(5, drops), budget=16)
    assert racing.play(race, config_of).ended == ended


@pytest.mark.parametrize(
    ("evaluate", "ended"),
    [
        (lambda cell: 1.0, Ended.ALL_EQUAL),
        (lambda cell: None if cell.candidate and cell.block else 1.0, Ended.UNDECIDED),
    ],
)
def test_all_equal_is_worse_news(racing, evaluate, ended):
    assert racing.play(Race([1, 2], decider=Resigned(6), budget=99), evaluate).ended == ended


@pytest.mark.parametrize(
    "settings",
    [
        {"budget": 12},
        {"budget": 99, "instances": range(6), "deterministic": True},
        {"budget": 99, "each_test": 4},
    ],
)
def test_undecided_says_more_than_that_budget_or_instances_are_spent(racing, settings):
    race = Race.of([1, 2], decider=Resigned(6), **{"first_test": 2, **settings})
    assert racing.play(race, config_of).ended == Ended.UNDECIDED


def test_min_survivors_decide_first(racing):
    costs = np.random.default_rng(5).normal([0.0, 0.0, 0.0, 9.0], size=(40, 4))
    race = Race.of(range(4), decider="anytime", budget=160, min_survivors=3)
    result = racing.play(race, lambda cell: costs[cell.block, cell.candidate])
    assert result.ended == Ended.DECIDED
    assert len(result.survivors) == 3
    assert 3 not in result.survivors
