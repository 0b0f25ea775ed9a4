"""The study of P(best): its counts, and the page that shows them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from experiments.reliability import answers, ideal, tables

ROOT = Path(__file__).parents[2]


def test_what_is_said_is_counted_with_what_is_true(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "CANDIDATES", (3,))
    monkeypatch.setattr(tables, "BUDGETS", (60,))
    monkeypatch.setattr(tables, "MORE", 1)
    page = tmp_path / "page.md"
    page.write_text("Before.\n\n| said | tunings |\n|---|---|\n| x | y |\n\n| said | other |\n\n")
    found = CliRunner().invoke(
        tables.main, ["--repetitions", "1", "--jobs", "1", "--page", str(page)]
    )
    assert found.exit_code == 0, found.output
    assert "tables and races: the credible set holds the best in" in found.output
    with (tmp_path / "reliability.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before.\n\n| said | tables and races | of these, `best-for-budget` |")
    assert text.endswith("|\n\n| said | other |\n\n")
    of_all = [row for row in rows if row["group"] == "tables and races"]
    said = sum(float(row["said"]) * int(row["candidates"]) for row in of_all)
    n = sum(int(row["candidates"]) for row in of_all)
    assert said == pytest.approx(n / 3, abs=0.1)  # of three candidates one is the best


def test_equals_share_the_truth():
    found = tables.said(
        "tables", "w", np.array([0.0, 1.0, 0.0]), tables.best_posterior([[1.0, 2.0, 1.1]] * 5)
    )
    assert found.truth.tolist() == [0.5, 0.0, 0.5]
    assert found.regret == 0.0


def test_of_tunings_the_best_is_sought_among_those_that_are_compared():
    quality = np.array([0.0, 1.0, 2.0])
    posterior = tables.best_posterior([[9.0, 2.0, 1.1]] * 5, among=[1, 2])
    found = tables.said("tunings", "w", quality, posterior, 1, (1, 2))
    assert found.truth.tolist() == [1.0, 0.0]
    assert found.probability.sum() == pytest.approx(1.0)
    assert (found.covered, found.regret, found.leader_regret) == (0.0, 2.0, 1.0)


def test_the_page_shows_what_was_counted():
    page = (ROOT / "docs" / "evidence_probabilities.md").read_text(encoding="utf-8")
    with (tables.HERE / "reliability.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    of_all = [row for row in rows if row["group"] == "tables and races"]
    cells = re.findall(r"^\| \S+ to \S+ \| (\d\.\d\d) → (\d\.\d\d)", page, re.MULTILINE)
    known = [(f"{float(row['said']):.2f}", f"{float(row['true']):.2f}") for row in of_all]
    assert cells == known
    assert "\n".join(tables.lines(pd.read_csv(tables.HERE / "reliability.csv"))) in page


def test_contradictions_and_claims_are_counted(monkeypatch, tmp_path):
    monkeypatch.setattr(answers, "HERE", tmp_path)
    monkeypatch.setattr(answers, "EQUALS", (3,))
    found = CliRunner().invoke(answers.main, ["--repetitions", "1", "--jobs", "1"])
    assert found.exit_code == 0, found.output
    with (tmp_path / "answers.csv").open(encoding="utf-8") as file:
        rows = {row["kind"]: (int(row["found"]), int(row["of"])) for row in csv.DictReader(file)}
    assert rows["races: contradictions"] == rows["tunings: contradictions"] == (0, 1)
    assert rows["3 equals: friedman"][1] == 1


def test_the_worst_bin_and_the_regret_are_those_of_enough_candidates(monkeypatch):
    monkeypatch.setattr(tables, "MANY", 2)
    posterior = tables.BestPosterior(np.array([0.7, 0.3]), np.zeros(2), 1)
    quality = np.array([1.0, 0.0])
    found = tables.summary([tables.said("f-race", "w", quality, posterior, 1)] * 2)
    assert found == (2, 1.0, 1.0, -0.7, 1.0, 0.0, 2)


def test_a_credible_set_claims_what_its_candidates_have():
    posterior = tables.BestPosterior(np.array([0.9, 0.08, 0.02]), np.zeros(3), 1)
    found = tables.said("tables", "w", np.array([2.0, 1.0, 0.0]), posterior)
    assert (found.claimed, found.covered) == (pytest.approx(0.98), 0.0)


def test_the_exact_posterior_is_right_on_average_over_its_worlds():
    rng = np.random.default_rng(0)
    said, true = [], []
    for world in (*ideal.WIDTHS, "one better", "all equal"):
        for _ in range(100):
            quality = ideal.drawn(world, 4, rng)
            found = ideal.posterior(quality + 0.2 * rng.standard_normal(4), 0.2)
            assert found.sum() == pytest.approx(1.0, abs=1e-6)
            said.append(found.max())
            best = quality <= quality.min()
            true.append(best[found.argmax()] / best.sum())
    assert abs(np.mean(said) - np.mean(true)) < 2.0 * 0.5 / np.sqrt(len(said))


def test_of_two_the_exact_posterior_goes_by_their_difference():
    near, far = ideal.posterior(np.array([0.0, 0.1]), 0.3), ideal.posterior(np.array([0, 2.0]), 0.3)
    assert 0.5 < near[0] < far[0] < 1.0
    np.testing.assert_allclose(ideal.posterior(np.array([0.1, 0.0]), 0.3), near[::-1], atol=1e-6)


def test_the_best_is_compared_with_the_decider_s_first_in_each_world():
    groups = pd.read_csv(tables.HERE / "groups.csv").set_index("group")
    shown = re.findall(
        r"^\| (\S.*?) +\| (\d+) ", tables.best_or_first(groups.reset_index()), re.MULTILINE
    )
    assert dict(shown) == {name: str(int(groups.loc[name, "races"])) for name, _ in shown}
    assert {*tables.worlds(3)} < {name for name, _ in shown}
    assert (groups.loc[[*tables.worlds(3)], "races"] >= 300).all()


@pytest.mark.parametrize("page", ["probabilities", "evidence_probabilities"])
def test_the_pages_name_the_largest_error(page):
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    counted = pd.read_csv(tables.HERE / "reliability.csv")
    some = counted[counted["group"] == "tables and races"]
    worst = float((some["said"] - some["true"]).abs().max())
    assert re.search(r"is within (\.\d+) of", text)[1] == f"{worst:.3f}"[1:]
