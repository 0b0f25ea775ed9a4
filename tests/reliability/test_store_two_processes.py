"""One writer: whoever comes second is refused at once, with the reason; readers are not."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
from processes import TOOLS

import racer
from racer.store import reader, writer
from racer.store.schema import APPLICATION_ID, SCHEMA

STARTER = """
import pathlib, sys
import racer
from processes import wait_for

store, marks, number = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]

def evaluate(config, instance, seed):
    assert wait_for(lambda: len(list(marks.glob("refused*"))) == 3)
    return config

try:
    result = racer.race([1, 2, 3], evaluate, budget=60, seed=1, store=store)
except racer.StoreError as error:
    (marks / f"refused{number}").write_text(str(error))
    sys.exit(7)
print(result.best)
"""


@pytest.mark.thorough
def test_of_four_starters_one_wins(tmp_path):
    script, marks, path = tmp_path / "starter.py", tmp_path / "marks", tmp_path / "run.db"
    script.write_text(STARTER, encoding="utf-8")
    marks.mkdir()
    starters = [
        subprocess.Popen(
            [sys.executable, script, path, marks, str(n)],
            stdout=subprocess.PIPE,
            text=True,
            env=TOOLS,
        )
        for n in range(4)
    ]
    said = [starter.communicate(timeout=120)[0].strip() for starter in starters]
    assert sorted(starter.returncode for starter in starters) == [0] + [7] * 3
    assert sorted(said) == [""] * 3 + ["1"]
    for refusal in marks.iterdir():
        message = refusal.read_text()
        assert f"store {str(path)!r} is in use: another process" in message


@pytest.mark.parametrize("name", ["run.db", "link.db"])
def test_a_second_race_in_the_same_process_is_refused_without_a_wait(
    tmp_path, stores, monkeypatch, name
):
    path = tmp_path / "run.db"
    (tmp_path / "link.db").symlink_to(path)
    waits, refusals = [], []

    def evaluate(config, instance, seed):
        with monkeypatch.context() as patched:
            patched.setattr(time, "sleep", waits.append)  # as filelock does between two tries
            with pytest.raises(racer.StoreError, match="in use") as caught:
                racer.resume(tmp_path / name, stores.evaluate)
        refusals.append(str(caught.value))
        return config

    racer.race([1, 2], evaluate, budget=10, seed=1, store=path)
    assert len(refusals) == 10
    assert waits == []


@pytest.mark.skipif(sys.platform != "linux", reason="only there /proc takes no file")
def test_a_folder_that_takes_no_file_is_named_and_not_called_in_use(stores):
    with pytest.raises(
        racer.StoreError, match=r"no file can be made in '/proc' \(No such"
    ) as caught:
        racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store="/proc/race.db")
    assert "in use" not in str(caught.value)


def test_a_race_begun_while_another_process_looks_at_its_file_is_no_foreign_database(
    tmp_path, stores, monkeypatch
):
    path, template = tmp_path / "run.db", tmp_path / "template.db"
    racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=template)
    with closing(sqlite3.connect(path, isolation_level=None)) as creator:
        creator.execute("PRAGMA journal_mode = WAL")
        creator.execute("PRAGMA user_version = 0")  # a database without a table, and its log
        schema = sqlite3.connect(template)
        tables = [sql for (sql,) in schema.execute("SELECT sql FROM sqlite_master WHERE sql > ''")]
        schema.close()

        def begin(statement):
            if "user_version" in statement and tables:
                creator.execute("BEGIN IMMEDIATE")
                creator.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                creator.execute(f"PRAGMA user_version = {SCHEMA}")
                while tables:
                    creator.execute(tables.pop())
                creator.execute("COMMIT")

        def connect(*given, _connect=reader.connect):
            connection = _connect(*given)
            connection.set_trace_callback(begin)
            return connection

        monkeypatch.setattr(reader, "connect", connect)
        assert not reader.look_at(str(path))  # as it was when the look began
        assert not tables
        assert reader.look_at(str(path))


def test_readers_neither_block_nor_are_blocked(tmp_path, stores):
    from racer.store.load import check_store

    path = tmp_path / "run.db"
    reports = []

    def evaluate(config, instance, seed):
        if path.exists():
            reports.append(check_store(path))
        return config

    plain = racer.race([1, 2], evaluate, budget=20, seed=1)
    reports.clear()
    result = racer.race([1, 2], evaluate, budget=20, seed=1, store=path)
    assert stores.content(result) == stores.content(plain)
    assert [report.evaluations for report in reports] == list(range(result.evaluations))
    assert not [report.problems for report in reports if report.problems]


def test_a_reader_in_the_middle_of_reading_blocks_nothing(tmp_path, stores, monkeypatch):
    monkeypatch.setattr(writer, "_IN_THE_LOG", 0.0)  # nor the copying of the log, tried each time
    monkeypatch.setattr(writer, "PATIENCE", 600)  # more than a test may take
    path = tmp_path / "run.db"
    racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=path)
    with closing(sqlite3.connect(path)) as other:
        cursor = other.execute("SELECT * FROM outcomes")
        cursor.fetchone()
        result = racer.resume(path, stores.evaluate, budget=200)
    assert result.evaluations > 60 or result.ended == "decided"


def test_the_lock_goes_with_its_holder_although_a_fork_outlives_it(tmp_path, stores):
    path = tmp_path / "run.db"
    script = f"""
import os, signal, sys, racer
def evaluate(config, instance, seed):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, b".")  # it runs, and has let go of what a fork has to let go of
        signal.pause()
    os.read(read, 1)
    print("forked", flush=True)
    os._exit(5)
sys.stdout.flush()
racer.race([1, 2], evaluate, budget=10, seed=1, store={str(path)!r})
"""
    done = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True
    )
    try:
        assert done.stdout.readline() == b"forked\n"
        assert done.wait(60) == 5
        assert (tmp_path / "run.db.lock").exists()
        with pytest.warns(racer.RacerWarning, match="begun with evaluate="):
            assert racer.resume(path, stores.Numbers()).evaluations == 10
    finally:
        os.killpg(done.pid, signal.SIGKILL)
        done.stdout.close()


def test_refused_before_anything_runs_a_race_leaves_no_lock_behind(tmp_path):
    path = tmp_path / "run.db"
    for _ in range(2):
        with pytest.raises(racer.BudgetError):
            racer.race([1, 2], lambda *cell: 0.0, budget=1, store=path)
    assert not path.exists()
