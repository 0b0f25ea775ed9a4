"""The study of P(best): its counts, and the page that shows them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from experiments.reliability import answers, counts, tables, worlds
from experiments.reliability.worlds import FAILING, TIMED, WORLDS
from racer.stats import BestPosterior, best_posterior

ROOT = Path(__file__).parents[2]


@pytest.mark.thorough
def test_what_is_said_is_counted_with_what_is_true(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "CANDIDATES", (3,))
    monkeypatch.setattr(tables, "BUDGETS", (60,))
    monkeypatch.setattr(tables, "MORE", 1)
    monkeypatch.setattr(tables, "OVER_FOLDS", 1)
    monkeypatch.setattr(worlds, "HELD_OUT", 100)

    def counted(*words):
        given = ["--repetitions", "1", "--jobs", "1", *words]
        CliRunner().invoke(tables.main, given, catch_exceptions=False)
        return [pd.read_csv(tmp_path / f"{name}.csv") for name in ("reliability", "groups")]

    rows, groups = counted()
    of_all = rows[rows["group"] == "tables and races"]
    assert (of_all["said"] * of_all["candidates"]).sum() == pytest.approx(
        of_all["candidates"].sum() / 3, abs=0.1
    )  # of three candidates one is the best
    of_worlds = {*WORLDS, *FAILING, *TIMED}
    assert {"tables and races", "folds", "tunings", *of_worlds} < {*groups["group"]}
    assert counts.by_world(groups, list(FAILING)).count("\n") == 1 + 4
    again, other = counted("--parts", "failures")
    of_folds = [one[one["group"] == "folds"].reset_index(drop=True) for one in (again, rows)]
    assert of_folds[0].equals(of_folds[1])
    assert {*other["group"]} == {*groups["group"]}


@pytest.mark.parametrize("name", {**WORLDS, **FAILING, **TIMED})
def test_a_world_draws_the_same_again(name, monkeypatch):
    monkeypatch.setattr(worlds, "HELD_OUT", 100)
    drawn, again = ((WORLDS | FAILING | TIMED)[name](5, 3) for _ in range(2))
    table = np.array([drawn.costs(block) for block in range(200)])
    assert np.array_equal(table, [again.costs(block) for block in range(200)])
    assert len(drawn.quality) == table.shape[1] == 5
    assert np.isinf(table).any() == ("fail" in name or "hang" in name)


def test_equals_share_the_truth():
    found = counts.said(
        "tables", "w", np.array([0.0, 1.0, 0.0]), best_posterior([[1.0, 2.0, 1.1]] * 5)
    )
    assert found.truth.tolist() == [0.5, 0.0, 0.5]
    assert found.regret == 0.0


def test_of_tunings_the_best_is_sought_among_those_that_are_compared():
    quality = np.array([0.0, 1.0, 2.0])
    posterior = best_posterior([[9.0, 2.0, 1.1]] * 5, among=[1, 2])
    found = counts.said("tunings", "w", quality, posterior, 1, (1, 2))
    assert found.truth.tolist() == [1.0, 0.0]
    assert found.probability.sum() == pytest.approx(1.0)
    assert (found.covered, found.regret, found.leader_regret) == (0.0, 2.0, 1.0)


def test_a_summary_has_the_worst_bin_regret_and_logarithm(monkeypatch):
    monkeypatch.setattr(counts, "MANY", 2)
    posterior = BestPosterior(np.array([0.7, 0.3]), np.zeros(2), 1)
    quality = np.array([1.0, 0.0])
    found = counts.summary([counts.said("f-race", "w", quality, posterior, 1)] * 2)
    assert found == (2, 1.0, 1.0, -0.7, 1.0, 0.0, 2, 0.7, 0.0, round(np.log(0.3), 4))


def test_a_credible_set_claims_what_its_candidates_have():
    posterior = BestPosterior(np.array([0.9, 0.08, 0.02]), np.zeros(3), 1)
    found = counts.said("tables", "w", np.array([2.0, 1.0, 0.0]), posterior)
    assert (found.claimed, found.covered) == (pytest.approx(0.98), 0.0)


def test_contradictions_and_claims_are_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(answers, "HERE", tmp_path)
    monkeypatch.setattr(answers, "EQUALS", (3,))
    given = ["--repetitions", "1", "--jobs", "1"]
    CliRunner().invoke(answers.main, given, catch_exceptions=False)
    rows = pd.read_csv(tmp_path / "answers.csv", index_col="kind")
    for kind in ("races", "tunings"):
        assert rows.loc[f"{kind}: contradictions"].tolist() == [0, 1]
    assert rows.loc["3 equals: friedman", "of"] == 1


@pytest.mark.parametrize("page", ["probabilities", "evidence_probabilities"])
def test_the_pages_name_the_largest_error(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    counted = pd.read_csv(tables.HERE / "reliability.csv")
    some = counted[counted["group"] == "tables and races"]
    worst = float((some["said"] - some["true"]).abs().max())
    assert re.search(r"is within (\.\d+) of", text)[1] == f"{worst:.3f}"[1:]
