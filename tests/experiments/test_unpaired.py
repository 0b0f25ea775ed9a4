"""The study of independent samples: it runs, and its page shows what it counted."""

from __future__ import annotations

import csv

import numpy as np
from click.testing import CliRunner

from experiments.unpaired import tables

PAGE = tables.HERE / "README.md"


def rows():
    with (tables.HERE / "unpaired.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_it_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "SHAPES", ((3, 5),))
    done = CliRunner().invoke(tables.main, ["--repetitions", "2", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    written = (tmp_path / "unpaired.csv").read_text(encoding="utf-8").splitlines()
    assert len(written) == 1 + len(tables.WORLDS)


def test_the_worlds_are_what_they_are_called():
    rng = np.random.default_rng(0)
    for name, draw in tables.WORLDS.items():
        samples = draw(rng, 3, 20_000)
        effects = [[np.mean(x[:20_000] < y[:20_000]) for y in samples] for x in samples]
        ties = np.mean(samples[0][:20_000] == samples[1][:20_000])
        expected = np.full((3, 3), (1 - ties) / 2)
        np.fill_diagonal(expected, 0.0)
        if name.startswith("one better"):
            assert effects[0][1] > 0.6 < effects[0][2]
            expected[0], expected[:, 0] = effects[0], np.array(effects)[:, 0]
        assert np.abs(np.array(effects) - expected).max() < 0.02


def test_one_draw_is_counted():
    found = tables.measured("one better", 3, 30, 1)
    assert found.kruskal
    assert found.bayesian
    assert found.right == found.bayesian_right == 1.0
    assert np.isnan(tables.measured("same law", 3, 5, 1).right)


def test_the_page_shows_the_figures():
    page = PAGE.read_text(encoding="utf-8")
    found = rows()
    assert len(found) == len(tables.WORLDS) * len(tables.SHAPES)
    for row in found:
        assert row["repetitions"] == "1000"
        rates = " | ".join(tables.shown(row[name]) for name in tables.Found._fields)
        assert f"| {row['world']} | {row['algorithms']} x {row['scores']} | {rates} |" in page


def test_what_the_pages_say():
    found = {(row["world"], row["algorithms"], row["scores"]): row for row in rows()}
    alike = [row for key, row in found.items() if not key[0].startswith("one better")]
    many = [float(row["bayesian"]) for row in alike if int(row["scores"]) >= 10]
    assert (min(many), max(many)) == (0.027, 0.058)
    uneven = [row for row in alike if row["world"].startswith("unequal spread")]
    few = [float(row["bayesian"]) for row in uneven if row["scores"] == "5"]
    assert (min(few), max(few)) == (0.09, 0.099)
    assert max(float(row["kruskal"]) for row in alike) == 0.148
    better = [r for r in rows() if r["world"].startswith("one better") and r["algorithms"] == "6"]
    wrong = [float(row["bayesian_wrong"]) for row in better]
    assert (min(wrong), max(wrong)) == (0.21, 0.488)
    page = (tables.HERE.parents[1] / "docs" / "unpaired.md").read_text(encoding="utf-8")
    for words, world, classical, bayesian in (
        ("same law: Kruskal\u2013Wallis rejects / Bayesian", "same law", "kruskal", "bayesian"),
        ("unequal spread and sizes", "unequal spread and sizes", "kruskal", "bayesian"),
        ("one better: the true statements that are made", "one better", "right", "bayesian_right"),
        ("one better: any wrong statement on the others", "one better", "wrong", "bayesian_wrong"),
    ):
        cells = (
            " / ".join(tables.shown(found[world, "6", n][way]) for way in (classical, bayesian))
            for n in ("5", "10", "30")
        )
        assert f"| {words} | {' | '.join(cells)} |" in page
