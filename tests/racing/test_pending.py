"""A result in the middle of a block: all that has been told is in it, each cell once."""

from __future__ import annotations

import math
import random

import flat
import pytest

import racer
from racer import Outcome
from racer.deciders import FRace
from racer.errors import RacerWarning
from racer.evaluate.outcome import bounded
from racer.racing.ablation import Ablation
from racer.run.progress_state import ProgressState
from racer.store.load import check_store
from racer.store.reader import open_to_read

POOL = ["a", "b", "c", "d"]
FAILED = Outcome("failed", message="no licence")


def value_of(cell):
    return POOL.index(cell.config) + random.Random(cell.seed).random()


def told(contest, cells, *, outcome=lambda cell: Outcome("ok", value_of(cell), seconds=1.0)):
    """Play until so many cells have outcomes."""
    for _ in range(cells):
        cell = first_of(contest)
        contest.tell(cell, outcome(cell))
    return contest


def first_of(contest):
    """Return the first cell by its candidate's number, whatever the order of evaluation."""
    return min(contest.ask(), key=lambda cell: cell.key)


def race(instances=(1, 2, 3, 4, 5, 6), **more):
    return racer.Race.of(POOL, instances, **{"budget": 60, "seed": 1, "first_test": 3} | more)


def test_outcomes_of_a_block_that_is_not_complete_are_in_the_result():
    contest = told(race(), 9)
    contest.tell(first_of(contest), FAILED)
    result = contest.result()
    assert (result.evaluations, len(result.scores), result.seconds) == (10, 10, 9.0)
    assert result.failures[["block", "candidate", "message"]].to_numpy().tolist() == [
        [2, 1, "no licence"]
    ]
    assert result.to_dict()["failures"] == 1
    assert [len(result.known.of(c)) for c in range(4)] == [3, 3, 2, 2]
    text = " ".join(str(result).split())
    assert "10 of 60 evaluations, 1 of them failed, on 3 instances" in text
    assert ", 3 evaluations)." in result.verdict[0]


def test_they_count_in_the_probability_to_be_the_best_by_their_values_not_their_order():
    results = []
    for order, value in (("forth", 0.5), ("back", 0.5), ("forth", 50.0)):
        contest = told(race(), 8)
        cells = contest.ask()[:3]
        for cell in cells if order == "forth" else cells[::-1]:
            contest.tell(cell, Outcome("ok", value if cell.candidate == 0 else value_of(cell)))
        results.append(contest.result())
    one, other, worse = (result.probability_best for result in results)
    assert one == other
    assert results[0].scores.equals(results[1].scores)
    assert worse[0] < one[0]


def test_a_rejected_candidate_is_not_the_best():
    contest = told(race(), 12)
    assert contest.result().best_index == 0
    contest.tell(first_of(contest), Outcome("rejected", message="wrong answer"))
    assert contest.result().probability_best[0] == 0.0
    assert contest.result().best_index == 1


def test_a_repeated_cell_takes_the_place_of_the_capped_one():
    contest = racer.Race.of(range(8), budget=240, seed=2, runtime=racer.Runtime(40.0))
    known = {}
    while (cell := contest.ask()[0]).key not in known:
        time = math.exp(0.4 * cell.config + random.Random(f"{cell.seed}{cell.config}").gauss())
        known[cell.key] = bounded(Outcome("ok", time, seconds=time), cell.bound)
        contest.tell(cell, known[cell.key])
    before = contest.result()
    contest.tell(cell, FAILED)
    result = contest.result()
    assert known[cell.key].status == "capped"
    assert result.known.of(cell.candidate)[cell.block] is FAILED
    assert (len(result.scores), result.evaluations) == (len(known), len(known) + 1)
    assert len(result.failures) == len(result.known.failures) == 1
    assert before.known.of(cell.candidate)[cell.block] == known[cell.key]


def test_a_block_that_may_only_repeat_others_is_no_evidence_yet():
    contest = told(race(instances=(1, 2, 3), decider=FRace(alpha=1e-9)), 12)
    before = contest.result()
    result = told(contest, 2).result()
    assert len(result.scores) == len(before.scores) + 2
    assert result.blocks["set_aside"].tolist() == [False, False, False, True]
    assert result.probability_best == before.probability_best


def test_a_block_is_not_set_aside_before_all_have_failed_on_it():
    pool = [{"x": x} for x in POOL]
    space = racer.Space({"x": racer.Categorical(POOL)})
    for contest in (
        racer.Race.of(pool, range(6), budget=60, seed=1, deterministic=True),
        racer.Tuner.of(space, range(6), budget=60, seed=1, deterministic=True),
    ):
        n = len(contest.ask())
        told(contest, n - 1, outcome=lambda _: FAILED)
        result = contest.result()
        assert len(result.failures) == n - 1
        assert (result.known.n_unsolved, result.blocks["set_aside"].tolist()) == (0, [False])
        with pytest.warns(RacerWarning, match="block 0 is set aside"):
            contest.tell(first_of(contest), FAILED)
        result = contest.result()
        assert (result.known.n_unsolved, result.blocks["set_aside"].tolist()) == (1, [True])


@pytest.mark.parametrize("outcome", [FAILED, Outcome("ok", -1e6)], ids=["failed", "ok"])
def test_a_group_has_no_mean_before_its_last_block_is_complete(outcome):
    contest = told(race(groups=[1, 1, 2, 2, 3, 3], deterministic=True), 12)
    before = contest.result()
    contest.tell(contest.ask()[3], outcome)
    result = contest.result()
    assert result.known.n_unsolved == 0
    assert len(result.scores) == 13
    assert result.probability_best == before.probability_best


def test_what_they_cost_is_spent_at_their_price():
    prices = [1.0, 2.0, 3.0, 4.0]
    contest = told(race(budget=racer.Budget(spend=90.0, prices=prices)), 10)
    result = contest.result()
    assert result.spent == result.scores["spend"].sum() == 23.0
    told(contest, 2)
    assert contest.result().spent == 30.0
    space = racer.Space({"x": racer.Categorical(POOL)})
    tuner = racer.Tuner(
        space, budget=racer.Budget(spend=90.0, prices=lambda config, instance: 2.0), seed=1
    )
    assert told(tuner, 3, outcome=lambda _: Outcome("ok", 1.0)).result().spent == 6.0


def test_an_ablation_has_them_too():
    space = racer.Space({"x": racer.Real(0, 1)})
    contest = Ablation(space, {"x": 0.0}, {"x": 1.0}, [1, 2, 3], [1, 2, 3], budget=60, seed=1)
    result = told(contest, 3, outcome=lambda _: FAILED).result()
    assert (result.evaluations, len(result.known.failures)) == (3, 3)


@pytest.mark.parametrize("least", [1, 1000])  # with its result, and without it
@pytest.mark.parametrize("calls", [3, 11])
def test_a_store_of_a_race_that_stopped_there_brings_the_same_result(
    calls, least, monkeypatch, tmp_path, path
):
    monkeypatch.setattr("racer.store.result.LEAST", least)
    clock = [0.0]
    monkeypatch.setattr("racer.run.deadline._clock", lambda: clock[0])

    def evaluate(config, instance, seed):
        clock[0] += 1.0
        if clock[0] == calls:
            raise ValueError("no")
        return POOL.index(config) + seed % 7 + instance

    def seen(path, **more):
        blocks = []
        given = {"budget": 40, "seed": 1, "first_test": 3, "store": path}
        with monkeypatch.context() as patch:
            patch.setattr("racer.run.drive.warn", lambda text: None)
            result = flat.race(
                *(POOL, evaluate, [1, 2, 3, 4]),
                callbacks=[lambda event: blocks.append(getattr(event, "block", None))],
                **given | more,
            )
        return result, blocks

    result, blocks = seen(path, budget=racer.Budget(evaluations=40, wall=calls))
    assert (result.evaluations, len(result.scores), len(result.failures)) == (calls, calls, 1)
    again = racer.load(path)
    assert again.scores.equals(result.scores)
    assert again.to_dict() == result.to_dict()
    assert str(again) == str(result)
    assert check_store(path).problems == []
    with open_to_read(str(path)) as reader:
        assert (reader.result is not None) == (calls >= least)
    whole, more = seen(path)
    clock[0] = 0.0
    plain, every = seen(tmp_path / "plain.db")
    assert whole.scores.drop(columns="seconds").equals(plain.scores.drop(columns="seconds"))
    assert blocks[:-1] + more == every


def test_progress_of_a_race_that_goes_on_counts_each_cell_once():
    given = {"metrics": {"a": "min", "b": "min"}, "objective": racer.Pareto("a", "b")}

    def measured(cell):
        a = value_of(cell)
        return Outcome("ok", a, metrics={"a": a, "b": -a})

    contest = told(race(**given), 9, outcome=measured)
    state = ProgressState(0.0)
    state.begin(contest, 1, lambda: 0)
    assert state.work.evaluations == 9
    assert state._means is not None
    assert {c: sums[0] for c, sums in state._means._sums.items()} == dict.fromkeys(range(4), 2)
