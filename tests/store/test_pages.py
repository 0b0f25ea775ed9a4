"""The pages that a writer knows: at the end the file is compared with them, byte by byte."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import struct
from contextlib import closing

import pytest

import racer
from racer.store.log import Pages
from racer.store.memory import Recorded
from racer.store.reader import Reader, open_to_read
from racer.store.writer import Store

PAGE = 4096


def cost(config, instance, seed):
    return seed * (config + 3) % 11  # noise: all stay


@pytest.fixture(name="row_by_row")
def _row_by_row(monkeypatch):
    """The files whose rows are all checked at the end."""
    seen, check = [], Reader.check_outcomes

    def checked(reader):
        seen.append(reader.path)
        return check(reader)

    monkeypatch.setattr(Reader, "check_outcomes", checked)
    return seen


@pytest.fixture(name="written", scope="module")
def _written(tmp_path_factory):
    path = tmp_path_factory.mktemp("written") / "run.db"
    racer.race(range(5), cost, budget=200, seed=1, first_test=10, store=path)
    return path


@pytest.fixture(name="known")
def _known(tmp_path, written):
    """A store, its outcomes and its pages."""
    path = tmp_path / "run.db"
    shutil.copyfile(written, path)
    recorded = Recorded()
    with open_to_read(str(path)) as reader:
        reader.remember = recorded.add
        assert len(list(reader.outcomes())) == 200
        pages = Pages(reader.connection.serialize())
    return path, recorded, pages


def test_a_run_ends_without_reading_row_by_row(tmp_path, monkeypatch, row_by_row):
    """Begun, killed or not, extended, with a snapshot or without: the writer knows each page."""
    path = tmp_path / "run.db"
    monkeypatch.setattr("racer.store.snapshot.LEAST", 50)
    settings = {"seed": 1, "first_test": 10, "store": path}
    for budget in (100, 150, 200):
        racer.race(range(5), cost, budget=budget, **settings)
        if budget == 150:
            path.with_name("run.db.snapshot").unlink()
    space = racer.Space({"x": racer.Real(0, 1)})
    racer.tune(space, lambda c, i, s: c["x"] + s % 7, [1, 2], budget=100, store=tmp_path / "t.db")
    assert row_by_row == []


def test_after_a_kill_the_log_is_a_part_of_what_is_known(tmp_path, row_by_row):
    path, calls = tmp_path / "run.db", []

    def copied(config, instance, seed):
        calls.append(config)
        if len(calls) == 51:  # as a kill would leave it
            for end in ("", "-wal"):
                shutil.copyfile(f"{path}{end}", f"{path}.killed{end}")
        return cost(config, instance, seed)

    settings = {"budget": 100, "seed": 1, "first_test": 10}
    whole = racer.race(range(5), copied, store=path, **settings)
    again = racer.race(range(5), copied, store=f"{path}.killed", **settings)
    assert len(calls) == 150
    assert again.survivors == whole.survivors
    assert row_by_row == []


@pytest.mark.parametrize("number", [0, 60, 100, 140, 199])
def test_a_byte_that_changed_without_a_trace_is_found_at_the_end(known, number, row_by_row):
    """By the disk, say, which leaves the times of the file as they were."""
    path, recorded, pages = known
    assert recorded.image_in(str(path), pages) == path.read_bytes()
    assert row_by_row == []
    row = list(recorded.rows())[number]
    data = bytearray(path.read_bytes())
    data[data.index(struct.pack(">d", row.seconds)) + 7] ^= 1
    path.write_bytes(data)
    assert recorded.image_in(str(path), pages) is None
    assert not recorded.is_in(str(path))


def test_what_is_no_part_of_a_row_is_looked_at_row_by_row(known, row_by_row):
    path, recorded, pages = known
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 1")  # as it is, but written again
    assert recorded.image_in(str(path), pages) is None
    assert recorded.is_in(str(path))
    assert row_by_row == [str(path)]


def test_pages_as_written_without_an_outcome_are_not_enough(known):
    path, recorded, _ = known
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM outcomes WHERE block = 3 AND candidate = 2")
        pages = Pages(connection.serialize())
    assert recorded.image_in(str(path), pages) is None


def test_pages_of_a_log_count_from_the_commit_of_their_transaction(tmp_path):
    """What was not committed SQLite writes anew."""
    path = tmp_path / "some.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA cache_size = 1")  # so that pages go into the log before that
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [("a" * 3000,)] * 20)
        before = connection.serialize()
        connection.execute("BEGIN")
        connection.execute("UPDATE t SET x = ?", ["b" * 3000])
        log = path.with_name("some.db-wal").read_bytes()
        connection.execute("ROLLBACK")
    from racer.store.log import _look_through

    copy = tmp_path / "copy-wal"
    copy.write_bytes(log)
    numbers = [
        int.from_bytes(log[at : at + 4]) for at in range(32, len(log) - 24 - PAGE + 1, 24 + PAGE)
    ]
    commits = [int.from_bytes(log[at + 4 : at + 8]) for at in range(32, len(log), 24 + PAGE)]
    assert len(list(itertools.takewhile(lambda size: not size, reversed(commits)))) > 10
    assert len(numbers) > len({*numbers})
    pages = Pages()
    with copy.open("rb") as file:
        assert _look_through(file, pages) is None
    assert pages.are_those_of(before)


def test_without_memory_for_an_image_each_row_is_checked(tmp_path, monkeypatch, row_by_row):
    path = tmp_path / "run.db"
    settings = {"seed": 1, "first_test": 10, "store": path}
    racer.race(range(5), cost, budget=100, **settings)
    with Store(path) as store:
        monkeypatch.setattr(
            "racer.store.writer.Pages", lambda _: (_ for _ in ()).throw(MemoryError)
        )
        store.remember()
        store.reader.remember = store._recorded.add
        assert len(list(store.reader.outcomes())) == 100
        store.finish()
    assert row_by_row == [str(path)]
