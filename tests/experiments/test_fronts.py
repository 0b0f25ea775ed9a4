"""The studies of fronts: they run, and their page shows what they counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from experiments.fronts import chances, tables
from experiments.report import cell_of, read

FOLDER = Path(__file__).parents[2] / "experiments" / "fronts"


@pytest.mark.parametrize("module", [chances, tables], ids=lambda m: m.__name__)
def test_they_run(module, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "HERE", tmp_path)
    if module is tables:
        some = {name: tables.WORLDS[name] for name in ("a tenth fails", "exact prices")}
        monkeypatch.setattr(tables, "WORLDS", some)
    else:
        monkeypatch.setattr(chances, "SIZES", (8,))
    given = ["--repetitions", "1", "--jobs", "1"]
    CliRunner().invoke(module.main, given, catch_exceptions=False)
    assert next(tmp_path.glob("*.csv")).read_text(encoding="utf-8").count("\n") > 4


def test_who_is_dominated():
    means = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 2.0], [1.0, 1.0]])
    assert tables.dominated(means).tolist() == [False, False, True, False]


def test_the_page_shows_the_races():
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    rows = read(FOLDER / "fronts.csv")
    assert len(rows) == len(tables.WORLDS) * len(tables.WAYS)
    for row in rows:
        cells = (cell_of(row, column) for column in tables.COLUMNS.values())
        assert f"| {' | '.join(cells)} |" in lines


def test_what_the_page_says_of_racers_deciders():
    rows = [row for row in read(FOLDER / "fronts.csv") if row["way"].endswith("front")]
    assert max(float(row["lost"]) for row in rows) <= 0.05
    assert max(float(row["volume"]) for row in rows) <= 0.01
    of_default = {row["world"]: row for row in rows if row["way"] == "bayesian-front"}
    assert float(of_default["half dominated"]["used"]) <= 0.60
    assert float(of_default["square"]["left"]) <= 0.35
