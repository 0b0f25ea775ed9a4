"""Run time as the cost: the cap, who is stopped at it, and what is made of that."""

from __future__ import annotations

import math
import zlib
from dataclasses import replace

import numpy as np
import pytest
from playing import Scripted, eliminated, play

import racer
from racer import Outcome, Runtime
from racer.evaluate.outcome import bounded
from racer.racing import Race
from racer.tuner import Tuner

SPACE = racer.Space({"x": racer.Real(0.0, 4.0)})
LIMIT = 40.0


def time_of(config, seed):
    """Return log-normal seconds: a hard or easy block, the candidate, noise of its own."""
    x = config["x"] if isinstance(config, dict) else config
    easy = np.random.default_rng(seed).normal()
    own = np.random.default_rng([seed, zlib.crc32(repr(config).encode())]).normal()
    return math.exp(0.4 * x + easy + own)


def played(contest):
    """Run it without workers; return the cells asked for, and their outcomes."""
    asked = []
    while cells := contest.ask():
        for cell in cells:
            time = time_of(cell.config, cell.seed)
            outcome = bounded(Outcome("ok", time, seconds=time), cell.bound)
            asked.append((cell, outcome))
            contest.tell(cell, outcome)
    return asked


def race(*, slack=2.0, budget=240, **more):
    return Race.of(range(8), budget=budget, seed=2, runtime=Runtime(LIMIT, slack=slack), **more)


def test_the_cap_is_a_function_of_earlier_blocks_and_the_same_for_all_of_a_block():
    contest = race()
    caps, told = {}, []
    while (cells := contest.ask()) and cells[0].block == contest.n_blocks:
        (caps[contest.n_blocks],) = {cell.bound for cell in cells}
        leaders = contest.ranked[:5]
        for cell in cells:
            time = time_of(cell.config, cell.seed)
            told.append((cell.block, cell.candidate, min(time, cell.bound)))
            contest.tell(cell, Outcome("ok", time, seconds=time))  # no one has to stop: it is as if
        if contest.tested_blocks >= 5 and cells[0].block > 5:
            before = [row for row in told if row[0] < cells[0].block]
            means = [np.mean([t for _, c, t in before if c == one]) for one in leaders]
            assert caps[cells[0].block] == pytest.approx(min(LIMIT, 2 * np.median(means)))
    assert {caps[block] for block in range(5)} == {LIMIT}
    assert min(caps.values()) < LIMIT / 2


def test_what_was_capped_runs_again_with_the_limit_before_the_last_test():
    contest = race()
    asked = played(contest)
    result = contest.result()
    first, again = {}, []
    for cell, outcome in asked:
        if cell.key in first:
            again.append(cell)
        else:
            first[cell.key] = outcome
    assert again
    assert {cell.bound for cell in again} == {LIMIT}
    assert {first[cell.key].status for cell in again} == {"capped"}
    assert result.evaluations == len(asked) <= 240
    assert (result.run_times["capped"] == 0).all()
    assert result.failures.empty


def test_nothing_is_kept_for_repeats_where_no_cap_is_below_the_limit():
    contest = Race.of(
        range(6), budget=36, seed=0, runtime=Runtime(LIMIT, slack=math.inf), first_test=2
    )
    # nobody can be told apart: each second block is the reverse
    turn = [lambda cell: 6.0 - cell.candidate, lambda cell: 1.0 + cell.candidate]
    assert play(contest, lambda cell: turn[cell.block % 2](cell)).evaluations == 36


def test_a_winner_that_was_capped_runs_again_and_is_not_tested_alone():
    contest = Race.of([0, 2, 4, 6], budget=400, seed=0, runtime=Runtime(LIMIT, slack=1.0))
    asked = played(contest)
    result = contest.result()
    assert len({cell.key for cell, _ in asked}) < len(asked)
    assert len(result.survivors) == 1
    assert result.verdicts["block"].is_unique


@pytest.mark.parametrize("slack", [1.0, 2.0, math.inf])
def test_the_best_has_the_smallest_par10_of_the_survivors(slack):
    contest = race(slack=slack)
    played(contest)
    result = contest.result()
    par = {}
    for candidate in result.survivors:
        seeds = [result.stream.place(block).seed for block in result.known.of(candidate)]
        times = [time_of(candidate, seed) for seed in seeds]
        par[candidate] = np.mean([10 * LIMIT if t >= LIMIT else t for t in times])
    assert par == pytest.approx(dict(result.run_times["score"]))
    assert list(par) == sorted(par, key=par.get)
    unsolved = result.run_times["unsolved"]
    scores = result.scores
    at_limit = scores[(scores["status"] == "capped") & (scores["value"] == LIMIT)]
    assert unsolved.sum() == at_limit["candidate"].isin(result.survivors).sum()


@pytest.mark.parametrize("utility", ["log", "linear", lambda t: -math.sqrt(t)])
def test_the_best_has_the_largest_utility(utility):
    contest = Race.of(range(5), budget=100, seed=2, runtime=Runtime(LIMIT, utility=utility))
    played(contest)
    scores = contest.result().run_times["score"].tolist()
    assert len(scores) > 1
    assert scores == sorted(scores, reverse=True)


def test_who_reaches_the_cap_on_every_block_is_eliminated_without_a_probability():
    contest = Race.of(
        [1.0, 1.1, 1.2, 1.3, 1.4, 2.5, 30.0],
        budget=100,
        seed=2,
        decider=Scripted(best=0),
        runtime=Runtime(LIMIT),
    )
    result = play(contest, lambda cell: Outcome("ok", cell.config, seconds=cell.config))
    (first, second) = eliminated(result)
    assert (first.block, first.candidate, first.reason, first.measure) == (
        4,
        6,
        "capped",
        "outcome",
    )
    assert second.candidate == 5
    assert "capped on all blocks, behind #0" in " ".join(
        racer.results.summary.why(drop) for drop in (first, second)
    )


def test_none_leaves_as_capped_where_nobody_is_faster():
    contest = Race.of(range(8), budget=80, seed=1, runtime=Runtime(5.0))
    assert eliminated(play(contest, lambda cell: Outcome("ok", 9.0, seconds=9.0))) == ()


def test_an_outcome_is_known_under_every_smaller_bound():
    slow = Outcome("ok", 5.0, seconds=5.0)
    assert bounded(slow, 6.0) == slow
    assert bounded(slow, 5.0) == replace(bounded(slow, 5.0), status="capped", value=5.0)
    assert bounded(slow, 2.0) == Outcome("capped", 2.0, seconds=2.0)
    assert bounded(Outcome("capped", 3.0, seconds=3.0), 2.0) == Outcome("capped", 2.0, seconds=2.0)
    assert bounded(Outcome("capped", 3.0, seconds=3.0), 4.0) is None
    assert bounded(Outcome("failed", None, seconds=1.0, message="no"), 2.0).status == "failed"
    assert bounded(Outcome("failed", None, seconds=3.0, message="no"), 2.0).status == "capped"


def of_kind(kind):
    """Return a contest of run times by ask and tell."""
    given = {"budget": 60, "seed": 1, "runtime": Runtime(LIMIT)}
    return Race.of(range(3), **given) if kind is Race else Tuner.of(SPACE, **given)


@pytest.mark.parametrize("kind", [Race, Tuner])
@pytest.mark.parametrize("status", ["ok", "capped"])
def test_a_negative_run_time_is_refused_and_leaves_the_contest_intact(kind, status):
    contest, negative = of_kind(kind), Outcome(status, -2.0, seconds=1.0)
    cells = contest.ask()
    words = f"candidate {cells[1].candidate} on block 0 was told with a run time of -2.0 s: give seconds"
    rest = [Outcome("ok", 0.0) for _ in cells[2:]]
    with pytest.raises(racer.RaceStateError, match=words):
        contest.tell_all([Outcome("ok", 1.0), negative, *rest])
    with pytest.raises(racer.RaceStateError, match=words):
        contest.tell(cells[1], negative)
    assert (contest.ask(), contest.result().evaluations) == (cells, 0)
    contest.tell_all([Outcome("ok", 1.0), Outcome("failed"), *rest])
    assert contest.result().best is None


def test_an_outcome_capped_too_early_is_refused():
    contest = race()
    (cell, *_) = contest.ask()
    with pytest.raises(racer.RaceStateError, match=r"capped at 1\.0 s .*evaluate it again"):
        contest.tell(cell, Outcome("capped", 1.0, seconds=1.0))
    other = Race(range(3), budget=60)
    with pytest.raises(racer.RaceStateError, match="the goal is not Runtime"):
        other.tell(other.ask()[0], Outcome("capped", 1.0))


def test_a_tuner_never_compares_times_under_different_caps(in_series):
    """Per race and block: one cap, which no elite has to be run again for."""
    tuner = Tuner.of(SPACE, budget=300, seed=4, runtime=Runtime(LIMIT), test_instances=[1, 2])
    asked = played(tuner)
    result = tuner.result()
    first, second = result.completed_races[:2]
    assert {cell.bound for cell, _ in asked[: tuner.rules.first_test * first.candidates]} == {LIMIT}
    of_second = [cell.bound for cell, _ in asked[first.evaluations : second.evaluations]]
    assert max(of_second) < LIMIT / 2  # as the elites of the first one are known
    runs = {}
    for cell, _ in asked:
        runs.setdefault(cell.key, []).append(cell.bound)
    assert {cell.bound for cell, _ in asked if cell.held_out} == {LIMIT}
    assert all(bounds == sorted(set(bounds)) for bounds in runs.values())  # again: a larger one
    assert min(min(bounds) for bounds in runs.values()) < LIMIT / 2
    assert result.evaluations == sum(not cell.held_out for cell, _ in asked) <= 300
    shared = result.known.common(result.survivors)
    times = result.known.costs(result.survivors)
    assert len(times) == len(shared)
    means = np.where(times >= LIMIT, 10 * LIMIT, times).mean(axis=0)
    assert means.tolist() == sorted(means.tolist())
    assert result.leader == result.survivors[0]


@pytest.mark.parametrize(
    ("decider", "fits"),
    [
        *((name, True) for name in ("bayesian-friedman", "f-race-sign", "f-race-mean-rank")),
        (racer.deciders.BayesianBest(), True),
        (racer.deciders.FixedConfidence(form="rank"), True),
        (racer.deciders.FRace(last_two="sign"), True),
        (racer.deciders.SequentialHalving(by="mean-rank"), True),
        *((name, False) for name in ("f-race", "t-race")),
        (racer.deciders.CorrelatedTRace(), False),
        (racer.deciders.SignedRankRace(), False),
        *((name, False) for name in ("anytime", "fixed-confidence", "halving", "best-for-budget")),
    ],
)
def test_deciders_say_whether_they_hold_for_capped_times(decider, fits):
    if fits:
        Race.of(range(3), budget=60, decider=decider, runtime=Runtime(1.0))
        return
    with pytest.raises(racer.SettingError, match="does not take capped run times: it goes by"):
        Race.of(range(3), budget=60, decider=decider, runtime=Runtime(1.0))
    Race.of(range(3), budget=60, decider=decider, runtime=Runtime(1.0, slack=math.inf))


def test_the_best_is_not_an_eliminated_one_that_was_slower_wherever_both_ran():
    """In seconds, the noise of the slow made all uncertain, and who was seen least the best."""
    right = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        speeds, hard = np.exp(rng.normal(size=8)), np.exp(rng.normal(size=40))
        contest = Race.of(range(8), range(40), budget=200, seed=seed, runtime=Runtime(10.0))
        while cells := contest.ask():
            for cell in cells:
                own = np.random.default_rng([cell.seed % 2**31, cell.candidate]).normal()
                time = speeds[cell.candidate] * hard[cell.instance] * math.exp(0.5 * own)
                contest.tell(cell, bounded(Outcome("ok", time, seconds=time), cell.bound))
        result = contest.result()
        best, leader = result.best_index, result.leader
        right += best == speeds.argmin()
        if best not in result.survivors:
            both = result.known.costs([best, leader])
            assert (both[:, 0] < both[:, 1]).any()
    assert right >= 11
