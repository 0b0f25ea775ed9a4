"""Disk full, read-only, I/O error: a clear error with the path, and what is recorded stays."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

import racer
from racer.store.load import check_store

resource = pytest.importorskip("resource")


@contextmanager
def as_nobody():
    """Do without the rights of root, to whom nothing is read-only."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


@pytest.mark.parametrize("protected", ["file", "directory", "both"])
def test_read_only(protected, stores):
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name), Path(name) / "run.db"
        racer.race(stores.POOL, stores.evaluate, **{**stores.SETTINGS, "budget": 24}, store=path)
        before = path.read_bytes()
        folder.chmod(0o777)
        for file in folder.iterdir():
            file.chmod(0o666)
        if protected != "directory":
            path.chmod(0o444)
        if protected != "file":
            folder.chmod(0o555)
        with as_nobody():
            report = check_store(path)
            assert (report.problems, report.statuses.total()) == ([], 24)
            with pytest.raises(racer.StoreError) as caught:
                racer.resume(path, stores.evaluate, budget=100)
        folder.chmod(0o777)
        assert repr(str(path)) in str(caught.value)
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    "name",
    ["", "no/such/folder/run.db", "folder", "folder/", 3, b"run.db", ["run.db"], "a\0b"],
)
def test_where_no_store_can_be(name, tmp_path, stores, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(racer.RacerError, match="give the path of a file"):
        racer.race(stores.POOL, stores.evaluate, **stores.SETTINGS, store=name)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.skipif(sys.platform == "win32", reason="names may be longer there")
@pytest.mark.parametrize("length", [248, 251, 256])
def test_a_name_that_is_too_long_leaves_no_file(tmp_path, length):
    store = tmp_path / ("a" * length)
    with pytest.raises(racer.StoreError, match="too long"):
        racer.race([1, 2], lambda c, *_: c, budget=12, store=store)
    assert not [*tmp_path.iterdir()]
