"""kill -9 of the process that drives the race, at any moment: resume, and nothing is lost."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from mortal import exit_at

import racer

STUDY = Path(__file__).resolve().parents[2] / "scripts" / "study.py"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@pytest.mark.slow
def test_killed_at_random_moments_and_resumed_the_result_is_the_same():
    """With workers; without any, it dies at every statement in the next test."""
    done = subprocess.run(
        [
            *(sys.executable, STUDY, "stress", "--races", "2", "--kills", "1"),
            *("--jobs", "2", "--seed", "3"),
            *("--budget", "60", "--milliseconds", "10"),  # as long as 150 of 4, with fewer forks
            *("--patience", "20"),  # a second, unless other work takes it
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    races, _, kills, identical = map(int, re.findall(r"\d+", done.stdout.splitlines()[-1])[1:])
    assert (races, identical) == (2, 2)  # one of costs, one of run times with a limit
    assert kills > 0


@pytest.mark.slow
def test_killed_at_every_statement_and_again_while_resuming(folder, stores):
    settings = {**stores.SETTINGS, "budget": 8, "first_test": 2}  # three verdicts
    pool = stores.POOL[:2]
    plain = stores.content(racer.race(pool, stores.evaluate, **settings))
    moment, died = 0, True
    while died:
        moment += 1
        path = folder / f"{moment}.db"

        def run(path=path):
            racer.race(pool, stores.evaluate, **settings, store=path)

        died = exit_at(moment, run)
        exit_at(moment % 13 + 1, run)
        before = {row[:8] for row in stores.rows(path)} if has_rows(path) else set()
        resumed = racer.race(pool, stores.evaluate, **settings, store=path)
        assert stores.content(resumed) == plain, moment
        assert before <= {row[:8] for row in stores.rows(path)}
    assert moment > 8 * 3


def has_rows(path):
    import sqlite3
    from contextlib import closing

    if not path.exists():
        return False
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master").fetchall()
    return ("outcomes",) in found
