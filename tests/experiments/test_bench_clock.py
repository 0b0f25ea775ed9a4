"""The study of benchmarks on drifting clocks runs, and its pages show what it counted."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.bench_clock import tables

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "experiments" / "bench_clock" / "README.md"
TUTORIAL = ROOT / "docs" / "tutorial_programs.md"


def rows():
    with (PAGE.parent / "bench.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cells(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]


def test_it_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "CLOCKS", {"bursts": tables.bursts})
    monkeypatch.setattr(tables, "ROUNDS", 30)
    done = CliRunner().invoke(tables.main, ["--repetitions", "1", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "bench.csv").read_text(encoding="utf-8").count("\n") == 21


@pytest.mark.parametrize("clock", tables.CLOCKS)
def test_clocks_are_as_the_page_says(clock):
    logs = tables.CLOCKS[clock](np.random.default_rng(1), 100_000)
    lagged = np.corrcoef(logs[:-50], logs[50:])[0, 1]
    size, tied = {
        "drift": (np.hypot(0.03, 0.01), 0.36 * 0.9),
        "no drift": (0.03, 0.0),
        "heavy tails": (np.sqrt(0.1 * 0.32 - 0.04**2 + 1e-4), 0.0),
        "bursts": (np.hypot(0.3 * np.log(1.3), 0.01), 0.11),
    }[clock]
    assert logs.std() == pytest.approx(size, rel=0.1)
    assert lagged == pytest.approx(tied, abs=0.05)


def test_what_counts_as_false():
    times, logs = np.array([1.0, 1.5]), np.zeros(400)
    assert tables.by_bench(logs, times, 0.0, 1) == (True, False, False, 16)
    logs = np.random.default_rng(1).normal(0.0, 0.001, 400)
    assert tables.by_bench(logs, np.ones(2), 0.02, 1)[:3] == (False, False, True)
    rng = np.random.default_rng(1)
    drift = np.linspace(0.0, 1.0, 400)
    assert tables.by_means(drift, np.ones(2), interleaved=False, rng=rng)[:2] == (True, True)
    assert tables.by_means(drift, np.ones(2), interleaved=True, rng=rng)[0] == False  # noqa: E712


def test_the_pages_show_what_was_counted():
    shown = [tables.shown(row) for row in rows()]
    assert [line for line in cells(PAGE) if len(line) == 7][2:] == shown
    assert len(shown) == 80
    assert {row["benchmarks"] for row in rows()} == {"500"}
    on_drift = {tuple(line[1:3]): line for line in shown if line[0] == "drift"}
    there = [line for line in cells(TUTORIAL) if len(line) == 5][2:]
    assert len(there) == 6
    for programs, way, *figures in there:
        line = on_drift[programs, way]
        assert figures == [line[3], line[4], line[6]]


def test_what_the_pages_say():
    found = {(row["clock"], row["programs"], row["way"]): row for row in rows()}
    assert all(float(row["false"]) <= 0.05 for (*_, way), row in found.items() if "bench" in way)
    for way in tables.WAYS[2:]:
        assert float(found["drift", "5, 5 % apart", way]["found"]) >= 0.95
    assert float(found["drift", "2 equal", tables.WAYS[0]]["false"]) >= 0.47
    assert re.search("AR\\(1\\)", TUTORIAL.read_text(encoding="utf-8"))
