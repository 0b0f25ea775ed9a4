"""`racer check`, as typed."""

from functools import partial

import pytest
from stored import changed
from typed import typed

import racer


def evaluate(config, instance, seed):
    if config["x"] == 2 and instance == 1:
        raise ValueError("cold")
    return config["x"] + seed % 7


@pytest.fixture(name="path")
def _path(tmp_path):
    path = tmp_path / "run.db"
    pool = [{"x": x} for x in range(3)]
    racer.race(pool, evaluate, [1, 2], budget=40, seed=1, decider="f-race", store=path)
    return path


check = partial(typed, "check")


def test_a_sound_store(path):
    before = path.read_bytes()
    done = check(path, exits=0)
    for line in [
        r"evaluations    15 (12 ok, 3 failed)",
        r"first failure  ValueError: cold (in",
        r"best           #0",
        r"evaluate_source ",
        r"seed           1",
        r"ended          decided",
        f"go on with     racer.resume({str(path)!r}, evaluate)",
        f"{path} is sound.",
    ]:
        assert line in done.output
    assert path.read_bytes() == before
    assert {file.name for file in path.parent.iterdir()} == {"run.db", "run.db.lock"}


def test_a_store_that_is_not_sound(path):
    changed(path, ("UPDATE outcomes SET value = 7.0 WHERE block = 2 AND candidate = 1",))
    done = check(path, exits=1)
    assert "NOT SOUND" in done.output
    assert "candidate 1 on block 2 does not match its checksum" in done.output
    assert "is sound" not in done.output
    assert "go on with" not in done.output


@pytest.mark.parametrize("content", [None, b"", b"hello", b"\0" * 9999, "folder"])
def test_what_is_no_store(tmp_path, content):
    path = tmp_path / "other.db"
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    done = check(path, exits=1)
    assert done.output.startswith(f"Error: store '{path}': ")
    assert "Traceback" not in done.output
    assert ("this is a directory; give" in done.output) == (content == "folder")
    assert len(list(tmp_path.iterdir())) == (content is not None)


@pytest.mark.filterwarnings("ignore:block .* is set aside:racer.RacerWarning")
def test_where_all_failed_there_is_nothing_to_go_on_with(tmp_path):
    def broken(config, instance, seed):
        if config == 1:
            raise ValueError("no solver, either")  # another line: else the race would be stopped
        raise ValueError("no solver")

    path = tmp_path / "run.db"
    racer.race(range(3), broken, budget=40, seed=1, store=path)
    done = check(path)
    shown = " ".join(done.output.split())
    assert "first failure ValueError: no solver (in broken, " in shown
    assert "go on with a new store, once evaluate is mended" in shown
