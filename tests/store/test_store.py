"""The file itself: what stands in it, and how it is written."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Event

import pandas as pd
import pytest

import racer
from racer.evaluate.outcome import Cell, Outcome
from racer.store import writer
from racer.store.schema import APPLICATION_ID, SCHEMA, TABLES, OutcomeRow, checksum
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
        ["a", "b"],
        budget=24,
        seed=1,
        store=path,
        limits=racer.Limits(retries=1),
        deterministic=False,
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
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT candidate, value FROM outcomes WHERE block = 0")
        assert [math.copysign(1, value) for _, value in rows] == [1, 1, -1]


def test_the_header_says_what_it_is(path):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert {name for (name,) in tables} == set(TABLES)


def test_a_commit_reaches_the_disk(tmp_path, path):
    with Store(path) as store:
        (level,) = store.reader.connection.execute("PRAGMA synchronous").fetchone()
    assert level == 2  # FULL


def test_checksums_are_as_documented(path):
    with closing(sqlite3.connect(path)) as connection:
        for *row, written in connection.execute("SELECT * FROM outcomes"):
            assert checksum(OutcomeRow(*row)) == written


def test_a_query_that_was_not_read_to_its_end_keeps_no_file_open(path):
    connection = writer.connect(str(path), "rw")
    query = connection.execute("SELECT * FROM outcomes")
    query.fetchone()
    connection.close()  # from Python 3.12 on, SQLite's own would wait for the query
    with closing(sqlite3.connect(path, timeout=0)) as another:
        assert another.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
        another.execute("PRAGMA journal_mode = WAL").fetchone()
    assert query.connection is connection


def test_an_outcome_is_recorded_once(path):
    with Store(path) as store, pytest.raises(racer.StoreError, match="UNIQUE"):
        store.append(Cell(0, 0, None, None, 0), Outcome("ok", 1.0))


def test_an_outcome_alone_is_one_statement_which_waits_for_another_writer(path):
    executed, locked, asked = [], Event(), Event()

    def write_elsewhere():
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            locked.set()
            assert asked.wait(60)
            other.execute("ROLLBACK")

    def tell(statement):
        executed.append(statement.split()[0])
        asked.set()

    with Store(path) as store, ThreadPoolExecutor(1) as pool:
        ended = pool.submit(write_elsewhere)
        assert locked.wait(60)
        store.reader.connection.set_trace_callback(tell)
        store.append(Cell(50, 0, None, None, 0), Outcome("ok", 2.0))
        ended.result(60)
        found = store.reader.connection.execute("SELECT value FROM outcomes WHERE block = 50")
        assert found.fetchall() == [(2.0,)]
    assert executed[:2] == ["INSERT", "SELECT"]


@pytest.mark.parametrize(("seconds", "every"), [(0.5, 2), (0.0, 4)])
def test_the_log_is_emptied_after_so_many_seconds_or_outcomes(path, monkeypatch, seconds, every):
    monkeypatch.setattr(writer, "_IN_THE_LOG", 1.0)
    monkeypatch.setattr(writer, "_MOST_IN_THE_LOG", 4)
    sizes = []
    with Store(path) as store:
        for block in range(50, 62):
            store.append(Cell(block, 0, None, None, 0), Outcome("ok", 1.0, seconds=seconds))
            sizes.append(path.with_name("run.db-wal").stat().st_size)
    assert [not size for size in sizes] == [number % every == 0 for number in range(1, 13)]


def test_a_reader_who_has_gone_delays_the_emptying_of_the_log_by_little(path):
    log, outcome = path.with_name("run.db-wal"), Outcome("ok", 1.0, seconds=2.0)
    with Store(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM outcomes").fetchall()
        store.append(Cell(50, 0, None, None, 0), outcome)
        assert log.stat().st_size
        reader.execute("COMMIT")
        store.append(Cell(51, 0, None, None, 0), outcome)
        assert not log.stat().st_size


def test_a_store_without_a_race_has_nothing_to_say(tmp_path):
    with Store(tmp_path / "new.db") as store:
        assert not store.holds_a_race
        with pytest.raises(racer.StoreError, match="no race in it"):
            store.flush()


def test_a_store_can_be_given_by_path_or_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    racer.race([1, 2], lambda *cell: 0.5, budget=10, store="with space & ?#%.db")
    assert (tmp_path / "with space & ?#%.db").exists()
    assert racer.resume(tmp_path / "with space & ?#%.db", lambda *cell: 0.5).evaluations == 10


def test_there_is_nothing_to_resume_without_a_race(tmp_path):
    missing, empty = tmp_path / "missing.db", tmp_path / "empty.db"
    empty.touch()
    copied = tmp_path / "copied.db"
    with closing(sqlite3.connect(tmp_path / "run.db")) as begun:
        begun.execute("PRAGMA journal_mode = WAL")
        begun.execute("CREATE TABLE settings (name)")
        shutil.copy(tmp_path / "run.db", copied)
    no_log = r"there is no race in it \(.*copy its log, copied.db-wal, too\); racer.race"
    there_is_none = (
        (missing, "no such file"),
        (empty, "there is no race in it;"),
        (copied, no_log),
    )
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
