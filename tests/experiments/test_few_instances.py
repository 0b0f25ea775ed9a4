"""The study of few instances with many seeds: it runs, and its page shows what it counted."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import rankdata

from experiments.few_instances import tables

PAGE = Path(__file__).parents[2] / "experiments" / "few_instances" / "README.md"


def rows(name):
    with (PAGE.parent / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "SIZES", ((5, 5, 2), (5, 10, 4)))
    options = ["--repetitions", "3", "--tables", "2", "--jobs", "1"]
    done = CliRunner().invoke(tables.main, options)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "gate.csv").read_text().count("\n") == 1 + 2 * len(tables.WORLDS)
    assert (tmp_path / "probabilities.csv").read_text().count("\n") == 1 + 6 * 7


@pytest.mark.parametrize("n_instances", [5, 10])
def test_candidates_are_equal_on_these_instances(n_instances):
    rng = np.random.default_rng(0)
    own = tables.effects("these, equal ranks", 4, n_instances, rng)
    noise = rng.normal(size=(100_000, n_instances, 4))
    ranks = rankdata(own + noise, axis=2).mean(axis=(0, 1))
    assert np.allclose(ranks, 2.5, atol=0.01)
    assert np.allclose(tables.effects("these, equal means", 4, 5, rng).mean(axis=0), 0.0)
    assert own.std() > 0.5


def test_the_page_shows_what_was_counted():
    text = PAGE.read_text(encoding="utf-8")
    for row in rows("gate.csv"):
        if row["world"] == "these, equal means":
            continue
        shares = " | ".join(row[name] for name in ("blind", "aware", "without"))
        shown = f"| {row['candidates']} | {row['instances']} | {row['seeds']} | {shares} |"
        assert f"| {row['world']} {shown}" in text
    for row in rows("probabilities.csv"):
        if row["interaction"] == "1.0":
            blind, aware = (
                f"{row[f'{who}_said']} → {row[f'{who}_true']} ({row[f'{who}_n']})"
                for who in ("blind", "aware")
            )
            assert (
                f"| {row['question']} | {row['from']} | {row['to']} | {blind} | {aware} |" in text
            )


def test_what_the_pages_say_of_it():
    by_world = {}
    for row in rows("gate.csv"):
        shares = {name: float(row[name]) for name in ("blind", "aware", "without")}
        by_world.setdefault(row["world"], []).append(shares)
    levels = {world: [row["aware"] for row in found] for world, found in by_world.items()}
    assert max(levels["these, equal ranks"]) <= 0.07
    assert max(levels["these, equal means"]) < 0.085
    assert max(levels["like these, equal"]) <= 0.06
    blind = [row["blind"] for row in by_world["like these, equal"]]
    assert (round(min(blind), 2), round(max(blind), 2)) == (0.15, 0.96)
    for row in by_world["these, one 0.3 better"] + by_world["these, one 0.6 better"]:
        assert row["aware"] > max(row["blind"], 0.75 * row["without"])
    hidden = [row for row in by_world["these, one 0.6 better"] if row["blind"] <= 0.08]
    assert len(hidden) == 5
    aware = [row["aware"] for row in hidden]
    assert (round(min(aware), 2), round(max(aware), 2)) == (0.15, 0.27)
