"""A store that is moved, deleted or replaced while it is written, and a lock that is taken away."""

from __future__ import annotations

import itertools
import re
import shutil
import sys
from pathlib import Path

import pytest
from objectives import Counting

import racer
from racer.evaluate import attempt
from racer.store.load import check_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="open files stay where they are")

POOL, SETTINGS = [0, 1, 2], {"budget": 30, "seed": 1}
CALL = 8


def objective(meanwhile):
    """Return an objective in whose call no. 8 something happens."""
    return Counting(lambda config, instance, seed: config + seed % 7, CALL, meanwhile)


def moved(path):
    path.rename(path.with_name("other.db"))


def deleted(path):
    path.unlink()


def replaced(path):
    new = path.with_name("new.db")
    racer.race(["a", "b"], lambda config, instance, seed: len(config), budget=10, store=new)
    new.rename(path)


def all_of_it_deleted(path):
    for file in path.parent.glob("run.db*"):
        file.unlink()


HOW = [moved, deleted, replaced, all_of_it_deleted]


@pytest.mark.parametrize("how", HOW, ids=lambda how: how.__name__)
def test_it_is_noticed_and_what_was_recorded_is_saved(tmp_path, stores, how):
    path = tmp_path / "run.db"
    plain = racer.race(POOL, objective(list), **SETTINGS)
    with pytest.raises(racer.StoreError) as caught:
        racer.race(POOL, objective(lambda: how(path)), **SETTINGS, store=path)
    assert f"store {str(path)!r}: " in str(caught.value)
    saved = Path(re.search(r"racer\.resume\('([^']*)', evaluate\)", str(caught.value))[1])
    assert saved.name == "run.db.saved"
    known = {row[:12] for row in stores.rows(saved)}
    assert CALL <= len(known) <= plain.evaluations
    assert check_store(saved).problems == []
    assert stores.content(racer.resume(saved, objective(list))) == stores.content(plain)
    assert known <= {row[:12] for row in stores.rows(saved)}
    if how is replaced:  # the other race is whole
        assert check_store(path).problems == []
        assert len(stores.rows(path)) == 10
        assert len(racer.load(path).configs) == 2


@pytest.mark.parametrize("replace", [False, True])
def test_without_its_lock_a_writer_stops(tmp_path, stores, replace):
    """Else a second one could begin beside it."""
    path = tmp_path / "run.db"
    lock = path.with_name("run.db.lock")
    results = []

    def meanwhile():
        lock.unlink()
        if replace:
            results.append(racer.race(POOL, objective(list), **SETTINGS, store=path))

    with pytest.raises(
        racer.StoreError, match=r"its lock .* was removed .*go on with racer\.resume"
    ):
        racer.race(POOL, objective(meanwhile), **SETTINGS, store=path)
    plain = racer.race(POOL, objective(list), **SETTINGS)
    if replace:
        assert len(stores.rows(path)) == plain.evaluations
    else:  # said at the next commit
        assert len(stores.rows(path)) < plain.evaluations
    results.append(racer.race(POOL, objective(list), **SETTINGS, store=path))
    assert all(stores.content(result) == stores.content(plain) for result in results)
    assert check_store(path).problems == []


def test_a_saved_copy_that_is_there_is_not_overwritten(tmp_path):
    path, first = tmp_path / "run.db", tmp_path / "run.db.saved"
    first.write_text("mine")
    with pytest.raises(racer.StoreError, match=r"run\.db\.saved1'"):
        racer.race(POOL, objective(lambda: deleted(path)), **SETTINGS, store=path)
    assert first.read_text() == "mine"


def test_where_there_is_no_room_for_a_copy_it_says_so(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()

    def meanwhile():
        folder.rename(tmp_path / "elsewhere")

    with pytest.raises(
        racer.StoreError, match=r"was moved, .* in that file only, of which no copy"
    ):
        racer.race(POOL, objective(meanwhile), **SETTINGS, store=folder / "run.db")
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "copy")
    assert check_store(tmp_path / "copy" / "run.db").problems == []


def test_of_slow_evaluations_it_is_noticed_at_once(tmp_path, stores, monkeypatch):
    monkeypatch.setattr(attempt, "_clock", itertools.count().__next__)  # each takes a second
    path = tmp_path / "run.db"
    evaluate = Counting(lambda c, *_: c, 2, lambda: path.rename(tmp_path / "other.db"))
    with pytest.raises(racer.StoreError, match="was moved"):
        racer.race(POOL, evaluate, **SETTINGS, store=path)
    assert len(stores.rows(tmp_path / "other.db")) == 1
    assert len(stores.rows(tmp_path / "run.db.saved")) == len(evaluate.calls) == 2


def test_between_opening_and_the_first_outcome_it_is_noticed_as_well(tmp_path, stores):
    path = tmp_path / "run.db"
    evaluate = Counting(
        lambda c, i, seed: seed // (c + 2) % 7, 16, lambda: path.rename(tmp_path / "other.db")
    )
    racer.race(POOL, evaluate, **{**SETTINGS, "budget": 15}, store=path)
    known = len(stores.rows(path))
    with pytest.raises(racer.StoreError, match="was moved"):
        racer.resume(path, evaluate, budget=30)
    assert len(stores.rows(tmp_path / "run.db.saved")) > known
