"""What callbacks are told."""

from __future__ import annotations

import pytest

from racer import BlockCompleted, Elimination, Ended, Race, RaceEnded, RacerWarning


def watched(racing, candidates, evaluate, **settings):
    events = []
    race = Race(candidates, **settings, callbacks=[events.append])
    return events, racing.play(race, evaluate)


def test_every_block_and_the_end_are_told_in_order(racing):
    decider = racing.Scripted({3: [2]}, best=0)
    events, result = watched(
        racing, [1, 2, 3], lambda cell: cell.config, decider=decider, budget=13, first_test=2
    )
    gone = Elimination(2, 2, "inferior", 0, 0.99, "posterior")
    shared = {"failed": 0}
    assert events == [
        BlockCompleted(0, (0, 1, 2), None, None, (), 3, 3.0, **shared),
        BlockCompleted(1, (0, 1, 2), 0, 1.0, (), 6, 6.0, **shared),
        BlockCompleted(2, (0, 1), 0, 1.0, (gone,), 9, 9.0, **shared),
        BlockCompleted(3, (0, 1), 0, 1.0, (), 11, 11.0, **shared),
        BlockCompleted(4, (0, 1), 0, 1.0, (), 13, 13.0, **shared),
        RaceEnded(Ended.BUDGET, ()),
    ]
    assert result.dropped == (gone,)


def test_who_goes_at_the_last_look_is_told_at_the_end(racing):
    decider = racing.Scripted({4: [1]})
    events, result = watched(
        racing, [1, 2], lambda cell: cell.config, decider=decider, budget=8, first_test=3,
        each_test=9,
    )  # fmt: skip
    assert [event.eliminated for event in events[:-1]] == [()] * 4
    assert events[-1] == RaceEnded(Ended.DECIDED, result.dropped)
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
            racing, [1, 2, 3], lambda cell: None if cell.candidate <= cell.block else 1.0,
            decider=racing.Scripted(), budget=9, first_test=1,
        )  # fmt: skip
    assert [event.failed for event in events[:-1]] == [1, 2, 3]
    assert events[-1] == RaceEnded(Ended.BUDGET, ())


def test_eliminations_of_all_events_are_those_of_the_result(racing):
    events, result = watched(
        racing, range(8), racing.noisy, budget=400, seed=3, first_test=4, each_test=3
    )
    told = [elimination for event in events for elimination in event.eliminated]
    assert tuple(told) == result.dropped
    assert len(told) > 1
    assert [event.block for event in events[:-1]] == list(range(len(result.blocks)))
    assert events[-2].evaluations == result.evaluations
    assert events[-1].ended == result.ended


def test_a_race_of_one_candidate_ends_with_an_event_too(racing):
    events, result = watched(racing, ["only"], None, budget=10)
    assert result.ended == Ended.ONE_CANDIDATE
    assert events == [RaceEnded(Ended.ONE_CANDIDATE, ())]


def test_all_callbacks_are_called(racing):
    one, other = [], []
    race = Race([1, 2], budget=10, callbacks=[one.append, other.append])
    racing.play(race, racing.noisy)
    assert one == other != []


def test_an_error_in_a_callback_comes_through(racing):
    def fail(event):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        racing.play(Race([1, 2], budget=10, callbacks=[fail]), racing.noisy)
