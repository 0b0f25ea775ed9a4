"""The result: frames, probabilities, and what it looks like."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import flat
import numpy as np
import pandas as pd
import pytest
from playing import eliminated

import racer
from racer import Race
from racer.deciders import CorrelatedTRace, MeanRace
from racer.results import scores
from racer.results.summary import configurations, eliminations


@pytest.fixture(scope="module")
def result(racing):
    settings = {"decider": "t-race", "budget": 60, "seed": 5, "min_survivors": 2}
    race = Race.of([{"x": x} for x in (2, 1, 3)], ["a", "b"], **settings)

    def evaluate(cell):
        if (cell.block, cell.candidate) == (1, 2):
            return None
        return racing.noisy(replace(cell, config=cell.config["x"]), 0.01)

    return racing.play(race, evaluate)


@pytest.fixture(scope="module")
def decided():
    """Return a race that the default decider decides."""
    return racer.race([1, 2, 3], lambda c, instance, seed: c + seed % 7, budget=90, seed=1)


def test_scores_are_blocks_by_candidates(result):
    table = result.table
    assert table.shape == (len(result.blocks), 3)
    assert (table.index.name, table.columns.name) == ("block", "candidate")
    assert table.dtypes.unique().tolist() == ["float64"]
    assert pd.isna(table.loc[1, 2])
    assert table.loc[0, 2] == pytest.approx(3, abs=0.1)
    assert table.count().sum() == result.evaluations - len(result.failures)


def test_configurations_that_are_left_out_are_counted(racing):
    race = Race([{"x": x} for x in range(8)], decider=racing.Scripted({}), budget=80)
    result = racing.play(race, lambda cell: cell.config["x"])
    (section,) = configurations(result)
    assert len(section.pieces[0].head) == 1 + 6
    assert section.pieces[1:] == ("And 2 more.",)
    (section,) = configurations(result, 8)
    assert len(section.pieces) == 1


def test_seconds_of_evaluation_are_left_out_where_nobody_told_them():
    race = Race([1, 2], budget=10)
    cell = race.ask()[0]
    assert " s." not in str(race.result())
    race.tell(cell, racer.Outcome("ok", 1.0, seconds=2.5))
    assert "2.5 s." in str(race.result())


def test_eliminations_have_a_row_each(result):
    frame = result.eliminations
    assert list(frame) == ["block", "candidate", "reason", "against", "probability", "measure"]
    row = frame.iloc[0]
    assert (row.candidate, row.reason, row.against, row.measure) == (2, "inferior", 1, "p-value")
    assert 0 <= row.probability < 0.05
    assert len(frame) == len(eliminated(result)) == 1


def test_eliminations_by_the_posterior_have_no_second_probability(decided):
    assert list(decided.eliminations) == ["block", "candidate", "reason", "against"]
    assert set(decided.eliminations["candidate"]) == {1, 2}
    assert eliminations(decided).pieces[1].head == ("candidate", "run", "reason", "against")


def test_failures_have_a_row_each(result):
    frame = result.failures[["block", "candidate", "status", "message"]]
    assert frame.to_dict("records") == [
        {"block": 1, "candidate": 2, "status": "failed", "message": "it failed"}
    ]


def test_a_column_of_scores_is_one_line_and_is_filled(monkeypatch, path):
    added = (
        scores.Column("worker", "str", "host:pid", lambda e: e.outcome.worker),
        scores.Column("attempts", "int64", "from 1", lambda e: e.outcome.attempts),
    )
    monkeypatch.setattr(scores, "COLUMNS", (*scores.COLUMNS, *added))
    calls = Counter()

    def evaluate(config, instance, seed):
        calls[config, seed] += 1
        if config == 1 and calls[config, seed] == 1:
            raise ValueError("the first time")
        return config

    raced = racer.race(
        [0, 1, 2], evaluate, budget=30, seed=1, limits=racer.Limits(retries=1), store=path
    )
    for frame in (raced.scores, racer.load(path).scores):
        assert frame["worker"].str.fullmatch(r".+:\d+").all()
        assert set(frame["status"]) == {"ok"}
        assert (frame["attempts"] == 1 + (frame["candidate"] == 1)).all()


def test_columns_of_scores_are_documented(result):
    assert list(result.scores) == [column.name for column in scores.COLUMNS]
    assert all(column.doc and "|" not in column.doc for column in scores.COLUMNS)
    page = Path(__file__).parents[2] / "docs" / "reference" / "races.md"
    assert "<!-- columns of result.scores -->" in page.read_text(encoding="utf-8")


def test_blocks_have_a_row_each(result):
    blocks = result.blocks
    assert list(blocks) == ["instance", "seed", "evaluated", "set_aside"]
    assert blocks.index.name == "block"
    assert blocks["instance"].tolist()[:4] == [0, 1, 0, 1]
    assert blocks["evaluated"].sum() == result.evaluations
    assert not blocks["set_aside"].any()


def test_without_instances_their_index_is_missing(racing):
    result = racing.play(Race([1, 2], budget=10), racing.noisy)
    assert result.blocks["instance"].isna().all()
    assert str(result.blocks["instance"].dtype) == "Int64"


def test_frames_of_a_race_without_blocks():
    result = Race(["only"], budget=10).result()
    assert result.table.shape == (0, 1)
    assert result.eliminations.empty
    assert result.failures.empty
    assert result.blocks.empty
    assert list(result.blocks) == ["instance", "seed", "evaluated", "set_aside"]
    assert result.probability_best == {0: 1.0}
    assert (result.best, result.evaluations, result.seconds) == ("only", 0, 0.0)


def test_probabilities_of_all_candidates_sum_to_one(result):
    assert list(result.probability_best) == [0, 1, 2]
    assert sum(result.probability_best.values()) == pytest.approx(1)
    assert result.probability_best[1] > 0.8  # who has not failed yet may
    assert all(type(p) is float for p in result.probability_best.values())
    assert result.best_index == result.credible_set[0] == result.leaders[0]


def test_repr_says_how_it_ended(result):
    text = " ".join(repr(result).split())
    assert text.startswith("#1 is the best of 3 (probability > 0.99).")
    assert "the best among all candidates, those eliminated" in " ".join(result.details().split())
    assert " x 1 " in text
    assert "#1" in text
    assert "#0" in text
    assert f"Decided after {result.evaluations} of 60 evaluations" in text
    assert text.endswith("Repeat with seed=5.")
    assert "P(best)" in result._repr_html_()


def test_best_is_whom_all_that_is_known_speaks_for(racing):
    """Candidate 0 stands first, worse by little in all blocks but one, and fails there."""
    race = Race.of(["a", "b"], decider=racing.Scripted(best=0), budget=20, first_test=10)
    result = racing.play(race, lambda c: (None if c.block == 3 else 1) if c.config == "a" else 0.5)
    assert result.best_index == 1
    assert result.probability_best[1] > 0.8  # who has not failed yet may
    assert result.leaders == (1, 0)


def test_a_best_that_was_eliminated_is_said_to_be(racing):
    """A candidate that was the best by far goes, as a decider of the user's has it."""
    race = Race([0, 5, 6, 7], decider=racing.Scripted({8: [0]}), budget=70)
    result = racing.play(race, lambda cell: racing.noisy(cell, 0.1))
    assert (result.best, 0 in result.survivors) == (0, False)
    assert result.leaders[0] == 0
    text = " ".join(str(result).split())
    said = "#0 was eliminated after run 8 (by the rule of Scripted, which is not P(best): "
    assert f"{said}inferior to #1); given all outcomes, none is likelier to be" in text
    assert result.to_dict()["survivors"][0]["candidate"] == 0


def test_failures_of_the_survivors_are_a_column(racing):
    race = Race.of([1, 2, 3], decider="f-race", budget=24, min_survivors=2)
    result = racing.play(race, lambda c: None if (c.block, c.candidate) == (1, 0) else c.config)
    assert "failed" in " ".join(str(result).split())
    rows = {row["candidate"]: row["failed"] for row in result.to_dict()["survivors"]}
    assert rows.get(0, 1) == 1
    assert set(rows.values()) <= {0, 1}


@pytest.mark.parametrize("n", [1, 2])
def test_one_rival_is_not_one_of_several(racing, n):
    race = Race([1.0, 1.01, 1.02, 9.0][2 - n :], budget=90, seed=4)
    result = racing.play(race, lambda cell: racing.noisy(cell, 1.0))
    rivals = [f"#{c}" for c in result.credible_set if c != result.best_index]
    assert len(rivals) == n
    said = f"{n} other{'s' * (n > 1)} may be better (95 %): {', '.join(rivals)}."
    assert said in " ".join(str(result).split())


def test_a_set_of_all_candidates_and_a_best_below_one_half_are_said_to_be_that(racing):
    result = racing.play(
        Race([1.0, 1.01, 1.02, 1.03], budget=60, seed=4), lambda cell: racing.noisy(cell, 1.0)
    )
    text = " ".join(str(result).split())
    assert len(result.credible_set) == 4
    assert text.startswith(f"Best so far: #{result.best_index}, but not surely: probability 0.")
    assert "Any of the others may be better (95 %)." in text


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"deterministic": True}, "others like them: Instances(.., generalize=True)."),
        ({"deterministic": True, "generalize": True}, "Instances(.., generalize=False)."),
        ({"decider": "mean"}, "For others like them: racer.deciders.MeanRace(population=True)."),
        ({"decider": MeanRace(population=True)}, "racer.deciders.MeanRace(population=False)."),
        ({"decider": CorrelatedTRace(0.2), "deterministic": True}, None),  # data like these
        ({"budget": 20}, None),  # instances are a sample, of which each is used once
    ],
)
def test_a_race_of_given_instances_says_what_it_is_about(settings, said):
    def evaluate(config, instance, seed):
        return (0.1 * config + instance * 7 % 12 / 12) / 2

    found = flat.race([0, 1], evaluate, range(12), **{"budget": 24, "seed": 1, **settings})
    about = [sentence for sentence in found.verdict if sentence.startswith("This is about")]
    assert bool(about) == (said is not None)
    assert said is None or said in about[0]


def test_a_table_of_eliminations_has_the_same_types_if_it_is_empty(decided, racing):
    none = racing.play(Race([0, 1], budget=20, seed=1), lambda cell: 1.0)
    assert len(decided.eliminations) > 0 == len(none.eliminations)
    assert decided.eliminations.dtypes.tolist() == none.eliminations.dtypes.tolist()


def test_blocks_have_the_same_number_wherever_they_are_shown(result):
    gone = eliminated(result)[0]
    assert result.eliminations["block"].tolist() == [gone.block]
    (row,) = eliminations(result).pieces[1].rows
    assert row[:2] == (f"#{gone.candidate}", str(gone.block + 1))
    ax = result.plot()
    (mark,) = [line for line in ax.lines if line.get_label() == gone.reason]
    assert mark.get_xdata().tolist() == [gone.block + 1.5]  # the right edge of its last cell
    assert ax.collections[0].get_coordinates()[0, :2, 0].tolist() == [0.5, 1.5]  # of block 0


def test_numbers_of_numpy_are_shown_as_numbers():
    numbers = np.arange(4)
    for configs in ([{"n": n, "pair": (n, n > 1)} for n in numbers], list(numbers)):
        race = Race(configs, budget=60, seed=1)
        while cells := race.ask():
            race.tell_all([racer.Outcome("ok", float(cell.candidate)) for cell in cells])
        result = race.result()
        assert "np." not in str(result)
        plain = json.loads(json.dumps(result.to_dict()))
        expected = {"n": 0, "pair": [0, False]} if isinstance(configs[0], dict) else 0
        assert plain["best"] == plain["survivors"][0]["config"] == expected
        assert result.best is configs[0]


@pytest.mark.parametrize("goal", ["min", "max"])
def test_a_decided_race_prints_the_mean_of_the_survivor_once(goal):
    sign = 1 if goal == "min" else -1
    given = {"goal": goal, "decider": "f-race", "budget": 60, "seed": 1}
    result = racer.race([1, 2, 3], lambda c, i, seed: sign * c + seed % 7 / 10, **given)
    assert result.survivors == (0,)
    row = re.search(r"mean on (\d+) runs +runs\n .+\n #0 +>0.99 +(\S+) ", str(result))
    assert float(row[2]) == pytest.approx(result.table[0].mean(), rel=1e-3)
    assert int(row[1]) == len(result.table)
    bounded = racer.race([0.1, 0.9], lambda c, i, seed: c, budget=60, decider="mean", seed=1)
    assert bounded.survivors == (0,)
    assert ("Mean scores" in str(bounded), "Survivors" in str(bounded)) == (True, False)


def test_one_evaluation_and_one_block_are_no_plurals():
    def text(**given):
        found = flat.race([1, 2], lambda x, instance, seed: x + seed % 7, ["a"], seed=1, **given)
        return str(found).replace("\n", " ")

    assert "Budget used: 2 of 3 evaluations, on 1 instance." in text(budget=3, first_test=1)
    longer = text(budget=13, first_test=2)
    assert "This is about this one instance. For others like it: Instances(" in longer


def _noisy(config, instance, seed):
    return config + np.random.default_rng((seed, int(10 * config))).standard_normal()


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (0, ['At the last test no pair was compared: "all alike" was not rejected.']),
        (8, ["At the last test 1 pair would be decided by the prior."]),
        (13, []),
    ],
)
def test_a_race_that_knows_no_prior_says_what_left_pairs_open(seed, said):
    decider = racer.deciders.SignedRankRace()
    found = racer.race([0, 0.3, 0.9, 1.5], _noisy, budget=80, decider=decider, seed=seed)
    assert [s for s in found.to_dict()["verdict"] if s.startswith("At the last test")] == said


@pytest.mark.parametrize(
    ("decider", "seed", "said"),
    [("f-race", 5, "#1 was"), ("bayesian-friedman-2015", 7, "#1, #2 were")],
)
def test_another_model_than_the_posterior_is_named_where_the_two_differ(decider, seed, said):
    found = racer.race([0, 0.5, 1, 3], _noisy, budget=80, decider=decider, seed=seed)
    text = " ".join(str(found).split())
    assert set(found.credible_set) > set(found.survivors) == {0}
    rule = (
        f"{said} eliminated by the rule of '{decider}', on the outcomes until then; P(best) weighs"
    )
    assert f"{rule} all outcomes of all candidates, so that the two may differ." in text
    own = "probability" in found.eliminations
    assert own == (decider == "f-race")
    assert all(("probability" in gone) == own for gone in found.to_dict()["eliminations"])


def test_candidates_that_left_as_good_as_another_are_named_beside_the_set():
    found = racer.race([1, 2, 3, 4], lambda c, i, seed: c // 4, budget=400, seed=1)
    assert found.credible_set == (0, 1, 2)
    assert "#1, #2 were eliminated beside another that is as good." in found.verdict


def test_a_long_text_is_named_by_its_beginning():
    prompts = [f"You are careful. {'Think. ' * 90}{i}" for i in range(4)]
    given = {"goal": "max", "decider": "mean", "budget": 60, "seed": 1}
    result = racer.race(prompts, lambda c, i: float(i % 4 < int(c[-1])), range(30), **given)
    assert len(str(result).splitlines()) < 60
