"""Flipped and cut bytes, wrong files, other schemas: a clear error, and nothing made worse."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from stored import changed, executed

import racer
from racer.store.load import check_store
from racer.store.schema import SCHEMA, VerdictRow, checksum


def try_to_resume(path, stores, recorded):
    """Say whether it was refused; if not, the result must be the right one."""
    before = path.read_bytes()
    try:
        result = racer.resume(path, stores.evaluate)
    except racer.StoreError as error:
        assert str(path) in str(error)  # noqa: PT017
        assert path.read_bytes() == before
        return True
    assert stores.content(result) == recorded.content
    return False


@pytest.mark.thorough
def test_flipped_bits_are_found_or_change_nothing(tmp_path, stores, recorded):
    whole = Path(recorded.path).read_bytes()
    rng, refused = random.Random(1), 0
    used = [place for place, byte in enumerate(whole) if byte]
    path = tmp_path / "flipped.db"
    for _ in range(100):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 1, 3])):
            damaged[rng.choice(used)] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        refused += try_to_resume(path, stores, recorded)
    assert refused > 20


@pytest.mark.parametrize("share", [0.0, 0.001, 0.01, 0.2, 0.5, 0.9, 0.999])
def test_cut_files_are_refused(tmp_path, stores, recorded, share):
    whole = Path(recorded.path).read_bytes()
    path = tmp_path / "cut.db"
    path.write_bytes(whole[: int(share * len(whole))])
    assert try_to_resume(path, stores, recorded)


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"name,cost\n1,2\n",
        b"SQLite format 3\0",
        b"\0" * 5000,
        b"SQLite format 3\0" + b"\1" * 5000,
    ],
    ids=["short", "csv", "header", "zeros", "nonsense"],
)
def test_other_files_are_refused_and_left_alone(tmp_path, stores, content):
    path = tmp_path / "other.db"
    path.write_bytes(content)
    for open_it in (
        lambda: racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=path),
        lambda: racer.resume(path, stores.evaluate),
        lambda: check_store(path),
    ):
        with pytest.raises(racer.StoreError, match=r"other.db"):
            open_it()
        assert path.read_bytes() == content
        assert [file.name for file in tmp_path.iterdir()] == ["other.db"]  # without a lock


def test_a_database_of_something_else_is_left_alone(tmp_path, stores):
    path = tmp_path / "photos.db"
    executed(path, "CREATE TABLE outcomes (picture BLOB)")
    before = path.read_bytes()
    with pytest.raises(racer.StoreError, match="database of something else"):
        racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("schema", [SCHEMA - 1, SCHEMA + 1])
def test_a_store_of_another_schema_is_refused_with_the_way_out(recorded, stores, schema):
    executed(recorded.path, f"PRAGMA user_version = {schema}")
    before = Path(recorded.path).read_bytes()
    for open_it in (
        lambda: racer.resume(recorded.path, stores.evaluate),
        lambda: check_store(recorded.path),
    ):
        with pytest.raises(
            racer.StoreError, match=f"has schema {schema}, .* reads schema {SCHEMA}: install"
        ):
            open_it()
    assert Path(recorded.path).read_bytes() == before


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE outcomes SET value = value + 1 WHERE block = 1 AND candidate = 1",
        "UPDATE outcomes SET status = 'ok', value = 1.0 WHERE status != 'ok'",
        "UPDATE outcomes SET metrics = '{\"x\": 1.0}' WHERE block = 0",
        "UPDATE outcomes SET value = 'text' WHERE block = 0",
        "UPDATE outcomes SET candidate = 77 WHERE block = 2 AND candidate = 0",
        "DELETE FROM outcomes WHERE block = 2 AND candidate = 0",
        "DELETE FROM verdicts WHERE block = 2",
        "UPDATE verdicts SET best = 3 WHERE block = 6",
        "UPDATE verdicts SET dropped = 'x' WHERE block = 6",
        "UPDATE ending SET ended = 'all-equal'",
        "INSERT INTO ending SELECT * FROM ending",
        "UPDATE settings SET value = '8' WHERE name = 'seed'",
        "UPDATE settings SET value = '{' WHERE name = 'decider'",
        "UPDATE settings SET value = x'ff' WHERE name = 'decider'",
        "DELETE FROM settings",
        "UPDATE candidates SET value = '{\"x\": 9}' WHERE candidate = 1",
        "DELETE FROM instances",
        "DROP TABLE verdicts",
        "CREATE TRIGGER t AFTER INSERT ON outcomes BEGIN DELETE FROM verdicts; END",
    ],
)
def test_changed_by_hand(recorded, stores, change):
    executed(recorded.path, change)
    for open_it in (
        lambda: racer.resume(recorded.path, stores.evaluate),
        lambda: racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=recorded.path),
    ):
        with pytest.raises(racer.StoreError, match=r"run.db"):
            open_it()
    assert check_store(recorded.path).problems


SET = "UPDATE settings SET value = ? WHERE name = ?"
DEEP = "[" * 100_000 + "]" * 100_000
DRAWS = '{"!racer": "BayesianFriedman", "fields": {"draws": 1000000000000}}'


@pytest.mark.parametrize(
    "changes",
    [
        [(SET, '{"!numpy": ["int8", 1000]}', "seed")],
        [(SET, DEEP, "decider")],
        [(SET, "[" * 900 + "]" * 900, "decider")],
        [(SET, DRAWS, "decider"), ("DELETE FROM ending",), ("DELETE FROM verdicts",)],
        [(SET, '{"!racer": "FRace", "fields": []}', "decider")],
        [(SET, '{"!racer": "FRace", "fields": {"alpha": 7}}', "decider")],
        [(SET, '{"!float": []}', "budget")],
        [(SET, '"much"', "budget")],
        [(SET, '"x"', "retries")],
        [(SET, "-1", "timeout")],
        [(SET, "[]", "first_test")],
        [("INSERT INTO settings VALUES ('space', '{}')",)],
        [("DELETE FROM settings WHERE name = 'decider'",)],
        [('UPDATE candidates SET value = \'{"!numpy": ["int8", 1000]}\' WHERE candidate = 1',)],
        [("UPDATE candidates SET value = '{\"x\": 0}' WHERE candidate = 1",)],
        [("UPDATE instances SET value = '{\"!tuple\": 3}' WHERE instance = 1",)],
        [('UPDATE instances SET value = \'{"!path": ["Path", 3]}\' WHERE instance = 1',)],
    ],
    ids=lambda changes: " ".join(part[-30:] for part in changes[0]),
)
def test_settings_that_make_no_sense_are_refused_by_all(recorded, stores, changes):
    """With the right checksum: written by a program that was wrong, or by somebody."""
    changed(recorded.path, *changes)
    before = Path(recorded.path).read_bytes()
    assert check_store(recorded.path).problems
    with pytest.raises(racer.RacerError):
        racer.resume(recorded.path, stores.evaluate)
    with pytest.raises(racer.StoreError):
        racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=recorded.path)
    assert Path(recorded.path).read_bytes() == before


@pytest.mark.parametrize("dropped", ["[" * 100_000, '[{"probability": 1' + "0" * 400 + "}]", "[3]"])
def test_verdicts_that_make_no_sense(recorded, stores, dropped):
    """With the right checksum."""
    row = VerdictRow(6, None, dropped)
    changed(recorded.path, ("REPLACE INTO verdicts VALUES (?, ?, ?, ?, ?)", *row, checksum(row)))
    with pytest.raises(racer.StoreError, match="its verdict at block 6 comes out otherwise"):
        racer.resume(recorded.path, stores.evaluate)
    assert check_store(recorded.path).problems


def test_other_words_in_a_table_are_no_damage(recorded, stores):
    """A view and an index of somebody's are not what makes a store."""
    executed(recorded.path, "CREATE VIEW failures AS SELECT * FROM outcomes WHERE status != 'ok'")
    executed(recorded.path, "CREATE INDEX by_status ON outcomes (status)")
    assert check_store(recorded.path).problems == []
    assert stores.content(racer.resume(recorded.path, stores.evaluate)) == recorded.content
