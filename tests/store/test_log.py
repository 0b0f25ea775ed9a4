"""The write-ahead log of a race that was killed: damage to it is said, before SQLite drops it."""

from __future__ import annotations

import itertools
import os
import shutil
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from typed import typed

import racer
from racer.store.load import check_store
from racer.store.log import damage_to_log
from racer.store.writer import Store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that just ends")

POOL, SETTINGS = list(range(4)), {"budget": 60, "seed": 1, "first_test": 15}
RACE = """
import os, sys
import racer
from racer.store import writer

writer._IN_THE_LOG = float(sys.argv[3])
connect, calls = writer.connect, []

class Small:  # the log is copied by SQLite itself, after 20 pages
    def __init__(self, connection):
        self.connection = connection

    def __getattr__(self, name):
        return getattr(self.connection, name)

    def execute(self, statement, *values):
        if "wal_autocheckpoint" in statement:
            statement = "PRAGMA wal_autocheckpoint = 20"
        return self.connection.execute(statement, *values)

def connected(*args):
    return Small(connect(*args))

if len(sys.argv) > 5:
    writer.connect = connected

def evaluate(config, instance, seed):
    calls.append(config)
    if len(calls) > int(sys.argv[2]):
        os._exit(9)
    return config / 100 + seed % 7

racer.race(range(4), evaluate, budget=int(sys.argv[4]), seed=1, first_test=int(sys.argv[4]) // 4, store=sys.argv[1])
"""
HEADER, FRAME = 32, 24 + 4096


class Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self, config, instance, seed):
        self.calls += 1
        return config / 100 + seed % 7


def kill(path, calls, seconds=1e9, budget=60, more=()):
    arguments = [sys.executable, "-c", RACE, path, str(calls), str(seconds), str(budget), *more]
    assert subprocess.run(arguments, check=False).returncode == 9
    return Path(f"{path}-wal").read_bytes()


@pytest.fixture(name="killed", scope="module")
def _killed(tmp_path_factory):
    """A store whose 41 outcomes stand only in its log."""
    path = tmp_path_factory.mktemp("killed") / "run.db"
    return path, kill(path, 41)


def with_log(killed, folder, log):
    path = folder / "run.db"
    shutil.copyfile(killed[0], path)
    path.with_name("run.db-wal").write_bytes(log)
    return path


def found_by_check(path):
    try:
        return "its log" in check_store(path).problems[0]
    except racer.StoreError as error:  # nothing can be read at all
        return "its log" in str(error)


def flipped(log, place, bit=3):
    damaged = bytearray(log)
    damaged[place] ^= 1 << bit
    return bytes(damaged)


@pytest.mark.filterwarnings("ignore:the race in .* was begun with evaluate:racer.RacerWarning")
def test_a_whole_log_is_read_to_its_end(killed, tmp_path):
    path = with_log(killed, tmp_path, killed[1])
    assert damage_to_log(str(path)) == ""
    evaluate = Counting()
    assert racer.resume(path, evaluate).evaluations == 60
    assert evaluate.calls == 60 - 41


@pytest.mark.thorough
def test_a_flipped_bit_in_the_log_costs_nothing_that_was_recorded_without_a_word(killed, tmp_path):
    log = killed[1]
    n = (len(log) - HEADER) // FRAME
    # in the header, in frames' own headers (page, size, salts, checksum), and in pages
    places = [
        *range(0, HEADER, 3),
        *(HEADER + k * FRAME + j for k in range(0, n, 9) for j in (1, 6, 9, 14, 17, 23)),
    ]
    places += [HEADER + k * FRAME + 24 + 577 * k % 4096 for k in range(0, n, 5)]
    refused = warned = 0
    for place in places:
        path = with_log(killed, tmp_path, flipped(log, place))
        before = path.read_bytes()
        evaluate = Counting()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                racer.race(POOL, evaluate, **SETTINGS, store=path)
            except racer.StoreError as error:
                refused += 1
                assert "its log" in str(error)  # noqa: PT017
                assert path.read_bytes() == before
                assert found_by_check(path)
            else:
                loud = any("the last entry of its log" in str(warning.message) for warning in said)
                assert loud or evaluate.calls == 60 - 41, place
                warned += loud
        for file in tmp_path.glob("run.db*"):
            file.unlink()
    assert refused > 0.9 * len(places)


def test_bytes_that_are_inserted_or_missing_are_seen_in_the_frames_behind_them(killed, tmp_path):
    """SQLite takes none of these, as they do not stand where they should."""
    log = killed[1]
    n = (len(log) - HEADER) // FRAME
    for k, place, size in itertools.product((0, 1, n // 2, n - 2), (0, 9, 30), (-5, 1, 64, 4096)):
        at = HEADER + k * FRAME + place
        middle = bytes(size) if size > 0 else b""
        path = with_log(killed, tmp_path, log[:at] + middle + log[at - min(size, 0) :])
        with pytest.raises(racer.StoreError, match=r"its log .* is damaged, and \d+ entries of it"):
            racer.load(path)


@pytest.mark.filterwarnings("ignore:the race in .* was begun with evaluate:racer.RacerWarning")
def test_damage_to_the_last_entry_is_a_warning(killed, tmp_path):
    """As after a power cut, which may leave half of what was being written."""
    log = killed[1]
    path = with_log(killed, tmp_path, flipped(log, len(log) - 100))
    assert "the last entry of its log" in check_store(path).notes[0]
    evaluate = Counting()
    with pytest.warns(racer.RacerWarning, match="the last entry of its log .* evaluated again"):
        assert racer.resume(path, evaluate).evaluations == 60
    assert evaluate.calls == 60 - 40


@pytest.mark.parametrize("place", [8, 12])
def test_a_damaged_salt_of_the_last_entry_is_seen_by_the_other(killed, tmp_path, place):
    path = with_log(killed, tmp_path, flipped(killed[1], len(killed[1]) - FRAME + place))
    assert "the last entry of its log" in damage_to_log(str(path))


@pytest.mark.filterwarnings("ignore:the race in .* was begun with evaluate:racer.RacerWarning")
@pytest.mark.parametrize("rest", [100, 24, 3000])
def test_an_entry_that_was_not_finished_is_none(killed, tmp_path, rest):
    log = killed[1]
    path = with_log(killed, tmp_path, log + log[-FRAME : -FRAME + rest])
    assert damage_to_log(str(path)) == ""
    assert racer.resume(path, Counting()).evaluations == 60


def test_what_is_left_of_an_earlier_log_is_no_damage(tmp_path):
    """After so many pages SQLite begins the log anew, and leaves the old ones behind the new."""
    path = tmp_path / "run.db"
    log = kill(path, 41, more=["small"])
    salts = {log[at + 8 : at + 16] for at in range(HEADER, len(log) - FRAME + 1, FRAME)}
    assert len(salts) == 2
    assert damage_to_log(str(path)) == ""
    damaged = flipped(log, HEADER + FRAME + 500)
    path.with_name("run.db-wal").write_bytes(damaged)
    with pytest.raises(racer.StoreError, match=r"its log .* is damaged"):
        damage_to_log(str(path))


def test_after_a_second_of_evaluation_the_log_is_emptied(tmp_path):
    log = kill(tmp_path / "run.db", 41, seconds=0.0)
    assert log == b""
    with Store(tmp_path / "run.db") as store:
        assert len(list(store.reader.outcomes())) == 41


def test_a_log_of_zeros_holds_nothing(killed, tmp_path):
    path = with_log(killed, tmp_path, bytes(10_000))
    assert damage_to_log(str(path)) == ""


def test_big_endian_logs_are_read_as_well(tmp_path):
    """The magic's last bit says in which order the checksums take the bytes."""
    from racer.store.log import _checksum

    path = tmp_path / "run.db"
    head = struct.pack(">6I", 0x377F0683, 3007000, 4096, 0, 7, 8)
    state = _checksum(head, ">", (0, 0))
    log = head + struct.pack(">2I", *state)
    page = bytes(range(256)) * 16
    for number in (1, 2):
        first = struct.pack(">2I", number, number)
        state = _checksum(page, ">", _checksum(first, ">", state))
        log += first + struct.pack(">4I", 7, 8, *state) + page
    path.with_name("run.db-wal").write_bytes(log)
    assert damage_to_log(str(path)) == ""
    path.with_name("run.db-wal").write_bytes(flipped(log, HEADER + 40))
    with pytest.raises(racer.StoreError, match="and 2 entries of it"):
        damage_to_log(str(path))


READERS = {
    "load": racer.load,
    "show": ["show"],
    "report": ["report", "-o", "page.html"],
    "export": ["export", "--json"],
    "watch": ["watch", "--once"],
    "check": ["check"],
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_says_that_outcomes_would_be_missing(killed, tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = killed[1]
    path = with_log(killed, tmp_path, flipped(log, len(log) // 2))
    before = path.read_bytes(), path.with_name("run.db-wal").read_bytes()
    if name == "load":
        with pytest.raises(racer.StoreError, match=r"its log .* is damaged, and \d+ entries of it"):
            racer.load(path)
    else:
        command, *options = READERS[name]
        done = typed(command, path, *options)
        assert done.exit_code == 1
        assert "is damaged, and" in " ".join(done.output.split())
        assert name == "check" or done.output.startswith("Error: ")
    assert (path.read_bytes(), path.with_name("run.db-wal").read_bytes()) == before
    assert not (tmp_path / "page.html").exists()


def test_while_somebody_reads_the_log_is_looked_at_ever_more_rarely(tmp_path, monkeypatch):
    """Else a viewer that is left open would make it be read whole every second."""
    import sqlite3

    from racer.store import writer

    looks = []
    monkeypatch.setattr(writer, "_IN_THE_LOG", 0.0)
    monkeypatch.setattr(writer, "damage_to_log", lambda path, *_: looks.append(path) or "")
    path, readers = tmp_path / "run.db", []

    def evaluate(config, instance, seed):
        if path.exists() and not readers:
            readers.append(sqlite3.connect(path, isolation_level=None))
            readers[0].execute("BEGIN")
            readers[0].execute("SELECT count(*) FROM outcomes").fetchall()
        return config + seed % 7

    racer.race(range(4), evaluate, budget=400, seed=1, first_test=100, store=path)
    readers[0].close()
    assert len(looks) < 12
    assert racer.load(path).evaluations == 400
