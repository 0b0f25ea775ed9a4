"""The studies of fronts: they run, and their pages show what they counted."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.fronts import chances, tables, tuned, within

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "experiments" / "fronts" / "README.md"


def read(name):
    with (PAGE.parent / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("module", [chances, tables, within], ids=lambda m: m.__name__)
def test_they_run(module, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "HERE", tmp_path)
    if module is tables:
        some = {name: tables.WORLDS[name] for name in ("a tenth fails", "exact prices")}
        monkeypatch.setattr(tables, "WORLDS", some)
    if module is chances:
        monkeypatch.setattr(chances, "SIZES", (8,))
        monkeypatch.setattr(chances, "WORLDS", chances.WORLDS[2:4])  # other units, a trade-off
    if module is within:
        monkeypatch.setattr(within, "TOLERANCES", (0.05,))
    done = CliRunner().invoke(module.main, ["--repetitions", "1", "--jobs", "1"])
    assert done.exit_code == 0, done.output
    assert next(tmp_path.glob("*.csv")).read_text(encoding="utf-8").count("\n") > 4


def test_the_tuning_runs(monkeypatch, tmp_path):
    pytest.importorskip("optuna")
    monkeypatch.setattr(tuned, "HERE", tmp_path)
    monkeypatch.setattr(tuned, "PROBLEMS", {k: tuned.PROBLEMS[k] for k in ("models", "sizes")})
    given = ["--repetitions", "1", "--jobs", "1", "--budgets", "200"]
    done = CliRunner().invoke(tuned.main, given)
    assert done.exit_code == 0, done.output


def test_who_is_sought_and_who_is_dominated():
    wrong = np.array([[0.0, 0.1, 0.3], [0.2, 0.1, 0.3]])
    assert within.sought(wrong, np.array([3.0, 2.0, 1.0]), 0.05) == 1
    assert within.sought(wrong, np.array([3.0, 2.0, 1.0]), 0.25) == 2
    means = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [1.0, 1.0]])
    assert tables.dominated(means).tolist() == [False, False, True, False]


def test_the_page_shows_the_races():
    rows = {(row["world"], row["way"]): row for row in read("fronts.csv")}
    lines = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    shown = [[cell.strip("| ") for cell in line] for line in lines if line[0].startswith("| ")]
    found = 0
    for line in shown:
        if len(line) == 7 and (line[0], line[1]) in rows:
            row = rows[line[0], line[1]]
            for cell, name in zip(
                line[2:], ("lost", "any_lost", "left", "volume", "used"), strict=True
            ):
                value = float(row[name])
                assert cell == (
                    "-" if value != value else f"{100 * value:.1f}".replace("-0.0", "0.0")
                )
            found += 1
    assert found == len(rows) == 78


def test_what_the_page_says_of_racers_deciders():
    rows = [row for row in read("fronts.csv") if row["way"] in ("front", "bayesian-front")]
    assert max(float(row["lost"]) for row in rows) <= 0.05
    assert max(float(row["volume"]) for row in rows) <= 0.01
    of_default = {row["world"]: row for row in rows if row["way"] == "bayesian-front"}
    assert float(of_default["half dominated"]["used"]) <= 0.60
    assert float(of_default["square"]["left"]) <= 0.35


def test_the_page_shows_the_cheapest_and_the_tunings():
    text = PAGE.read_text(encoding="utf-8")
    for row in read("within.csv"):
        right, used = (f"{100 * float(row[name]):.1f}" for name in ("right", "used"))
        assert f"| {float(row['tolerance']):g} | {row['way']} | {right} | {used} |" in text
    table = re.findall(r"^\| (\d+) \| ([\w-]+) \| (.*) \|$", text, re.MULTILINE)
    by_problem: dict[tuple[str, str], list[float]] = {}
    for row in read("tuned.csv"):
        by_problem.setdefault((row["evaluations"], row["problem"]), []).append(
            float(row["hypervolume"])
        )
    assert len(table) == len(by_problem) == 16
    for evaluations, problem, cells in table:
        found = by_problem[evaluations, problem]
        assert cells.split(" | ") == [f"{value / max(found):.2f}" for value in found]
