"""`racer.duel`: the best player by votes, with few of them, whatever the judge does."""

import asyncio

import numpy as np
import pandas as pd
import pytest

import racer
from racer.run import duel as module


def judge_of(strengths, seed, nu=0.5, position=0.3):
    """Return a judge by Davidson's model, which favours the first place."""
    rng = np.random.default_rng(seed)

    def judge(one, other):
        e, f = np.exp(strengths[one] + position), np.exp(strengths[other])
        u = rng.random() * (e + f + nu * np.sqrt(e * f))
        return "a" if u < e else "b" if u < e + f else "tie"

    return judge


def arena(k, seed, gap):
    """Return strengths of k players; with a gap, the best is so much ahead."""
    rng = np.random.default_rng(seed)
    strengths = np.sort(rng.normal(size=k))
    if gap:
        strengths[-1] = strengths[-2] + gap
    return rng.permutation(strengths)


class Uniform(module._Duels):
    """Duels of pairs at random, which end by the same rule."""

    def next(self, n):
        chosen = super().next(n)
        k = len(self._names)
        return [self._ordered(*self._rng.choice(k, 2, replace=False).tolist()) for _ in chosen]


def check_arenas(k, n, gap, budget):
    found = []
    for seed in range(n):
        strengths = arena(k, seed, gap)
        players = {str(i): i for i in range(k)}
        result = racer.duel(players, judge_of(strengths, seed), budget=budget, seed=seed)
        right = result.best == str(strengths.argmax())
        found.append((result.ended == "decided" and not right, result.evaluations))
    lost, votes = np.mean(found, axis=0)
    return lost, votes


@pytest.mark.thorough
@pytest.mark.timeout(3000)
@pytest.mark.parametrize(("k", "n"), [(5, 60), (20, 30)])
def test_the_best_is_seldom_lost_and_votes_are_few(k, n, monkeypatch):
    lost, votes = check_arenas(k, n, 1.0, 3000)
    assert lost <= 0.05
    # of 30 arenas without a gap, two are lost by chance now and then
    assert check_arenas(k, 80, None, 600)[0] <= 0.05
    monkeypatch.setattr(module, "_Duels", Uniform)
    # four times as many are enough to see that, in half of the arenas
    assert votes <= 0.6 * check_arenas(k, n // 2, 1.0, round(4 * votes))[1]


def test_a_clear_best_is_found_and_votes_go_into_compare_and_back():
    strengths = arena(5, 1, 3.0)
    players = {str(i): i for i in range(5)}
    result = racer.duel(players, judge_of(strengths, 1), budget=400, seed=1)
    assert (result.ended, result.best) == ("decided", str(strengths.argmax()))
    assert result.credible_set == (result.best,)
    ranking = racer.compare(result.votes, method="bradley-terry").ranking
    assert ranking["algorithm"][0] == result.best
    again = racer.duel(players, judge_of(strengths, 2), budget=9, votes=result.votes, seed=1)
    assert again.ended == "decided"
    assert again.evaluations < 9
    assert result.to_dict()["votes"][0].keys() == {"model_a", "model_b", "winner", "item"}


def test_pairs_meet_in_both_orders_on_each_item_once():
    result = racer.duel(["x", "y"], lambda a, b, item: "tie", ["p", "q", "r"], budget=50, seed=1)
    assert (result.ended, result.evaluations, result.best) == ("items", 6, None)
    assert not result.votes.duplicated(["model_a", "model_b", "item"]).any()
    assert result.votes["model_a"].tolist()[::2].count(result.votes["model_a"][0]) >= 2


def failing(a, b):
    raise ValueError("no answer")


@pytest.mark.parametrize(
    ("players", "judge", "ended", "best"),
    [
        (["x"], failing, "one player", "x"),
        (["x", "y"], failing, "all failed", None),
        (["x", "y"], lambda a, b: "neither", "all failed", None),
        (["x", "y", "z"], lambda a, b: "tie", "budget", None),
    ],
)
def test_ties_one_player_and_a_broken_judge_are_no_errors(players, judge, ended, best):
    result = racer.duel(players, judge, budget=25, seed=1)
    assert (result.ended, result.best) == (ended, best)
    assert str(result)


def test_a_coroutine_is_asked_for_several_pairs_at_a_time():
    running, most = [], []

    async def judge(a, b):
        running.append(a)
        most.append(len(running))
        await asyncio.sleep(0)
        running.pop()
        return "a" if a > b else "b"

    result = racer.duel({"x": 1, "y": 2, "z": 3}, judge, budget=60, n_jobs=4, seed=1)
    assert (result.best, max(most)) == ("z", 4)


def test_an_interrupt_keeps_the_votes():
    def judge(a, b):
        calls.append(a)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return "tie"

    calls = []
    with pytest.raises(racer.RaceInterrupted) as stop:
        racer.duel(["x", "y"], judge, budget=9, seed=1)
    assert (len(stop.value.result.votes), stop.value.result.ended) == (2, "interrupted")


@pytest.mark.parametrize(
    ("players", "more", "words"),
    [
        (["x", "x"], {}, "a name of its own"),
        (["x", "y"], {"votes": pd.DataFrame({"model_a": ["x"]})}, "no column"),
        (["x", "y"], {"budget": 0}, "budget"),
        (["x", "y"], {"items": [1]}, "too few arguments, 2"),
    ],
)
def test_wrong_calls_are_refused(players, more, words):
    with pytest.raises(racer.RacerError, match=words):
        racer.duel(players, failing, **({"budget": 5} | more))
