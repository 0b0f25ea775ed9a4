"""A race as a state machine: ask, tell, and what may not be told."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import tell_block

from racer import (
    Budget,
    Outcome,
    Race,
    RacerError,
    RaceStateError,
    Real,
    Space,
    Tuner,
)
from racer.deciders import Decider, Verdict

LAWS = settings(max_examples=15, deadline=None, derandomize=True)

OK = Outcome("ok", 1.0, seconds=1.0)


def snapshot(race, racing):
    return race.ask(), race.ended, race.alive, racing.content(race.result())


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_contest_is_neither_pickled_nor_copied(copied, begun):
    contests = (Race(["a", "b"], budget=30), Tuner(Space({"x": Real(0, 1)}), budget=100))
    for contest in contests:
        if begun:
            contest.ask()
        with pytest.raises(RaceStateError, match="can be neither pickled nor copied: make another"):
            copied(contest)


class Breaks(Decider):
    """A decider that raises at its second test."""

    def start(self, setting):
        return 0

    def decide(self, state, blocks):
        if state:
            raise ValueError("boom")
        return 1, Verdict((), int(blocks.candidates[0]), np.arange(len(blocks.candidates)) * 1.0)


@pytest.mark.parametrize("kind", ["race", "tuning"])
def test_an_error_of_the_decider_is_not_the_end_of_the_race(kind):
    how = {"decider": Breaks(), "budget": 60, "seed": 1, "each_test": 1, "first_test": 2}
    space = Space({"x": Real(0, 1)})
    contest = Race.of([1, 2, 3], **how) if kind == "race" else Tuner.of(space, **how)
    cells = contest.ask()

    def play():
        while cells := contest.ask():
            for number, cell in enumerate(cells):
                contest.tell(cell, Outcome("ok", number + cell.block))

    with pytest.raises(ValueError, match="boom"):
        play()
    attempts = [contest.ask, lambda: contest.tell(cells[0], OK), lambda: contest.tell_all([])]
    for attempt in attempts:
        with pytest.raises(RaceStateError, match=f"ended this {kind}: .*boom") as found:
            attempt()
        assert isinstance(found.value.__cause__, ValueError)
    assert contest.ended is None
    assert contest.result().ended == "interrupted"


@LAWS
@given(st.integers(0, 2**32 - 1), st.sampled_from(["bayesian-friedman", "f-race", "t-race"]))
def test_the_order_of_telling_changes_nothing(racing, seed, decider):
    rng = np.random.default_rng(seed)
    settings_ = {"decider": decider, "budget": 150, "seed": seed, "first_test": 4}

    def evaluate(cell):
        draw = np.random.default_rng([cell.seed, cell.candidate]).random()
        return None if cell.candidate and draw < 0.1 else racing.noisy(cell)

    straight = racing.play(Race.of(range(6), [0, 1, 2], **settings_), evaluate)
    shuffled = racing.play(
        Race.of(range(6), [0, 1, 2], **settings_),
        evaluate,
        order=lambda cells: [cells[i] for i in rng.permutation(len(cells))],
    )
    assert racing.content(straight) == racing.content(shuffled)


@pytest.mark.filterwarnings("ignore:the .* ended after .* before the first test:racer.RacerWarning")
@pytest.mark.parametrize("seconds", [1.0, 1.2, 1.5, 1.8])
def test_the_order_of_telling_changes_nothing_under_a_budget_of_seconds(racing, seconds):
    took = [0.1, 0.2, 0.3]  # 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1

    def evaluate(cell):
        return Outcome("ok", cell.config, seconds=took[cell.candidate])

    straight = racing.play(Race([1, 2, 3], budget=Budget(seconds=seconds), seed=0), evaluate)
    backwards = racing.play(
        Race([1, 2, 3], budget=Budget(seconds=seconds), seed=0), evaluate, order=reversed
    )
    assert racing.content(straight) == racing.content(backwards)
    assert straight.seconds == backwards.seconds


def test_telling_twice_is_refused_and_the_first_word_counts(racing):
    race = Race([1, 2], budget=20, seed=3)
    cell = race.ask()[0]
    race.tell(cell, OK)
    before = snapshot(race, racing)
    words = f"candidate {cell.candidate} on block 0 has been told before"
    with pytest.raises(RaceStateError, match=words):
        race.tell(cell, Outcome("ok", -5.0))
    assert snapshot(race, racing) == before
    race.tell(race.ask()[0], OK)
    assert race.result().table.to_numpy().tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 5}, r"seed=5, but asked for with \d+: tell only cells that ask\(\) returned"),
        ({"instance_index": 1}, "instance_index=1, but asked for with 0"),
        ({"instance": "b"}, "instance='b', but asked for with 'a'"),
        ({"config": {"x": [1, 3]}}, r"config=\{'x': \[1, 3\]\}, but asked for with"),
        ({"candidate": 0.0}, r"candidate=0\.0 of a cell: give the whole number"),
        ({"block": 0.0}, r"block=0\.0 of a cell"),
    ],
    ids=str,
)
def test_a_cell_that_differs_from_the_one_asked_for_is_refused(changed, message):
    race = Race([{"x": [1, 2]}, {"x": [2, 2]}], ["a", "b"], budget=60, seed=1)
    cell = race.ask()[0]
    with pytest.raises(RaceStateError, match=message):
        race.tell(replace(cell, **changed), OK)
    assert race.ask()[0] is cell
    race.tell(cell, OK)


def through_json(cell):
    fields = {"block": cell.block, "candidate": cell.candidate, "seed": cell.seed}
    sent = {**fields, "config": cell.config, "instance": cell.instance}
    plain = json.dumps(sent, default=lambda array: array.tolist())
    return type(cell)(**json.loads(plain), instance_index=cell.instance_index)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda cell: pickle.loads(pickle.dumps(cell)), through_json]
)
def test_a_copy_of_a_cell_may_be_told(copied):
    configs = [
        {"x": float("nan"), "y": (1, np.float64(0.1))},
        {"x": np.array([1.0, np.nan]), 3: {"z": None}},
    ]
    race = Race(configs, [np.arange(3), ("a", 2)], budget=60, seed=1)
    for cell in race.ask():
        race.tell(copied(cell), OK)
    assert race.n_blocks == 1


def test_a_copy_may_hold_objects_that_are_equal_to_no_other():
    race = Race([object(), object()], budget=60, seed=1)
    for cell in race.ask():
        race.tell(pickle.loads(pickle.dumps(cell)), OK)
    assert race.n_blocks == 1


def test_nothing_can_be_told_after_the_end(racing):
    race = Race.of([1, 2], [0], deterministic=True, budget=20, first_test=1)
    cells = race.ask()
    racing.play(race, lambda cell: cell.config)
    before = snapshot(race, racing)
    with pytest.raises(RaceStateError, match="was not asked for"):
        race.tell(cells[0], OK)
    assert snapshot(race, racing) == before
    assert race.ask() == ()


def test_a_race_goes_on_after_a_refusal_as_if_nothing_had_been(racing):
    def with_refusals(cells):
        for cell in cells:
            for wrong in (replace(cell, block=cell.block + 1), replace(cell, candidate=77)):
                with pytest.raises(
                    RaceStateError, match=f"on block {wrong.block} was not asked for"
                ):
                    race.tell(wrong, OK)
            yield cell

    race = Race(range(4), budget=100, seed=5)
    disturbed = racing.play(race, racing.noisy, order=with_refusals)
    plain = racing.play(Race(range(4), budget=100, seed=5), racing.noisy)
    assert racing.content(disturbed) == racing.content(plain)


@pytest.mark.parametrize(
    "told",
    [
        *(0.5, None, ("ok", 0.5), "ok"),
        *(
            Outcome("ok", value)
            for value in (math.nan, math.inf, -math.inf, None, "1", 10**400, True)
        ),
    ],
    ids=lambda told: repr(told)[:50],
)
def test_what_is_no_outcome_is_refused_and_leaves_the_race_intact(told, racing):
    race = Race([1, 2], budget=20, seed=3)
    before = snapshot(race, racing)
    with pytest.raises((RacerError, TypeError)):
        race.tell(race.ask()[0], told)
    assert snapshot(race, racing) == before


@pytest.mark.parametrize("alone", [0, 2])
def test_all_that_is_required_can_be_told_at_once(alone, racing):
    together, one_by_one = (Race(range(5), [0, 1, 2], budget=120, seed=3) for _ in range(2))
    expected = racing.play(one_by_one, racing.noisy)
    while cells := together.ask():
        for cell in cells[:alone]:
            together.tell(cell, racing.outcome_of(racing.noisy(cell)))
        if len(cells) > alone:
            left = together.ask()
            together.tell_all([racing.outcome_of(racing.noisy(cell)) for cell in left])
    assert racing.content(together.result()) == racing.content(expected)


def test_outcomes_told_at_once_are_one_for_each_cell():
    race = Race([1, 2, 3], budget=30)
    for outcomes in ([OK] * 2, [OK] * 4, []):
        with pytest.raises(RaceStateError, match="one for each of the 3 cells"):
            race.tell_all(outcomes)
    with pytest.raises(RaceStateError, match="finite number"):
        race.tell_all([OK, OK, Outcome("ok", math.nan)])
    assert len(race.ask()) == 3  # nothing of it was recorded


def test_the_settings_of_a_race_make_it_again(racing):
    given = {"deterministic": True, "maximize": True, "instance_order": "shuffled"}
    race = Race.of(range(4), ["a", "b"], budget=8, seed=9, decider="halving", **given)
    again = Race.of(race.configs, race.instances, **race.settings)
    assert again.settings == race.settings
    assert race.settings["instance_order"] == "shuffled"
    assert race.settings["first_test"] == 5  # as given, though there are two instances
    played = racing.play(race, racing.noisy), racing.play(again, racing.noisy)
    assert racing.content(played[0]) == racing.content(played[1])


def test_a_missing_budget_is_named():
    with pytest.raises(TypeError, match="missing the keyword argument 'budget'"):
        Race([1, 2])


def test_a_decider_cannot_write_into_the_race():
    class Reverses(Decider):
        def start(self, setting):
            return None

        def decide(self, state, blocks):
            blocks.candidates[:] = blocks.candidates[::-1].copy()

    race = Race.of([1, 2], budget=20, seed=1, first_test=1, decider=Reverses())
    with pytest.raises(ValueError, match="read-only"):
        tell_block(race, [1.0, 2.0])
    assert race.alive == (0, 1)
