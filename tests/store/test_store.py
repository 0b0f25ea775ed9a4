"""The file itself: what stands in it, and how it is written."""

from __future__ import annotations

import itertools
import json
import math
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pandas as pd
import pytest
from stored import executed

import racer
from racer.evaluate.outcome import Cell, Outcome
from racer.store import writer
from racer.store.schema import APPLICATION_ID, SCHEMA, TABLES, checksum
from racer.store.writer import Store


def evaluate(config, instance, seed):
    if config == 2 and instance == "b":
        raise ValueError("cold \0 \udcff")
    return -0.0 if config == 3 else config / 3


@pytest.fixture(name="path")
def _path(tmp_path):
    path = tmp_path / "run.db"
    racer.race(
        [1, 2, 3],
        evaluate,
        racer.Instances(["a", "b"], deterministic=False),
        budget=24,
        seed=1,
        store=path,
        limits=racer.Limits(retries=1),
    )
    return path


def test_it_can_be_read_with_pandas(path):
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        frame = pd.read_sql("SELECT * FROM outcomes", connection)
        settings = pd.read_sql("SELECT * FROM settings", connection, index_col="name")["value"]
    scores = frame.pivot_table(index="block", columns="candidate", values="value", dropna=False)
    assert scores.loc[0].tolist() == [1 / 3, 2 / 3, 0.0]
    failed = frame[frame["status"] == "failed"].iloc[0]
    assert (failed["block"], failed["candidate"], failed["attempts"]) == (1, 1, 2)
    assert "cold \0 \\udcff" in failed["message"]
    assert math.isnan(failed["value"])
    assert frame["worker"].str.fullmatch(r".+:\d+").all()
    assert json.loads(settings["seed"]) == 1


def test_a_value_comes_back_to_the_last_bit(path):
    rows = executed(path, "SELECT value FROM outcomes WHERE block = 0 ORDER BY candidate")
    assert [math.copysign(1, value) for (value,) in rows] == [1, 1, -1]


def test_the_header_says_what_it_is(path):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert {name for (name,) in tables} == set(TABLES)


def test_a_commit_reaches_the_disk(tmp_path, path):
    with Store(path) as store:
        (level,) = store._connection.execute("PRAGMA synchronous").fetchone()
    assert level == 3  # EXTRA


def test_checksums_are_as_documented(path):
    with closing(sqlite3.connect(path)) as connection:
        before = 0
        rows = connection.execute("SELECT * FROM outcomes ORDER BY number").fetchall()
        for *row, _, written in rows:
            before = checksum(row, before)
            assert before == written
        assert connection.execute("SELECT outcomes, checksum FROM recorded").fetchall() == [
            (len(rows), before)
        ]


def test_an_outcome_is_recorded_once(path):
    with Store(path) as store:
        store.append(Cell(0, 0, None, None, 0), Outcome("ok", 1.0))
    with pytest.raises(racer.StoreError, match="candidate 0 on block 0 is in it twice"):
        racer.load(path)


@pytest.mark.parametrize("begin", ["BEGIN IMMEDIATE", "BEGIN; SELECT * FROM outcomes"])
def test_a_commit_waits_for_another_writer_and_for_a_read(path, begin):
    locked, asked = Event(), Event()

    def write_elsewhere():
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            for statement in begin.split(";"):
                other.execute(statement).fetchone()
            locked.set()
            assert asked.wait(60)
            other.execute("ROLLBACK")

    with Store(path) as store, ThreadPoolExecutor(1) as pool:
        ended = pool.submit(write_elsewhere)
        assert locked.wait(60)
        store._connection.set_trace_callback(lambda _: asked.set())
        store.append(Cell(50, 0, None, None, 0), Outcome("ok", 2.0, seconds=1.0))
        ended.result(60)
        found = store._connection.execute("SELECT value FROM outcomes WHERE block = 50")
        assert found.fetchall() == [(2.0,)]


@pytest.mark.parametrize(
    ("seconds", "step", "written"),
    [(0.0, 0.0, [1, 1, 1, 1, 1, 1]), (0.0, 0.008, [1, 1, 1, 4, 4, 4]), (0.02, 0.0, [*range(1, 7)])],
)
def test_outcomes_that_come_within_20_ms_share_a_commit(path, monkeypatch, seconds, step, written):
    """By the clock, and by the seconds of their evaluations; the end of a run writes them all."""
    ticks = itertools.count(100)
    monkeypatch.setattr(writer, "_clock", lambda: next(ticks) * step)
    monkeypatch.setattr(writer, "_TOGETHER", 0.02)
    found = []

    def n_known():
        return len(rows_of(path)) - before

    before = len(rows_of(path))
    with Store(path) as store:
        store.append(Cell(50, 0, None, None, 0), Outcome("ok", 1.0, seconds=1.0))
        for block in range(51, 57):
            found.append(n_known())
            store.append(Cell(block, 0, None, None, 0), Outcome("ok", 1.0, seconds=seconds))
    assert found == written
    assert n_known() == 7


def rows_of(path):
    return executed(path, "SELECT * FROM outcomes")


def test_a_store_can_be_given_by_path_or_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    racer.race([1, 2], lambda *cell: 0.5, budget=10, store="with space & ?#%.db")
    assert (tmp_path / "with space & ?#%.db").exists()
    assert racer.resume(tmp_path / "with space & ?#%.db", lambda *cell: 0.5).evaluations == 10


def test_there_is_nothing_to_resume_without_a_race(tmp_path):
    missing, empty = tmp_path / "missing.db", tmp_path / "empty.db"
    empty.touch()
    there_is_none = ((missing, "no such file"), (empty, "there is no race in it;"))
    for path, why in there_is_none:
        with pytest.raises(racer.StoreError, match=why):
            racer.resume(path, pytest.fail)
    assert not missing.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a working directory cannot be deleted there")
def test_a_working_directory_that_has_been_deleted_is_named(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(
        racer.StoreError, match=r"store 'run.db': .*No such file or directory: see that"
    ):
        Store("run.db")
