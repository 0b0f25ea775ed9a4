"""Stores of each schema, cut off half way: read, resumed to the result of an uninterrupted run."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from old_stores import content, evaluate

import racer
from racer.store.check import check_store
from racer.store.schema import SCHEMA

DATA = Path(__file__).resolve().parents[1] / "data"
STORES = sorted(DATA.glob("schema*_*.db"))

pytestmark = pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")


def schema_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_there_are_stores_of_every_schema():
    kept = {int(path.name.split("_")[0].removeprefix("schema")) for path in STORES}
    assert kept == set(range(1, SCHEMA + 1))


@pytest.fixture(name="store", params=STORES, ids=lambda path: path.stem)
def _store(request, tmp_path):
    path = tmp_path / "run.db"
    shutil.copyfile(request.param, path)
    expected = DATA / f"store_{request.param.stem.partition('_')[2]}.json"
    return path, json.loads(expected.read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore:the race in .* was begun by racer:racer.RacerWarning")
def test_it_is_resumed_to_the_result_of_an_uninterrupted_run(store):
    path, expected = store
    before = path.read_bytes()
    assert check_store(path).problems == []
    assert path.read_bytes() == before
    result = racer.resume(path, evaluate)
    assert content(result, path) == expected
    assert schema_of(path) == SCHEMA
    assert check_store(path).problems == []
