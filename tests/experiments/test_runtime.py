"""Run times: the tables that the docs show are those of the recorded runs; caps treat all alike."""

import csv
from pathlib import Path

from experiments.runtime import best
from experiments.runtime.caps import HERE, LIMIT, PAST, as_irace, as_racer, drawn, tables
from experiments.runtime.solvers import FILE, table

PAGE = (Path(__file__).parents[2] / "docs" / "evidence_runtime.md").read_text(encoding="utf-8")


def test_the_tables_in_the_docs_are_the_recorded_ones():
    with (HERE / "caps.csv").open(encoding="utf-8") as file:
        rows = [{k: v for k, v in row.items() if v} for row in csv.DictReader(file)]
    tests, races = tables(rows).split("\n\n")
    assert tests in PAGE
    assert table(FILE, "highs", 15.0) in PAGE
    for line in races.splitlines()[2:]:  # told in a sentence
        assert line.split("|")[2].strip() in PAGE


def test_a_cap_of_ours_is_the_same_for_all_and_that_of_irace_is_not():
    times = drawn(3, 0.0)
    costs, used = as_racer(times, 2.0)
    stopped = costs < times[PAST:]
    assert stopped.any()
    for row, is_stopped in zip(costs, stopped, strict=True):
        assert len(set(row[is_stopped])) <= 1
        assert row.max() == row[is_stopped].max(initial=row.max())
    assert (used <= times[PAST:]).all()
    theirs, _ = as_irace(times)
    changed = theirs != times[PAST:]
    assert set(theirs[changed]) == {LIMIT}
    assert not changed[:, :5].any()


def test_a_race_of_run_times_is_judged_by_the_true_par10():
    row = best.raced("8 of different speeds", 1)
    assert row == best.raced("8 of different speeds", 1)
    for rule in ("leader", "seconds", "best"):
        assert (row[f"{rule}_above"] == 0.0) == bool(row[f"{rule}_right"])
    assert row["best_right"]
    par = best.Drawn(best.WORLDS["8 of which some hang"], 1).par()
    assert (par < best.PAR * best.LIMIT).all()
