"""The study of the hierarchical model of folds."""

import csv

from click.testing import CliRunner

from experiments.hierarchical import tables


def read(path):
    with path.open(encoding="utf-8") as file:
        return {row["world"]: row for row in csv.DictReader(file)}


def test_a_small_study_writes_all_worlds(tmp_path, monkeypatch):
    name = "equal on average"
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "WORLDS", {name: tables.WORLDS[name]})
    found = CliRunner().invoke(tables.main, ["--repetitions", "2", "--jobs", "1"])
    assert found.exit_code == 0, found.output
    row = read(tmp_path / "hierarchical.csv")[name]
    assert float(row["claimed"]) in {0.0, 0.5, 1.0}
    assert 0.5 < float(row["covered_each"]) <= 1.0
    assert 0.0 < float(row["error"]) < float(row["error_of_mean"])
