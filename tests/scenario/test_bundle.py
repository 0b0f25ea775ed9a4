"""Bundles: what they hold, that they verify elsewhere, and that tampering is noticed."""

import hashlib
import io
import json
import shutil
import sqlite3
import zipfile
from contextlib import closing

import pytest
from kept_stores import KEPT
from typed import typed

import racer
from racer.scenario.bundle import _packed as packed
from racer.store.load import check_store

POOL = [{"x": x} for x in range(6)]
PROGRAM = """
import sys
x, path, seed = sys.argv[1:]
print((float(x) - 2) ** 2 + float(open(path).read()) + int(seed) % 3)
"""


def evaluate(config, instance, seed):
    return (config["x"] - 2) ** 2 + instance + seed % 3


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def resealed(data, statement, folder):
    """Return the bundle with its store changed, and its hashes set right."""
    members, store = members_of(data), folder / "resealed.db"
    store.write_bytes(members["run.db"])
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
        connection.execute(statement)
        connection.commit()
    members["run.db"] = store.read_bytes()
    manifest = json.loads(members["manifest.json"])
    manifest["sha256"]["run.db"] = hashlib.sha256(members["run.db"]).hexdigest()
    return packed(members | {"manifest.json": json.dumps(manifest, indent=1).encode()})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The path of a bundle, its hash, and the result in it."""
    folder = tmp_path_factory.mktemp("bundle")
    store, path = str(folder / "run.db"), folder / "run.zip"
    result = racer.race(POOL, evaluate, [0.5, 2.0], budget=120, seed=1, store=store)
    return path, racer.bundle(store, path), result


def test_a_bundle_verifies(made):
    path, sha256, result = made
    found = racer.verify(path, evaluate, sha256=sha256, again=10, seed=1)
    assert (found.problems, found.again) == ((), 10)
    assert (found.evaluations, found.blocks) == (result.evaluations, len(result.blocks))
    assert str(found).endswith(f"10 cells evaluated anew. SHA-256 {sha256}")
    members = members_of(path.read_bytes())
    assert set(members) == {"run.db", "manifest.json"}
    manifest = json.loads(members["manifest.json"])
    assert manifest["versions"]["racer-tuning"] == racer.__version__
    assert manifest["call"]["seed"] == "1"


def test_cells_that_come_out_otherwise_are_named(made):
    path, _, result = made
    found = racer.verify(path, lambda *cell: evaluate(*cell) + (cell[0]["x"] == 2), again=10**6)
    assert found.again == result.evaluations
    assert len(found.problems) == len(result.known.of(2))
    assert all(problem.startswith("candidate 2 on block ") for problem in found.problems)
    failing = racer.verify(path, lambda *_: 1 / 0, again=1)
    assert "is None now ZeroDivisionError" in failing.problems[0]
    with pytest.raises(racer.SettingError, match="needs the objective of the run"):
        racer.verify(path, again=1)


def test_a_run_that_has_not_ended_is_no_bundle(tmp_path):
    store = str(tmp_path / "run.db")

    def stop(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        racer.race(POOL, evaluate, [1.0], budget=60, seed=1, store=store, callbacks=[stop])
    with pytest.raises(racer.StoreError, match=r"has not come to its end: racer\.resume"):
        racer.bundle(store, tmp_path / "run.zip")


@pytest.mark.parametrize("store", [".", "..", "/", ""])
def test_a_store_without_a_name_is_refused(tmp_path, monkeypatch, store):
    monkeypatch.chdir(tmp_path)
    done = typed("bundle", store, "-o", "run.zip")
    assert done.exit_code == (1 if store else 2)
    assert "store=" in done.output or "store '" in done.output


def test_a_bundle_takes_no_file_for_a_scenario_that_is_none(tmp_path):
    (tmp_path / "notes.txt").write_text("Nothing to be run\n")
    racer.race(POOL, evaluate, [1], budget=60, seed=1, store=tmp_path / "run.db")
    words = ["bundle", "run.db", "-o", "run.zip", "--scenario", "notes.txt"]
    done = typed(*(str(tmp_path / word) if "." in word else word for word in words), exits=1)
    assert "notes.txt, line 1" in done.stderr
    assert not (tmp_path / "run.zip").exists()


@pytest.mark.parametrize("place", range(0, 100, 7))
def test_a_byte_that_was_changed_is_noticed(made, tmp_path, place):
    data = bytearray(made[0].read_bytes())
    data[len(data) * place // 100] ^= 1 << place % 8
    (tmp_path / "run.zip").write_bytes(data)
    assert racer.verify(tmp_path / "run.zip").problems


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE outcomes SET value = value + 1 WHERE candidate = 2",
        "DELETE FROM outcomes WHERE block = 3",
        "UPDATE verdicts SET best = 3",
        "DELETE FROM verdicts",
        "DELETE FROM verdicts WHERE block = (SELECT max(block) FROM verdicts)",
        "DELETE FROM ending",
        "UPDATE settings SET value = '2' WHERE name = 'seed'",
        "UPDATE candidates SET value = '{\"x\": 9}' WHERE candidate = 2",
    ],
)
def test_a_store_that_was_changed_is_noticed(made, tmp_path, statement):
    path, sha256, _ = made
    (tmp_path / "run.zip").write_bytes(resealed(path.read_bytes(), statement, tmp_path))
    assert racer.verify(tmp_path / "run.zip").problems
    (problem,) = racer.verify(tmp_path / "run.zip", sha256=sha256).problems
    assert problem.endswith(f", not {sha256}")


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("DELETE FROM verdicts WHERE block = 5", "no verdict on block 5"),
        ("DELETE FROM candidates WHERE candidate > 3", "no candidate 4"),
    ],
)
def test_what_is_missing_of_a_tuning_that_ended_is_named(path, statement, missing):
    kept = min(KEPT.glob("*/tuning.db"))
    shutil.copyfile(kept, path)
    assert check_store(path).verdicts == 6
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)
    (problem,) = check_store(path).problems
    assert f"it has an ending, but {missing}" in problem
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM ending")
    assert check_store(path).problems == []  # as after a kill; they come when it is resumed


def test_an_ablation_has_no_verdicts_to_count(tmp_path):
    kept = min(KEPT.glob("*/ablation.db"))
    racer.bundle(kept, tmp_path / "run.zip")
    found = racer.verify(tmp_path / "run.zip")
    assert (found.problems, found.blocks) == ((), 0)


def zipped(members, method=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, data in members:
            member = zipfile.ZipInfo(name)  # of a fixed time, as it is part of a test's name
            file.writestr(member, data, compress_type=method)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is no bundle"),
        (b"PK" * 200, "it is no bundle"),
        (zipped([("run.db", b"\0" * 10**7)], zipfile.ZIP_DEFLATED), "compressed"),
        (zipped([("../run.db", b""), ("manifest.json", b"{}")]), "not as racer.bundle wrote it"),
        (zipped([("run.db", b""), ("manifest.json", b"{}")]), "not as racer.bundle wrote it"),
        (zipped((f"{i}", b"") for i in range(1000)), "it is no bundle"),
        (packed({"run.db": b"", "manifest.json": b"[" * 10**5}), "not as racer.bundle wrote it"),
        (packed({"run.db": b"", "manifest.json": b"[]"}), "not as racer.bundle wrote it"),
    ],
)
def test_what_is_no_bundle_is_refused(tmp_path, data, why):
    (tmp_path / "run.zip").write_bytes(data)
    (problem,) = racer.verify(tmp_path / "run.zip").problems
    assert why in problem


def test_a_program_and_its_files_are_known_in_another_clone(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "program.py").write_text(PROGRAM)
        (tmp_path / name / "small.txt").write_text("0.5")
    line = ["python3", "program.py", "{x}", "{instance}", "{seed}"]
    store, path = str(tmp_path / "run.db"), str(tmp_path / "run.zip")
    (tmp_path / "scenario.toml").write_text("budget = 18\n")
    command = racer.Command(line, cwd=tmp_path / "one")
    racer.race(POOL[1:4], command, ["small.txt"], budget=18, seed=1, store=store)
    words = ["bundle", store, "-o", path, "--scenario", str(tmp_path / "scenario.toml")]
    assert typed(*words).exit_code == 0
    members = members_of((tmp_path / "run.zip").read_bytes())
    assert members["scenario.toml"] == b"budget = 18\n"
    assert {"program.py", "small.txt"} <= set(json.loads(members["manifest.json"])["files"])
    moved = racer.Command(line, cwd=tmp_path / "two")
    assert racer.verify(path, moved, again=2, folder=tmp_path / "two").problems == ()
    words = ["verify", path, "--folder", str(tmp_path / "two")]
    assert typed(*words).output.startswith("Verified: ")
    (tmp_path / "two" / "small.txt").write_text("0.7")
    changed = typed(*words, exits=1)
    assert "NOT VERIFIED: small.txt is not the file that was used" in changed.output


def test_files_within_instances_are_known(tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"{number}")
    space = racer.Space({"x": racer.Integer(0, 9)})
    instances = [f"{tmp_path}/0.txt", (1, f"{tmp_path}/1.txt")]
    tests = [tmp_path / "2.txt", {"data": [tmp_path / "3.txt"]}]
    store, path = tmp_path / "run.db", tmp_path / "run.zip"

    def cost(config, instance, seed):
        return config["x"] + seed % 3

    racer.tune(space, cost, instances, budget=40, seed=1, test_instances=tests, store=store)
    racer.bundle(store, path)
    assert racer.verify(path, cost, again=10).problems == ()
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text("9")
    assert racer.verify(path).problems == tuple(
        f"{tmp_path}/{number}.txt is not the file that was used" for number in range(4)
    )


def test_candidates_that_json_cannot_hold_are_not_evaluated_anew(tmp_path):
    store, path = tmp_path / "run.db", tmp_path / "run.zip"
    pool = [object() for _ in range(3)]

    def cost(config, instance, seed):
        return pool.index(config) + seed % 7

    racer.race(pool, cost, budget=20, seed=1, store=store)
    racer.bundle(store, path)
    assert racer.verify(path).problems == ()
    with pytest.raises(racer.StoreError):
        racer.verify(path, cost, again=3)


def test_what_is_no_path_is_refused():
    with pytest.raises(racer.SettingError, match="path="):
        racer.verify(racer)
