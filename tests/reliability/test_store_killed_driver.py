"""kill -9 of the process that drives the race, at any moment: resume, and nothing is lost."""

from __future__ import annotations

import os

import pytest
from mortal import exit_at

import racer

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@pytest.mark.thorough
def test_killed_at_every_statement_and_again_while_resuming(folder, stores):
    settings = {**stores.SETTINGS, "budget": 6, "first_test": 2}  # two verdicts
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
