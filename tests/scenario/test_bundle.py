"""Bundles: what they hold, that they verify elsewhere, and that tampering is noticed."""

import io
import re
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from kept_stores import KEPT

import racer
from experiments.bundles.tampering import resealed
from racer.cli import main
from racer.store.archive import packed, unpacked
from racer.store.load import check_store

POOL = [{"x": x} for x in range(6)]
PROGRAM = """
import sys
x, path, seed = sys.argv[1:]
print((float(x) - 2) ** 2 + float(open(path).read()) + int(seed) % 3)
"""


def objective():
    """Return a function that workers get by value: they do not import this module."""

    def evaluate(config, instance, seed):
        return (config["x"] - 2) ** 2 + instance + seed % 3

    return evaluate


evaluate = objective()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The path of a bundle, its hash, and the result in it."""
    folder = tmp_path_factory.mktemp("bundle")
    store, path = str(folder / "run.db"), folder / "run.zip"
    result = racer.race(POOL, evaluate, [0.5, 2.0], budget=120, seed=1, store=store)
    return path, racer.bundle(store, path), result


def test_a_bundle_verifies(made):
    path, sha256, result = made
    found = racer.verify(path, evaluate, sha256=sha256, again=10, seed=1, n_jobs=2)
    assert found.problems == found.notes == ()
    assert (found.evaluations, found.blocks) == (result.evaluations, len(result.blocks))
    assert (found.again, found.agreeing) == (10, 10)
    assert str(found).endswith(f"10 of 10 cells evaluated anew agree. SHA-256 {sha256}")
    members = unpacked(path.read_bytes())
    assert set(members) == {"run.db", "report.html", "manifest.json"}
    assert members["manifest.json"]["bundle"] == 1  # its format
    assert members["manifest.json"]["versions"]["racer-tuning"] == racer.__version__


def test_cells_that_come_out_otherwise_are_named(made):
    path, _, result = made
    found = racer.verify(path, lambda *cell: evaluate(*cell) + (cell[0]["x"] == 2), again=10**6)
    blocks = len(result.known.of(2))
    assert found.again - found.agreeing == blocks
    assert found.problems[0].startswith("candidate 2 on block 0 is ")
    assert found.problems[-1] == f"{blocks - 5} more cells differ"
    failing = racer.verify(path, lambda *_: 1 / 0, again=1)
    assert "is failed now" in failing.problems[0]


def test_a_run_that_has_not_ended_is_no_bundle(tmp_path):
    store = str(tmp_path / "run.db")

    def stop(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        racer.race(POOL, evaluate, [1.0], budget=60, seed=1, store=store, callbacks=[stop])
    with pytest.raises(
        racer.StoreError, match=r"has not come to its end: go on with racer\.resume"
    ):
        racer.bundle(store, tmp_path / "run.zip")


@pytest.mark.parametrize("store", [".", "..", "/", ""])
def test_a_store_without_a_name_is_refused(tmp_path, monkeypatch, store):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["bundle", store, "-o", "run.zip"])
    assert done.exit_code == (1 if store else 2)
    assert "store=" in done.output or "store '" in done.output


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("notes.txt", "Nothing to be run\n", "notes.txt, line 1"),
        ("notes.toml", "author = 'me'\n", "'author' is no setting"),
        ("none.toml", None, "none.toml cannot be read"),
    ],
)
def test_a_bundle_takes_no_file_for_a_scenario_that_is_none(tmp_path, name, text, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    racer.race(POOL, evaluate, [1], budget=60, seed=1, store=tmp_path / "run.db")
    with pytest.raises(racer.SettingError, match=message):
        racer.bundle(tmp_path / "run.db", tmp_path / "run.zip", scenario=tmp_path / name)
    assert not (tmp_path / "run.zip").exists()


def test_so_does_the_command(tmp_path):
    (tmp_path / "notes.txt").write_text("Nothing to be run\n")
    words = ["bundle", "x.db", "-o", tmp_path / "x.zip", "--scenario", tmp_path / "notes.txt"]
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exit_code == 1
    assert "notes.txt, line 1" in done.stderr


def test_a_scenario_that_is_not_there_is_named(tmp_path):
    words = ["bundle", "x.db", "-o", str(tmp_path / "x.zip"), "--scenario", "nofile"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "'nofile' does not exist" in done.stderr


def test_again_needs_the_objective(made):
    with pytest.raises(racer.SettingError, match="needs the objective of the run"):
        racer.verify(made[0], again=1)


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
    changed = resealed(path.read_bytes(), lambda connection: connection.execute(statement))
    (tmp_path / "run.zip").write_bytes(changed)
    assert racer.verify(tmp_path / "run.zip").problems
    assert racer.verify(tmp_path / "run.zip", sha256=sha256).problems


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("DELETE FROM verdicts WHERE block = 5", "no verdict on block 5"),
        ("DELETE FROM candidates WHERE candidate > 3", "no candidate 4"),
    ],
)
def test_what_is_missing_of_a_tuning_that_ended_is_named(tmp_path, statement, missing):
    kept = min(KEPT.glob("*/tuning.db"))
    path = tmp_path / "run.db"
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
    assert "evaluations; replayed, it comes to the same end. SHA" in str(found)


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
        (b"", "it is not a bundle"),
        (b"PK" * 200, "it is not a bundle"),
        (zipped([("run.db", b"\0" * 10**7)], zipfile.ZIP_DEFLATED), "compressed"),
        (zipped([("../run.db", b""), ("manifest.json", b"{}")]), "not as racer.bundle wrote it"),
        (zipped([("run.db", b""), ("manifest.json", b"{}")]), "not as racer.bundle wrote it"),
        (zipped((f"{i}", b"") for i in range(1000)), "it is not a bundle"),
        (packed({"run.db": b"", "manifest.json": b"[" * 10**5}), "manifest makes no sense"),
        (packed({"run.db": b"", "manifest.json": b"[]"}), "manifest makes no sense"),
    ],
)
def test_what_is_no_bundle_is_refused(tmp_path, data, why):
    (tmp_path / "run.zip").write_bytes(data)
    (problem,) = racer.verify(tmp_path / "run.zip").problems
    assert why in problem


@pytest.fixture
def programs(tmp_path):
    """Two clones with a program and an instance, and a bundle of a run in the first."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "program.py").write_text(PROGRAM)
        (tmp_path / name / "small.txt").write_text("0.5")
    command = racer.Command(
        ["python3", "program.py", "{x}", "{instance}", "{seed}"], cwd=tmp_path / "one"
    )
    store, path = str(tmp_path / "run.db"), str(tmp_path / "run.zip")
    (tmp_path / "scenario.toml").write_text("budget = 18\n")
    racer.race(POOL[1:4], command, ["small.txt"], budget=18, seed=1, store=store)
    assert CliRunner().invoke(main, ["bundle", store, "-o", path]).exit_code == 0
    return path, tmp_path


def test_a_bundle_verifies_in_another_clone_after_asking(programs):
    path, folder = programs
    line = ["verify", path, "--again", "2", "--jobs", "2", "--seed", "1"]
    line += ["--folder", str(folder / "two")]
    assert "scenario.toml" in unpacked((folder / "run.zip").read_bytes())
    asked = CliRunner().invoke(main, line, input="n\n")
    assert asked.exit_code == 1
    assert f"It runs, in {folder}/two:" in asked.output
    assert "Verified" not in asked.output
    done = CliRunner().invoke(main, line, input="y\n")
    assert done.exit_code == 0, done.output
    assert "2 of 2 cells evaluated anew agree" in done.output
    with pytest.raises(racer.SettingError, match="runs the program of the bundle"):
        racer.verify(path, again=1)
    (folder / "two" / "small.txt").write_text("0.7")
    changed = CliRunner().invoke(main, [*line, "--yes"])
    assert changed.exit_code == 1
    assert "NOT VERIFIED: small.txt is not the file that was used" in changed.output
    gone = racer.verify(path, folder=folder / "three")
    assert gone.problems == ()
    assert f"2 of 3 files of the run are not in {folder}/three" in gone.notes


def read(instance):
    """Return the number in the file that an instance names."""
    if isinstance(instance, dict):
        instance = instance["data"][0]
    return float(Path(instance[1] if isinstance(instance, tuple) else instance).read_text())


def test_files_of_instances_are_known_and_found_in_another_clone(tmp_path, monkeypatch):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        for number in range(4):
            (folder / f"{number}.txt").write_text(f"{number}")
    monkeypatch.chdir(one)
    monkeypatch.delattr(racer.TuneResult, "report")  # it takes a second
    space = racer.Space({"x": racer.Integer(0, 9)})
    instances, tests = (
        [f"{one}/0.txt", (1, f"{one}/1.txt")],
        [one / "2.txt", {"data": [one / "3.txt"]}],
    )

    def evaluate(config, instance, seed):
        return config["x"] * (1 + read(instance)) + seed % 3

    store, path = tmp_path / "run.db", tmp_path / "run.zip"
    racer.tune(space, evaluate, instances, budget=40, seed=1, test_instances=tests, store=store)
    racer.bundle(store, path)
    assert len(unpacked(path.read_bytes())["manifest.json"]["files"]) == 4
    for number in range(4):
        (one / f"{number}.txt").unlink()
    found = racer.verify(path, evaluate, again=10**6, folder=two)
    assert found.problems == ()
    assert found.agreeing == found.again > 40
    found = racer.verify(
        path, lambda c, i, s: evaluate(c, i, s) + isinstance(i, dict), again=10**6, folder=two
    )
    held_out = re.compile(r"candidate \d+ on held-out instance 1 is ")
    assert found.problems
    assert all(map(held_out.match, found.problems[:5]))
    for number in range(4):
        (two / f"{number}.txt").write_text("9")
    assert racer.verify(path, folder=two).problems == tuple(
        f"{one}/{number}.txt is not the file that was used" for number in range(4)
    )


@pytest.mark.parametrize("settings", [{"sha256": 5}, {"folder": 5}, {"sha256": b"9f"}])
def test_what_is_no_hash_and_no_folder_is_refused(made, settings):
    (name,) = settings
    with pytest.raises(racer.SettingError, match=f"^{name}=.*: give the"):
        racer.verify(made[0], **settings)


def test_a_store_is_named_as_the_one_of_the_bundle(made, tmp_path):
    def change(connection):
        connection.execute("DELETE FROM verdicts")

    path = tmp_path / "run.zip"
    path.write_bytes(resealed(made[0].read_bytes(), change))
    (problem,) = racer.verify(path).problems
    assert problem.startswith("run.db of the bundle: it has an ending, but")


def test_candidates_that_json_cannot_hold_are_not_evaluated_anew(tmp_path, monkeypatch):
    monkeypatch.delattr(racer.RaceResult, "report")  # it takes a second
    store, path = tmp_path / "run.db", tmp_path / "run.zip"
    pool = [object() for _ in range(3)]

    def evaluate(config, instance, seed):
        return pool.index(config) + seed % 7

    racer.race(pool, evaluate, budget=20, seed=1, store=store)
    racer.bundle(store, path)
    with pytest.raises(racer.StoreError, match=r"^again= is not possible: run\.db of the bundle "):
        racer.verify(path, evaluate, again=3)


def test_wrong_settings_are_refused_where_no_cell_is_evaluated(tmp_path):
    with pytest.raises(racer.SettingError, match="n_jobs=0: give a whole number"):
        racer.verify(tmp_path / "run.zip", n_jobs=0)


def test_what_is_no_path_is_refused():
    result = racer.race(range(3), lambda x, i, seed: x + seed % 7, budget=30, seed=1)
    with pytest.raises(racer.SettingError, match="path="):
        racer.verify(result)
