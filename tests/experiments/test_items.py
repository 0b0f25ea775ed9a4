"""The study of races on items: it runs, and its pages show what it counted."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typed import typed

from experiments.items import tables
from experiments.report import read

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "experiments" / "items"
run = partial(typed, command=tables.main)


def counted(name):
    return read(FOLDER / name)


def percent(text, digits=0):
    return f"{100 * float(text):.{digits}f}"


def test_it_runs_on_simulated_tables(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "M", 4)
    monkeypatch.setattr(tables, "N", 40)
    monkeypatch.setattr(tables, "NULLS", (2,))
    run("--repetitions", 1, "--nulls", 2, "--jobs", 1, exits=0)
    assert (tmp_path / "items.csv").read_text(encoding="utf-8").count("\n") == 1 + 4 * 7
    assert (tmp_path / "nulls.csv").read_text(encoding="utf-8").count("\n") == 2


@pytest.mark.parametrize("kind", ["npz", "csv"])
def test_it_runs_on_a_table_of_ones_own(kind, tmp_path):
    scores = np.random.default_rng(1).random((4, 60)) * np.array([[0.3], [0.5], [1.0], [0.6]])
    path, into = tmp_path / f"table.{kind}", tmp_path / "found.csv"
    if kind == "npz":
        np.savez(path, names=np.array(list("abcd")), score=scores)
    else:
        np.savetxt(path, scores.T, delimiter=",", header="a,b,c,d", comments="")
    given = ["--scores", str(path), "--orders", "2", "--jobs", "1", "--csv", str(into)]
    done = run(*given, exits=0)
    assert "| table | mean | 0 | 0.0000 | 0 | 100 |" in done.output
    assert into.read_text(encoding="utf-8").count("\n") == 8
    run(*given, "--array", "none", exits=2 if kind == "npz" else 0)
    assert "there is no file" in run("--scores", tmp_path / "none.csv", exits=2).output


def test_ucb_e_finds_the_best_within_its_budget():
    scores = (np.random.default_rng(2).random((5, 300)) < [[0.2], [0.3], [0.9], [0.4], [0.5]]) * 1.0
    assert tables.ucb_e(scores, 200, 1.0) == 2
    assert tables.ucb_e(5.0 * scores, 200, 5.0) == 2
    assert tables.ucb_e(scores[:, :10], 1000, 1.0) == 2  # more than there are


def test_the_page_shows_what_was_counted():
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    for row in [*counted("items.csv"), *counted("models.csv")]:
        cells = (percent(row["lost"]), f"{float(row['regret']):.4f}", percent(row["beyond"]))
        more = (percent(row["decided"]), percent(row["calls"], 1))
        assert f"| {' | '.join((row['table'], row['way'], *cells, *more))} |" in lines
    for row in counted("nulls.csv"):
        cells = (percent(row["given"], 1), percent(row["anyone"], 1))
        assert f"| {row['candidates']} | {row['races']} | {' | '.join(cells)} |" in lines


def test_what_the_pages_say_of_it():
    rows = {(r["table"], r["way"]): r for r in [*counted("items.csv"), *counted("models.csv")]}
    names = {table for table, _ in rows}
    assert len(names) == 5
    margin = "mean, margin 2%"
    for table in names:
        for way in ("mean", margin):
            assert float(rows[table, way]["decided"]) == 1.0
            assert float(rows[table, way]["beyond"]) == 0.0
        assert float(rows[table, "mean"]["lost"]) == 0.0
        spent = float(rows[table, "best-for-budget, means"]["regret"])
        assert spent <= float(rows[table, "UCB-E"]["regret"])
        assert spent <= float(rows[table, "the same random items for all"]["regret"])
    for table in ("model_scores", "right or wrong, apart", "grades 1 to 5"):
        assert float(rows[table, "mean"]["calls"]) <= 0.35
    for table in ("right or wrong, close", "right or wrong, equal"):
        anytime = float(rows[table, "anytime"]["calls"])
        assert float(rows[table, margin]["calls"]) <= 0.8 * anytime
    evidence = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    given = " % and ".join(percent(row["given"], 1) for row in counted("nulls.csv"))
    assert f"dropped for being worse in {given} %" in evidence
    for row in counted("nulls.csv"):
        assert int(row["races"]) == 1000
        assert max(float(row["given"]), float(row["anyone"])) <= 0.05
