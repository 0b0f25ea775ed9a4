"""Databases of Optuna's studies, which Optuna leaves open."""

from __future__ import annotations

from contextlib import contextmanager

from optuna.storages import RDBStorage


@contextmanager
def databases_closed(monkeypatch):
    """Close the databases of studies that are made here; Python 3.13 warns of open ones."""
    made, begin = [], RDBStorage.__init__

    def begin_and_keep(storage, *args, **kwargs):
        begin(storage, *args, **kwargs)
        made.append(storage)

    monkeypatch.setattr(RDBStorage, "__init__", begin_and_keep)
    yield
    for storage in made:
        storage.remove_session()
        storage.engine.dispose()
