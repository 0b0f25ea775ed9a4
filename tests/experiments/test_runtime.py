"""Run times: the tables that the docs show are those of the recorded runs; caps treat all alike."""

import csv
from pathlib import Path

from experiments.runtime.caps import HERE, LIMIT, PAST, as_irace, as_racer, drawn, tables

PAGE = (Path(__file__).parents[2] / "docs" / "evidence_runtime.md").read_text(encoding="utf-8")


def test_what_the_page_says_of_races_with_caps_is_recorded():
    """Its tables: see test_page_tables.py."""
    with (HERE / "caps.csv").open(encoding="utf-8") as file:
        rows = [{k: v for k, v in row.items() if v} for row in csv.DictReader(file)]
    for line in tables(rows).split("\n\n")[1].splitlines()[2:]:
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
