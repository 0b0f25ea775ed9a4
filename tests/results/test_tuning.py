"""Results of a tuning as frames and numbers."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from racer import (
    CandidateError,
    Ended,
    Instances,
    Integer,
    Outcome,
    Real,
    Runtime,
    Space,
    Tuner,
    tune,
)
from racer.render.sections import value_shown
from racer.results.page import race_table
from racer.tuner import RaceCompleted


@pytest.fixture(name="result", scope="module")
def _result(tuning):
    tuner = Tuner.of(
        tuning.mixed(),
        ["u", "v", "w"],
        budget=400,
        seed=4,
        initial=[{"kind": "c", "level": 1}],
        test_instances=["t"],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("racer.tuner.tuning.SMALL", 0)  # races in series
        tuning.play(tuner, lambda c: None if tuning.noise(c) > 1.5 else tuning.noisy(c))
    return tuner.result()


def test_scores_have_one_row_per_evaluation(result):
    scores = result.scores
    assert scores.columns.tolist() == [
        *("block", "instance", "seed", "candidate", "value", "status", "seconds", "message")
    ]
    assert len(scores) == result.evaluations == 400
    assert scores["block"].is_monotonic_increasing
    assert scores["value"].notna().eq(scores["status"] == "ok").all()
    assert {"ok", "failed"} == set(scores["status"])
    assert set(scores["instance"]) == {0, 1, 2}
    assert scores["seconds"].sum() == pytest.approx(result.seconds)
    assert set(scores.groupby("block")["seed"].nunique()) == {1}


def test_configurations_have_one_row_per_candidate(result):
    frame = result.configurations
    assert frame.columns.tolist()[:5] == ["race", "parent", "initial", "blocks", "mean"]
    assert set(frame.columns[5:]) == {"kind", "x", "n", "level"}
    assert frame.index.tolist() == list(range(len(result.configs)))
    assert frame["initial"].tolist() == [True] + [False] * (len(frame) - 1)
    assert frame["blocks"].sum() == 400
    best = result.best_index
    values = result.scores.query("candidate == @best")["value"]
    assert frame.loc[best, "mean"] == pytest.approx(values.mean()) == result.mean(best)
    assert frame.loc[best, "kind"] == result.best["kind"] == result.config(best)["kind"]
    assert frame["parent"].dtype == "Int64"
    parents = frame["parent"].dropna()
    assert not parents.empty
    assert all(result.origins[c].parent == parent for c, parent in parents.items())


@pytest.mark.parametrize("ended", [Ended.BUDGET, Ended.DEADLINE, Ended.INTERRUPTED])
def test_what_a_race_that_was_cut_short_has_used_did_not_go_to_the_elites(result, ended):
    cut = replace(result, ended=ended, evaluations=result.completed_races[-1].evaluations + 7)
    _, note = race_table(cut, cut.completed_races).pieces
    assert ("7 evaluations went to the elites" in note) == (ended is Ended.BUDGET)


def test_races_have_one_row_each(result):
    frame = result.races
    assert frame.columns.tolist() == list(RaceCompleted.__dataclass_fields__)
    assert frame["race"].tolist() == list(range(len(frame)))
    numbers = {*range(len(result.configs))}
    assert all(elites and {*elites} <= numbers for elites in frame["elites"])
    assert frame["evaluations"].is_monotonic_increasing


def test_clearly_worse_elites_can_be_told_from_the_best(tuning):
    tuner = Tuner(tuning.countable(3), budget=700, seed=1)
    tuning.play(tuner, lambda cell: 9.0 * cell.config["k0"] + tuning.noise(cell))
    result = tuner.result()
    assert result.best == {"k0": 0}
    assert len(result.elites) == 2
    assert result.indistinguishable == (result.best_index,)
    assert result.probability_best[result.best_index] > 0.95


def test_it_says_what_it_is(result):
    text = repr(result)
    assert text.startswith(f"Best so far: #{result.best_index}, but not surely: probability 0.")
    assert "P(best)" in text
    for name, value in result.best.items():
        assert re.search(rf"^ {name} +{value_shown(value)}$", text, re.MULTILINE)
    for elite in result.elites:
        assert re.search(rf" #{elite}\b", text)
    assert "Budget used: 400 evaluations" in text
    assert text.endswith("seed=4.")
    assert f'<td style="text-align:left">#{result.leaders[-1]}</td>' in result._repr_html_()


@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
def test_where_all_failed_there_is_no_best_and_the_frames_say_why(tuning):
    tuner = Tuner(tuning.reals(), budget=200, seed=1)
    tuning.play(tuner, lambda cell: Outcome("timeout", None, seconds=1.0, message="too long"))
    result = tuner.result()
    assert (result.best, result.best_index, result.elites) == (None, None, ())
    assert result.ended is Ended.ALL_FAILED
    assert set(result.scores["status"]) == {"timeout"}
    assert result.configurations["mean"].isna().all()
    assert isinstance(result.races, pd.DataFrame)
    assert (result.leaders, result.indistinguishable) == ((), ())
    assert "too few" in repr(result.importance)


@pytest.mark.parametrize("candidate", [-1, 10**6, 1.0, None, True])
def test_a_candidate_that_is_none_is_refused(result, candidate):
    for ask in (result.config, result.mean):
        with pytest.raises(CandidateError, match=f"candidate {candidate!r}: give a number from 0"):
            ask(candidate)


def test_a_held_out_mean_is_not_minus_zero():
    """Who fails on the only held-out instance is behind the others by their value, 0.93."""

    def evaluate(config, instance, seed):
        if instance < 9:
            return 9.0 - config["x"] + seed % 3 / 10
        if config["x"] < 2:
            raise ValueError("no")
        return 0.93

    space = Space({"x": Integer(0, 9)}, default={"x": 9})
    result = tune(
        space, evaluate, Instances(range(9), held_out=[100]), goal="max", budget=80, seed=3
    )
    assert 0.0 in result.test_means.values()
    assert "-0.0" not in map(str, result.test_means.values())
    assert " -0 " not in str(result)
    pytest.importorskip("matplotlib")
    ax = result.plot("test")
    assert ax.get_xlabel() == "value on 1 held-out instance"


@pytest.mark.filterwarnings("error:.*overflow")
def test_the_largest_float_is_its_own_mean_on_held_out_instances():
    most = sys.float_info.max

    def evaluate(config, instance, seed):
        return most if config["x"] else 1.0

    space = Space({"x": Integer(0, 9)})
    result = tune(space, evaluate, Instances(range(6), held_out=range(6, 12)), budget=80, seed=1)
    assert set(result.test_means.values()) == {1.0, most}


@pytest.mark.parametrize(("par", "criterion"), [(10.0, "PAR10"), (None, "mean rank")])
def test_scores_of_run_times_are_what_their_label_says(par, criterion):
    space, runtime = Space({"x": Integer(0, 30)}), Runtime(40.0, par=par)
    tuner = Tuner.of(space, budget=26, seed=1, first_test=2, runtime=runtime)
    while cells := tuner.ask():
        for cell in cells:
            own = (cell.config["x"] + cell.seed // 3) % 5
            tuner.tell(cell, Outcome("ok", 1.0 + cell.seed % 7 + own))
    result = tuner.result()
    scores = dict(result.run_times["score"])
    assert list(scores.values()) == sorted(scores.values())  # the order of the survivors
    times = result.table[list(result.leaders)]
    assert times.isna().any().any()  # some have seen more blocks than others
    times = times.dropna()
    expected = times.mean() if par else times.rank(axis=1).mean()
    survivors = result.to_dict()["survivors"]
    assert {one["candidate"]: one["score"] for one in survivors} == pytest.approx(dict(expected))
    assert {one["criterion"] for one in survivors} == {criterion}
    assert all(scores[c] == pytest.approx(expected[c]) for c in result.survivors)
    if par:
        assert [one["common_mean"] for one in survivors] == [one["score"] for one in survivors]


def test_the_result_says_on_how_many_instances_the_best_failed():
    space, cost = Space({"x": Integer(0, 2)}), lambda c, i, seed: [0, 1, None][c["x"]]
    result = tune(space, cost, range(20), budget=60, seed=1)
    seen = result.scores[result.scores["candidate"] == result.best_index]
    n = seen["instance"].nunique()
    assert result.verified == (n, 0, pytest.approx(1.0 - 0.05 ** (1.0 / n)))
    at_most = 100 * result.verified.at_most
    said = (
        f"The best failed on none of {n} instances: on at most {at_most:.0f} % of all such (95 %)."
    )
    assert said in str(result)
    assert result.to_dict()["verified"] == result.verified._asdict()


def test_a_failure_on_any_seed_counts_for_its_instance():
    space = Space({"x": Integer(0, 1)})
    tuner = Tuner(space, [0, 1, 2], budget=80, seed=1)
    while cells := tuner.ask():
        for cell in cells:  # on one instance each candidate fails with half of the seeds
            fails = cell.instance == 2 and (cell.seed + cell.config["x"]) % 2 == 0
            value = None if fails else 9.0 * cell.config["x"] + cell.seed % 3
            tuner.tell(cell, Outcome("failed" if fails else "ok", value))
    result = tuner.result()
    found = result.verified
    assert (found.instances, found.failed) == (3, 1)
    # the bound holds with equality: so few failures are as improbable as one in twenty
    p = found.at_most
    assert (1.0 - p) ** 3 + 3 * p * (1.0 - p) ** 2 == pytest.approx(0.05)


def test_elites_that_share_nothing_solved_are_printed():
    rng = np.random.default_rng(29)
    tuner = Tuner.of(Space({"x": Real(0, 1)}), range(6), budget=200, seed=29)
    for _ in range(60):
        for cell in tuner.ask():
            failed = rng.random() < 0.3
            value = None if failed else cell.config["x"] + cell.seed % 97 / 97
            tuner.tell(cell, Outcome("failed" if failed else "ok", value))
        result = tuner.result()
        assert result.best_index is None or f"#{result.best_index} " in str(result)
