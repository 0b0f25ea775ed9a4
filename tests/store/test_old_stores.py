"""Stores of each schema, cut off half way: read, resumed to the result of an uninterrupted run."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from mortal import exit_at
from old_stores import ONLY_READ, content, evaluate, planned, tune
from old_stores import STORES as RUNS

import racer
from racer.deciders import BayesianFriedman, FRace
from racer.store.check import check_store
from racer.store.schema import SCHEMA

DATA = Path(__file__).resolve().parents[1] / "data"
KEPT = sorted(DATA.glob("schema*_*.db"))
STORES = [path for path in KEPT if path.stem.partition("_")[2] not in ONLY_READ]
OF_OLD_TUNERS = [path for path in KEPT if path not in STORES]

pytestmark = pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")


def schema_of(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0]


def test_there_are_stores_of_every_schema():
    for paths, schemas in ((STORES, range(1, SCHEMA + 1)), (OF_OLD_TUNERS, (1, 2))):
        kept = {int(path.name.split("_")[0].removeprefix("schema")) for path in paths}
        assert kept == set(schemas)


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


@pytest.mark.parametrize("name", ["tune3", "planned3", "tune5"])
def test_a_tuning_goes_on_by_its_own_call_as_it_was_begun(tmp_path, name):
    """Its candidates are those of the version that began it, also after its end."""
    path = tmp_path / "run.db"
    shutil.copyfile(DATA / f"schema3_{name}.db", path)
    run, _ = RUNS[name]
    expected = json.loads((DATA / f"store_{name}.json").read_text(encoding="utf-8"))
    assert content(run(store=path), path) == expected
    if name != "planned3":
        more = racer.resume(path, evaluate, budget=300)
        assert more.evaluations > expected["evaluations"]
        assert list(more.configs)[: len(expected["configs"])] == expected["configs"]
        assert content(tune(store=path, budget=[150, 300]), path) == content(more, path)


def test_of_another_space_what_differs_is_named_not_the_version(tmp_path):
    path = tmp_path / "run.db"
    shutil.copyfile(DATA / "schema3_tune3.db", path)
    other = racer.Space({"n": racer.Integer(0, 9)})
    with pytest.raises(racer.StoreError, match="give that, or another store"):
        racer.tune(other, evaluate, ["i", ("j", 1)], budget=150, seed=5, store=path)


@pytest.mark.parametrize("kept", OF_OLD_TUNERS, ids=lambda path: path.stem)
def test_one_of_an_older_tuner_is_read_and_begun_with_but_not_gone_on_with(tmp_path, kept):
    name = kept.stem.partition("_")[2]
    expected = json.loads((DATA / f"store_{name}.json").read_text(encoding="utf-8"))
    path = tmp_path / "run.db"
    shutil.copyfile(kept, path)
    before = path.read_bytes()
    result = racer.load(path)
    assert check_store(path).problems == []
    assert list(result.configs) == expected["configs"][: len(result.configs)]
    assert result.evaluations == len([row for row in outcomes(path) if row[0] >= 0])
    assert result.survivors
    begin = planned if name.startswith("planned") else tune
    for go_on in (
        lambda: racer.resume(path, evaluate),
        lambda: racer.resume(path, evaluate, budget=400),
        lambda: begin(store=path),
    ):
        with pytest.raises(
            racer.StoreError, match=r"begun by racer 0\.1\.0, .*: this version cannot"
        ):
            go_on()
    assert path.read_bytes() == before
    again = tune(initial=str(path), budget=200)
    assert result.configs[result.best_index] in again.configs


@pytest.mark.filterwarnings("ignore:the race in .* was begun by racer:racer.RacerWarning")
def test_killed_while_it_becomes_one_of_the_present_schema_it_loses_nothing(tmp_path):
    """At every statement: it is what it was, or all of the new."""
    expected = json.loads((DATA / "store_race.json").read_text(encoding="utf-8"))
    moment, schemas = 0, []
    while schemas.count(SCHEMA) < 4:
        moment += 1
        path = tmp_path / f"{moment}.db"
        shutil.copyfile(DATA / "schema1_race.db", path)
        before = outcomes(path)
        assert exit_at(moment, lambda path=path: racer.resume(path, evaluate))
        assert before <= outcomes(path)
        schemas.append(schema_of(path))
        if moment % 4 == 0:
            assert content(racer.resume(path, evaluate), path) == expected
    assert schemas == sorted(schemas)
    assert schemas.count(1) > 20


@pytest.mark.filterwarnings("ignore:the race in .* was begun by racer:racer.RacerWarning")
@pytest.mark.parametrize("name", ["race", "bayesian"])
def test_a_decider_named_again_decides_as_it_did_when_the_store_was_begun(tmp_path, name):
    """What a decider's settings were by default is not asked for again; what was given is."""
    path = tmp_path / "run.db"
    shutil.copyfile(DATA / f"schema2_{name}.db", path)
    run, _ = RUNS[name]
    expected = json.loads((DATA / f"store_{name}.json").read_text(encoding="utf-8"))
    kind = FRace if name == "race" else BayesianFriedman
    with pytest.raises(
        racer.StoreError, match=r"decider is .*gate=False.*, but the race in .* has"
    ):
        racer.resume(path, evaluate, decider=kind(gate=False))
    assert content(run(store=path), path) == expected


def outcomes(path):
    with closing(sqlite3.connect(path)) as connection:
        block = "block" if schema_of(path) == 1 else "iif(held_out, -1 - block, block)"
        query = f"SELECT {block}, candidate, status, value, seconds, checksum FROM outcomes"
        return set(connection.execute(query))


@pytest.mark.filterwarnings("ignore:the race in .* was begun by racer:racer.RacerWarning")
def test_a_view_and_an_index_of_somebody_do_not_stand_in_the_way(tmp_path):
    path = tmp_path / "run.db"
    shutil.copyfile(DATA / "schema1_race.db", path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE VIEW failures AS SELECT * FROM outcomes WHERE status != 'ok';"
            "CREATE INDEX by_status ON outcomes (status);"
        )
    expected = json.loads((DATA / "store_race.json").read_text(encoding="utf-8"))
    assert content(racer.resume(path, evaluate), path) == expected
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM failures").fetchone()[0] > 0


def test_damage_is_not_taken_over(tmp_path):
    path = tmp_path / "run.db"
    shutil.copyfile(DATA / "schema1_race.db", path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE outcomes SET value = 7 WHERE block = 1 AND candidate = 1")
        connection.commit()
    before = path.read_bytes()
    with pytest.raises(racer.StoreError, match="candidate 1 on block 1 does not match"):
        racer.resume(path, evaluate)
    assert path.read_bytes() == before
