"""What callbacks are told."""

import functools

import pytest
from playing import eliminated

from racer import (
    BlockCompleted,
    Elimination,
    Ended,
    Outcome,
    Race,
    RaceEnded,
    RacerWarning,
    SettingError,
)


def watched(racing, candidates, evaluate, **settings):
    events = []
    race = Race.of(candidates, **settings, callbacks=[events.append])
    return events, racing.play(race, evaluate)


def test_every_block_and_the_end_are_told_in_order(racing):
    decider = racing.Scripted({3: [2]}, best=0)
    events, result = watched(
        racing, [1, 2, 3], lambda cell: cell.config, decider=decider, budget=13, first_test=2
    )
    gone = Elimination(2, 2, reason="inferior", against=0, probability=0.99, measure="posterior")
    three = {"candidates": (0, 1, 2), "values": (1.0, 2.0, 3.0), "failed": 0}
    two = {"candidates": (0, 1), "values": (1.0, 2.0), "failed": 0}

    def used(evaluations):
        return {"evaluations": evaluations, "seconds": float(evaluations)}

    nobody = {"best": None, "best_mean": None, "eliminated": ()}
    first = {"best": 0, "best_mean": 1.0, "eliminated": (), "evidence": {}}
    assert events == [
        BlockCompleted(0, alive=(0, 1, 2), **three, **nobody, **used(3)),
        BlockCompleted(1, alive=(0, 1, 2), **three, **first, **used(6)),
        BlockCompleted(2, alive=(0, 1), **three, **first | {"eliminated": (gone,)}, **used(9)),
        BlockCompleted(3, alive=(0, 1), **two, **first, **used(11)),
        BlockCompleted(4, alive=(0, 1), **two, **first, **used(13)),
        RaceEnded(Ended.BUDGET, eliminated=()),
    ]
    assert eliminated(result) == (gone,)


def test_who_goes_at_the_last_look_is_told_at_the_end(racing):
    decider = racing.Scripted({4: [1]})
    events, result = watched(
        racing, [1, 2], lambda cell: cell.config, decider=decider, budget=8, first_test=3,
        each_test=9,
    )  # fmt: skip
    assert [event.eliminated for event in events[:-1]] == [()] * 4
    assert events[-1] == RaceEnded(Ended.DECIDED, eliminated=eliminated(result))
    assert [(e.block, e.candidate) for e in events[-1].eliminated] == [(3, 1)]


def test_the_mean_of_the_best_is_in_the_direction_of_the_user(racing):
    events, _ = watched(
        racing, [1, 2], lambda cell: cell.config + cell.block, decider=racing.Scripted(best=1),
        budget=6, first_test=1, maximize=True,
    )  # fmt: skip
    assert [event.best_mean for event in events[:-1]] == [2.0, 2.5, 3.0]


def test_failed_cells_are_counted_per_block(racing):
    with pytest.warns(RacerWarning, match="block 3 is set aside"):
        events, _ = watched(
            racing, [1, 2, 3], lambda cell: None if cell.candidate < cell.block else 1.0,
            decider=racing.Scripted(), budget=12, first_test=1,
        )  # fmt: skip
    assert [event.failed for event in events[:-1]] == [0, 1, 2, 3]
    assert events[-1] == RaceEnded(Ended.BUDGET, eliminated=())


def test_a_race_of_one_candidate_ends_with_an_event_too(racing):
    events, result = watched(racing, ["only"], None, budget=10)
    assert result.ended == Ended.ONE_CANDIDATE
    assert events == [RaceEnded(Ended.ONE_CANDIDATE, eliminated=())]


async def coroutine(event):
    raise AssertionError


def generator(event):
    yield event


@pytest.mark.parametrize(
    ("callback", "kind"),
    [
        (coroutine, "a coroutine function"),
        (functools.partial(coroutine), "a coroutine function"),
        (generator, "a generator"),
    ],
)
def test_a_callback_that_would_never_run_is_refused(callback, kind):
    message = rf"callbacks=\[.*\]: it is {kind}, of which a call runs nothing: give a plain"
    with pytest.raises(SettingError, match=message):
        Race([1, 2], budget=10, callbacks=[print, callback])


def test_the_end_has_the_result():
    events = []
    race = Race([1.0, 2.0], budget=30, seed=1, callbacks=[events.append])
    while cells := race.ask():
        race.tell_all([Outcome("ok", cell.config) for cell in cells])
    found, result = events[-1].result, race.result()
    assert (found.best, found.ended, found.evaluations) == (1.0, result.ended, result.evaluations)
    assert found.scores.equals(result.scores)
    assert not any(hasattr(event, "result") for event in events[:-1])
