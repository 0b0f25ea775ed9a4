"""A verdict is checked where it is taken, and only plain numbers come out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from playing import eliminated, tell_block

import racer
from racer import Race, SettingError
from racer.deciders import Decider, Drop, Verdict
from racer.deciders.parts.checks import checked_drop
from racer.deciders.parts.wrappers import protected


@dataclass(frozen=True)
class Says(Decider):
    """A decider that answers from a function of the candidates still in."""

    answer: object

    def start(self, setting):
        return None

    def decide(self, state, blocks):
        return self.answer(blocks.candidates)


def verdict(alive, **changed):
    """Return what decide() returns that drops nobody, with some of the verdict changed."""
    said = {"dropped": (), "best": 0, "standing": np.zeros(len(alive)), "evidence": {}}
    return None, Verdict(**{**said, **changed})


def drop(candidate=1, **changed):
    said = {"candidate": candidate, "reason": "inferior", "against": 0, "probability": 0.99}
    return Drop(**{**said, "measure": "posterior", **changed})


def race(answer, **settings):
    return racer.race(
        range(5),
        lambda config, instance, seed: float(config),
        budget=60,
        decider=Says(answer),
        **settings,
    )


UNUSABLE = {
    "no state": (lambda alive: verdict(alive)[1], "decide() returned Verdict("),
    "a plain tuple": (lambda alive: (None, ((), 0, np.zeros(5), {}, False)), "is not a Verdict"),
    "eliminated already": (
        lambda alive: verdict(alive, dropped=(drop(3),)),
        "it eliminates candidate 3, which is eliminated already, or never was",
    ),
    "no number": (
        lambda alive: verdict(alive, dropped=(drop("c"),)),
        "it eliminates candidate 'c', which is not a number",
    ),
    "twice": (
        lambda alive: verdict(alive, dropped=(drop(1), drop(1))),
        "it eliminates a candidate twice",
    ),
    "all": (
        lambda alive: verdict(alive, dropped=[drop(c, against=(c + 1) % 5) for c in alive]),
        "it eliminates all 5 candidates",
    ),
    "not a Drop": (lambda alive: verdict(alive, dropped=(3,)), "3 is not a Drop"),
    "an iterator": (lambda alive: verdict(alive, dropped=iter(())), "is not a tuple of Drops"),
    "best": (lambda alive: verdict(alive, best=42), "best=42 is not among the candidates"),
    "best is true": (lambda alive: verdict(alive, best=True), "best=True is not among"),
    "short": (
        lambda alive: verdict(alive, standing=np.zeros(3)),
        "`standing` has shape (3,) for 5 candidates",
    ),
    "NaN": (
        lambda alive: verdict(alive, standing=[0, math.inf, 1, math.nan, -math.inf]),
        "`standing` has a NaN",
    ),
    "words": (lambda alive: verdict(alive, standing=list("abcde")), "standing="),
    "undecided": (lambda alive: verdict(alive, undecided="no"), "undecided='no' is not True"),
    "no opponent": (
        lambda alive: verdict(alive, dropped=(drop(against=None),)),
        "candidate 1 against None, which is not another candidate of the race",
    ),
    "unknown opponent": (lambda alive: verdict(alive, dropped=(drop(against=5),)), "against 5,"),
    "itself": (lambda alive: verdict(alive, dropped=(drop(against=1),)), "against 1,"),
    "no reason": (lambda alive: verdict(alive, dropped=(drop(reason=""),)), "the reason ''"),
    "measure": (
        lambda alive: verdict(alive, dropped=(drop(measure=None),)),
        "the measure None is not text",
    ),
    "probability": (
        lambda alive: verdict(alive, dropped=(drop(probability="high"),)),
        "probability='high' is not a finite number",
    ),
    "not a probability": (
        lambda alive: verdict(alive, dropped=(drop(probability=math.nan),)),
        "probability=nan is not a finite number",
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_verdict_that_cannot_be_used_is_refused_with_what_is_wrong(name):
    said, problem = UNUSABLE[name]

    with pytest.raises(SettingError) as refused:
        race(said)
    message = str(refused.value)
    assert message.startswith("the decider Says gave a verdict that cannot be used: ")
    assert problem in message
    assert "each once and never all of them" in message  # what a verdict must be


def test_what_is_refused_does_not_change_the_race():
    decider = Says(lambda alive: verdict(alive, standing=[1.0]))
    pool = Race.of(range(5), decider=decider, budget=60, first_test=1)
    with pytest.raises(SettingError, match="shape"):
        tell_block(pool, np.arange(5.0))
    assert pool.alive == (0, 1, 2, 3, 4)


def test_numbers_of_numpy_become_plain_ones_and_lists_are_taken():
    def answer(alive):
        worst = drop(
            alive[-1], against=alive[0], probability=np.float64(0.5), reason=np.str_("slow")
        )
        dropped = [worst] if len(alive) > 2 else []
        return verdict(alive, dropped=dropped, best=alive[0], standing=alive.tolist())

    result = race(answer)
    assert result.survivors == (0, 1)
    for gone in eliminated(result):
        assert (type(gone.candidate), type(gone.against)) == (int, int)
        assert (type(gone.probability), type(gone.reason)) == (float, str)
    assert type(result.best_index) is int


def test_standings_may_be_infinite():
    standing = [math.inf, -math.inf, 0.0, 1e308, 1e308]
    result = race(lambda alive: verdict(alive, best=1, standing=standing))
    assert result.survivors == (1, 2, 3, 4, 0)


def test_an_opponent_may_have_been_eliminated_before():
    def answer(alive):
        worst = drop(alive[-1], against=min(alive[-1] + 1, 4) if alive[-1] < 4 else 0)
        return verdict(alive, dropped=(worst,) if len(alive) > 2 else ())

    assert [gone.against for gone in eliminated(race(answer))] == [0, 4, 3]


def test_a_protected_decider_is_named_itself(tmp_path):

    guarded = protected(Says(lambda alive: (None, "all")), (0,) * 5)
    pool = Race.of(range(5), decider=guarded, budget=60, first_test=1)
    with pytest.raises(SettingError, match=r"the decider Says gave .*'all' is not a Verdict"):
        tell_block(pool, np.arange(5.0))


class Judge(Says):
    """A pruner's decider that answers as it is told."""

    def judge(self, own, others):
        return self.answer


def judged(answer):
    judge = Judge(answer)
    return checked_drop(judge, judge.judge, np.zeros(4), np.zeros((4, 3)))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (True, "True is not a Drop"),
        (drop(0), "candidate 0, which is"),
        (drop(3, against=3), "against 3,"),
    ],
)
def test_a_judgement_is_checked_as_well(answer, problem):

    with pytest.raises(SettingError, match=f"the decider Judge gave .*{problem}"):
        judged(answer)
    assert judged(None) is None
    assert judged(drop(3)) == drop(3)
